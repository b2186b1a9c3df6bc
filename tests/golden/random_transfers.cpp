// Random copies, reshapes and LRN layers through the whole machine, each in a process of its own: every byte must be where it belongs,
// no other one touched, the traffic what was planned, and time the same without values.
//
// usage: random_laws transfers KIND FIRST COUNT [stepping]      KIND: bdma, rubik, lrn_int8, lrn_int16 or lrn_fp16
//
// Prints one line a failure, with the descriptor; exits 1 if there is one. With `stepping` each runs twice, skipping and with
// every unit evaluated in every cycle, and all figures must be equal.
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>

#include "apart.h"
#include "config/layer/transfer_reader.h"
#include "config/machine/memory.h"
#include "facts/presets.h"
#include "random_laws.h"
#include "random_transfer.h"
#include "registers/interrupts.h"
#include "simulated.h"

namespace dlasim {
namespace random_transfers_law {

std::string describe(std::uint64_t seed, const RandomTransfer& r)
{
    return fmt::format("seed {} --hw {} --memory {} {}", seed, r.hardware->name, memory_text(r.memory), transfer_json(r.transfer).dump());
}

bool descriptor_reads_back(const Transfer& transfer)
{
    const std::string text = transfer_json(transfer).dump();
    const std::string again = transfer_json(transfer_from_json(parse_json(text, "transfer.json"), "transfer.json", "", "")).dump();
    if (text != again) fmt::print("descriptor\n{}\nreads back as\n{}\n", text, again);
    return text == again;
}

/// The launches end in their order, each with its group's interrupt; nothing else ends.
bool all_done(const TransferPlan& plan, const RunResult& run)
{
    const std::size_t expected = plan.launches.empty() ? 1 : plan.launches.size();
    if (run.done.size() != expected) return false;
    for (std::size_t i = 0; i < plan.launches.size(); ++i)
        if (run.done[i].bits != reg::glb::kBdma.bit(plan.launches[i].group)) return false;
    return true;
}

/// Every byte once. The reads of planes and atoms that begin inside a beat cost Rubik a beat more.
bool traffic_as_planned(const Transfer& transfer, const TransferPlan& plan, const RunResult& run)
{
    const auto equal = [&](const PortTraffic& port, const PortBeats& beats) {
        if (transfer.copy()) return port.read_beats == beats.reads && port.write_beats == beats.writes;
        return port.read_beats >= beats.reads && port.write_beats >= beats.writes && (beats.reads != 0 || port.read_beats == 0);
    };
    return equal(run.dbb, plan.dbb) && equal(run.cvsram, plan.cvsram) && run.dbb.write_bytes + run.cvsram.write_bytes == plan.bytes;
}

/// The figures that do not depend on values: some counters of the array do.
std::string ends_and_traffic(const RunResult& run)
{
    const std::string text = figures(run);
    return text.substr(0, text.find(" | " + run.units.front().name));
}

/// 0: verified. The figures of the run go to `report`.
int run_one(std::uint64_t seed, const RandomTransfer& r, bool stepping, int report)
{
    if (!descriptor_reads_back(r.transfer)) return 1;
    const Hardware& hardware = *r.hardware;
    const TransferPlan plan = plan_transfer(r.transfer, hardware);
    const Job job = transfer_job(r.transfer, hardware, r.memory);
    std::string timing_only;
    if (!stepping && seed % 4 == 0)
        timing_only = run_apart("without values", [&](int pipe) {
            const Simulation s = simulated(job, {.timing_only = true});
            return !s.run.hung && put(pipe, ends_and_traffic(s.run)) ? 0 : 1;
        });
    const Simulation s = simulated(job, {.stepping = stepping});
    if (!put(report, figures(s.run))) return 1;
    if (s.run.hung) {
        fmt::print("HANG {}\n{}\n", describe(seed, r), s.run.diagnosis);
        std::fflush(stdout);
        return 1;
    }
    std::string wrong;
    if (!s.comparison->equal())
        wrong +=
            fmt::format("WRONG {} of {} bytes differ; {} ", s.comparison->mismatches, s.comparison->compared, s.comparison->examples[0]);
    if (!all_done(plan, s.run)) wrong += "DONE ";
    if (!traffic_as_planned(r.transfer, plan, s.run)) wrong += "TRAFFIC ";
    if (!wrong.empty()) fmt::print("{}{}\n", wrong, figures(s.run));
    const std::int64_t cycles = s.run.done.empty() ? 0 : s.run.done.back().cycle;
    if (plan.settled && !every_cycle_has_an_owner(s.run, cycles)) wrong += "CYCLES ";
    if (largest(job.bounds) > static_cast<std::uint64_t>(cycles)) wrong += "BOUND ";
    if (!timing_only.empty() && timing_only != ends_and_traffic(s.run)) wrong += "TIMING-ONLY " + timing_only;
    if (!wrong.empty()) fmt::print("{} {} cycles {}\n", wrong, cycles, describe(seed, r));
    else if (std::getenv("DLASIM_VERBOSE")) fmt::print("ok {} cycles {}\n", cycles, describe(seed, r));
    std::fflush(stdout);
    return wrong.empty() ? 0 : 1;
}

}  // namespace random_transfers_law

int random_transfers(int argc, char** argv)
{
    using namespace random_transfers_law;
    const std::uint64_t first = std::strtoull(argv[2], nullptr, 10), count = std::strtoull(argv[3], nullptr, 10);
    std::uint64_t failed = 0;
    for (std::uint64_t seed = first; seed < first + count; ++seed) {
        const RandomTransfer r = TransferMaker(seed, argv[1]).make();
        const auto run = [&](bool stepping) {
            return run_apart(describe(seed, r), [&](int report) { return run_one(seed, r, stepping, report); });
        };
        const std::string skipping = run(false);
        bool good = !skipping.empty();
        if (argc > 4 && good) {
            const std::string stepping = run(true);
            good = stepping == skipping;
            if (!good) fmt::print("STEPPING {}\n  skipping  {}  stepping {}", describe(seed, r), skipping, stepping);
        }
        failed += !good;
    }
    fmt::print("{} transfers, {} verified, {} not\n", count, count - failed, failed);
    return failed == 0 ? 0 : 1;
}

}  // namespace dlasim
