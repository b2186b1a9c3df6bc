// Random layers through the whole machine, each in a process of its own, compared with the golden
// convolution; compressed ones and some others must have the same figures without values, but for those that count values.
//
// usage: random_laws layers KIND FIRST COUNT [stepping | causes]
//
// Prints one line a failure, with the descriptor; exits 1 if there is one. With `stepping` every layer
// runs twice, skipping and with every unit evaluated in every cycle, and all figures must be equal. With `causes` whenever these are
// summed up they must be the same.
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "apart.h"
#include "config/layer/layer_reader.h"
#include "config/machine/hardware.h"
#include "config/machine/memory.h"
#include "random_laws.h"
#include "random_layer.h"
#include "simulated.h"

namespace dlasim {
namespace random_layers_law {

std::string describe(std::uint64_t seed, const RandomLayer& r)
{
    return fmt::format("seed {} --hw {} --memory {} {}", seed, hardware_json(r.hardware).dump(), memory_text(r.memory),
                       layer_json(r.layer).dump());
}

/// All figures but the counters of units that count what values are like.
std::string figures_of_time(RunResult run)
{
    for (UnitReport& unit : run.units)
        if (unit.name == "cacc" || unit.name == "sdp" || unit.name == "pdp" || unit.name == "cdp") unit.counters = {};
    return figures(run);
}

/// Of the same layer without values, simulated by a process of its own; empty if that fails.
std::string figures_without_values(const Job& job)
{
    return run_apart("without values", [&](int pipe) {
        const Simulation s = simulated(job, {.timing_only = true});
        return !s.run.hung && put(pipe, figures_of_time(s.run)) ? 0 : 1;
    });
}

/// What is no number, here and there.
void put_nan(LayerTensors& tensors, std::uint64_t seed)
{
    std::mt19937 random(static_cast<std::uint32_t>(seed));
    for (Tensor* tensor : {&tensors.input, &tensors.weights})
        for (std::int16_t& value : tensor->values)
            if (random() % 97 == 0) value = static_cast<std::int16_t>(0x7c01 + random() % 1023 + (random() & 1) * 0x8000);
}

/// The descriptor in result.json is the layer.
bool descriptor_reads_back(const Layer& layer)
{
    const std::string text = layer_json(layer).dump();
    const std::string again = layer_json(layer_from_json(parse_json(text, "layer.json"), "layer.json", "", "")).dump();
    if (text != again) fmt::print("descriptor\n{}\nreads back as\n{}\n", text, again);
    return text == again;
}

/// What moves is no less than the bounds of it say.
bool traffic_holds(const Job& job)
{
    if (!job.text.plan.contains("traffic")) return true;
    const OrderedJson& traffic = job.text.plan["traffic"];
    const auto bytes = [&](const char* key) { return traffic[key].get<std::uint64_t>(); };
    return bytes("moved") >= bytes("compulsory") && bytes("moved") >= bytes("communication");
}

/// 0: verified. The figures of the run go to `report`.
int run_one(std::uint64_t seed, const RandomLayer& r, const SimulateOptions& how, int report)
{
    if (!descriptor_reads_back(r.layer)) return 1;
    LayerTensors tensors = load_tensors(r.layer);
    if (r.layer.name == "convert" && r.layer.stored_precision() == Precision::Fp16) put_nan(tensors, seed);
    // An input compared with itself is equal; all others are not.
    const PointEngine& ew = r.layer.post.ew();
    const bool with_itself = r.layer.op == Op::Sdp && r.layer.post.compares() && !r.layer.post.engines[0].on() &&
                             !r.layer.post.engines[1].on() && ew.alu.per == OperandPer::Element && !ew.alu.conversion.on &&
                             ew.operand_bytes == 2;
    if (with_itself) tensors.operands[operand_slot(2, false)] = tensors.input;
    const Job job = layer_job(r.layer, r.hardware, r.memory, std::move(tensors));
    // Compressed: what the masks say decides about time.
    const bool timed = !how.stepping && how.sum_up_every == 0 && (r.layer.compressed || seed % 8 == 0);
    const std::string timing_only = timed ? figures_without_values(job) : "";
    const Simulation s = simulated(job, how);
    if (!put(report, figures(s.run))) return 1;
    if (s.run.hung) fmt::print("HANG {}\n{}\n", describe(seed, r), s.run.diagnosis);
    else if (!s.comparison->equal())
        fmt::print("WRONG {}\n  {} of {} differ; {}\n", describe(seed, r), s.comparison->mismatches, s.comparison->compared,
                   s.comparison->examples[0]);
    else if (std::getenv("DLASIM_VERBOSE")) fmt::print("ok {} cycles {}\n", s.run.interrupt_cycles.back(), describe(seed, r));
    const bool accounted = s.run.hung || every_cycle_has_an_owner(s.run, s.run.interrupt_cycles.back());
    const std::uint64_t bound = largest(job.bounds);
    const bool bounded = s.run.hung || bound <= static_cast<std::uint64_t>(s.run.interrupt_cycles.back());
    if (!bounded) fmt::print("BOUND of {} above {} cycles {}\n", bound, s.run.interrupt_cycles.back(), describe(seed, r));
    const bool moves = traffic_holds(job);
    if (!moves) fmt::print("TRAFFIC below a bound {}\n", describe(seed, r));
    if (!accounted) fmt::print("CYCLES {}\n", describe(seed, r));
    const bool same_time = !timed || s.run.hung || timing_only == figures_of_time(s.run);
    if (!same_time) fmt::print("TIMING-ONLY {}\n  without {}  with {}", describe(seed, r), timing_only, figures_of_time(s.run));
    std::fflush(stdout);
    return s.comparison && s.comparison->equal() && accounted && bounded && moves && same_time ? 0 : 1;
}

}  // namespace random_layers_law

int random_layers(int argc, char** argv)
{
    using namespace random_layers_law;
    const std::uint64_t first = std::strtoull(argv[2], nullptr, 10), count = std::strtoull(argv[3], nullptr, 10);
    const bool twice = argc > 4;
    std::uint64_t failed = 0;
    for (std::uint64_t seed = first; seed < first + count; ++seed) {
        const RandomLayer r = LayerMaker(seed, argv[1]).make();
        const auto run = [&](const SimulateOptions& how) {
            return run_apart(describe(seed, r), [&](int report) { return run_one(seed, r, how, report); });
        };
        if (argc > 4 && std::string_view(argv[4]) == "causes") {
            failed += !same_causes(describe(seed, r), [&](Cycle every) { return run({.timing_only = false, .sum_up_every = every}); });
            continue;
        }
        const std::string skipping = run({});
        bool good = !skipping.empty();
        if (twice && good) {
            const std::string stepping = run({.stepping = true});
            good = stepping == skipping;
            if (!good) fmt::print("STEPPING {}\n  skipping  {}  stepping {}", describe(seed, r), skipping, stepping);
        }
        failed += !good;
    }
    fmt::print("{} layers, {} verified, {} not\n", count, count - failed, failed);
    return failed == 0 ? 0 : 1;
}

}  // namespace dlasim
