// Random layers on random machines, behind the ideal memory or random DRAMs, as a user would write them: each is verified, within its
// bounds, or refused with a rule before it runs. Anything else is a failure: a hang, a wrong value, a cycle below a bound, an exception,
// a crash, more than two minutes.
//
// usage: random_laws points machines|dram FIRST COUNT
//
// Prints one line a failure, with the descriptor, and the counts; DLASIM_VERBOSE=1 prints the refusals too.
#include "random_points.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdio>
#include <cstdlib>

#include "apart.h"
#include "base/error.h"
#include "config/layer/layer_reader.h"
#include "config/machine/memory.h"
#include "random_laws.h"
#include "random_layer.h"
#include "simulated.h"

namespace dlasim {
namespace random_points_law {

/// "verified", "refused: why", or what went wrong.
std::string outcome(std::uint64_t seed, bool dram, std::string& description)
{
    LayerMaker layers(seed, dram ? "dram" : "machines");
    PointMaker points(layers.random());
    for (;;) {
        const std::string preset = points.preset();
        const std::vector<std::string> settings = dram ? std::vector<std::string>{} : points.machine(preset);
        const std::string memory_option = dram ? points.dram() : "ideal";
        description = fmt::format("--hw {} --set {} --memory {}", preset, fmt::join(settings, " --set "), memory_option);
        try {
            RandomLayer r{{}, load_hardware(preset, settings), parse_memory(memory_option)};
            if (!dram) {
                r.memory.read_latency = 1 + static_cast<std::uint32_t>(layers.random()() % 120);
                r.memory.beat_interval = 1 + static_cast<std::uint32_t>(layers.random()() % 3);
            }
            if (!layers.attempt(r)) continue;
            const std::string text = layer_json(r.layer).dump();
            description += " " + memory_text(r.memory) + " " + text;
            const Layer layer = layer_from_json(parse_json(text, "layer.json"), "layer.json", "", "");
            const Job job = job_of(layer, r.hardware, r.memory);
            const Simulation s = simulated(job, {.timing_only = false, .check_dram = dram});
            if (s.run.hung) return "HANG " + s.run.diagnosis;
            if (!s.run.dbb_memory.violations.empty()) return "DRAM " + s.run.dbb_memory.violations.front();
            if (!s.comparison->equal()) return fmt::format("WRONG {} of {}", s.comparison->mismatches, s.comparison->compared);
            for (const Bound& bound : job.bounds)
                if (bound.cycles > static_cast<std::uint64_t>(s.run.interrupt_cycles.back()))
                    return fmt::format("BOUND {} of {} above {} cycles", bound.name(), bound.cycles, s.run.interrupt_cycles.back());
            return "verified";
        } catch (const ConfigError& refusal) {
            return std::string("refused: ") + refusal.what();
        } catch (const std::exception& error) {
            return std::string("EXCEPTION ") + error.what();
        }
    }
}

}  // namespace random_points_law

int random_points(int, char** argv)
{
    using namespace random_points_law;
    const bool dram = std::string(argv[1]) == "dram";
    const std::uint64_t first = std::strtoull(argv[2], nullptr, 10), count = std::strtoull(argv[3], nullptr, 10);
    std::uint64_t verified = 0, refused = 0;
    for (std::uint64_t seed = first; seed < first + count; ++seed) {
        const std::string said = run_apart(fmt::format("seed {}", seed), [&](int report) {
            ::alarm(120);
            std::string description;
            const std::string result = outcome(seed, dram, description);
            return put(report, result.starts_with("verified") || result.starts_with("refused: ") ? result : result + "\n    " + description)
                       ? 0
                       : 1;
        });
        verified += said == "verified";
        refused += said.starts_with("refused: ");
        if (said != "verified" && (!said.starts_with("refused: ") || std::getenv("DLASIM_VERBOSE")))
            fmt::print("seed {}: {}\n", seed, said);
        std::fflush(stdout);
    }
    fmt::print("{} points, {} verified, {} refused, {} failed\n", count, verified, refused, count - verified - refused);
    // Were most refused, little would have been tried.
    return verified + refused == count && 3 * verified >= count ? 0 : 1;
}

}  // namespace dlasim
