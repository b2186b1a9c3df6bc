// Random layers through the whole machine, each in a process of its own, compared with the golden
// convolution.
//
// usage: random_layers KIND FIRST COUNT     prints one line a failure, with the descriptor; exits 1 if there is one
#include <cstdio>
#include <cstdlib>
#include <fmt/format.h>
#include <sys/wait.h>
#include <systemc>
#include <unistd.h>

#include "app/simulate.h"
#include "config/hardware.h"
#include "config/layer_reader.h"
#include "config/memory.h"
#include "random_layer.h"
#include "report/bounds.h"

namespace {

using namespace dlasim;

std::string describe(std::uint64_t seed, const RandomLayer& r)
{
    return fmt::format("seed {} --hw {} --memory {} {}", seed, hardware_json(r.hardware).dump(), memory_text(r.memory), layer_json(r.layer).dump());
}

/// Outside of t0 to the done interrupt every unit is gated, and its phases sum to all cycles.
bool every_cycle_has_an_owner(const RunResult& run)
{
    for (const UnitReport& unit : run.units) {
        Cycle sum = 0;
        for (std::size_t p = 0; p < kPhases; ++p) sum += unit.phases.cycles(static_cast<Phase>(p));
        const Cycle outside = sum - static_cast<Cycle>(run.interrupt_cycles.back());
        if (sum < run.end || unit.phases.cycles(Phase::Gated) < outside) {
            fmt::print("{}: {} cycles of {}, gated {}, outside {}\n", unit.name, sum, run.end, unit.phases.cycles(Phase::Gated), outside);
            return false;
        }
    }
    return true;
}

/// 0: verified.
int run_one(std::uint64_t seed, const RandomLayer& r)
{
    const LayerTensors tensors = load_tensors(r.layer);
    const Plan plan = plan_layer(r.layer, r.hardware, tensors);
    const Simulation s = simulate(r.layer, r.hardware, r.memory, tensors, plan, {false, false, nullptr});
    if (s.run.hung) fmt::print("HANG {}\n{}\n", describe(seed, r), s.run.diagnosis);
    else if (!s.comparison->equal()) fmt::print("WRONG {}\n  {} of {} differ; {}\n", describe(seed, r), s.comparison->mismatches, s.comparison->compared, s.comparison->examples[0]);
    else if (std::getenv("DLASIM_VERBOSE")) fmt::print("ok {} cycles {}\n", s.run.interrupt_cycles.back(), describe(seed, r));
    const bool accounted = s.run.hung || every_cycle_has_an_owner(s.run);
    const std::uint64_t bound = largest(lower_bounds(plan, r.layer, r.hardware, r.memory));
    const bool bounded = s.run.hung || bound <= static_cast<std::uint64_t>(s.run.interrupt_cycles.back());
    if (!bounded) fmt::print("BOUND of {} above {} cycles {}\n", bound, s.run.interrupt_cycles.back(), describe(seed, r));
    if (!accounted) fmt::print("CYCLES {}\n", describe(seed, r));
    std::fflush(stdout);
    return s.comparison && s.comparison->equal() && accounted && bounded ? 0 : 1;
}

}  // namespace

int sc_main(int, char**) { return 0; }

int main(int argc, char** argv)
{
    if (argc != 4) {
        std::fputs("usage: random_layers KIND FIRST COUNT\n", stderr);
        return 2;
    }
    const std::uint64_t first = std::strtoull(argv[2], nullptr, 10), count = std::strtoull(argv[3], nullptr, 10);
    std::uint64_t failed = 0;
    for (std::uint64_t seed = first; seed < first + count; ++seed) {
        const RandomLayer r = LayerMaker(seed, argv[1]).make();
        std::fflush(stdout);
        const pid_t child = ::fork();
        if (child == 0) ::_exit(run_one(seed, r));
        int status = 0;
        ::waitpid(child, &status, 0);
        if (!WIFEXITED(status)) fmt::print("CRASH signal {} {}\n", WTERMSIG(status), describe(seed, r));
        failed += !WIFEXITED(status) || WEXITSTATUS(status) != 0;
    }
    fmt::print("{} layers, {} verified, {} not\n", count, count - failed, failed);
    return failed == 0 ? 0 : 1;
}
