#include "facts/causes.h"

#include <algorithm>
#include <map>

namespace dlasim {
namespace {

struct NamedCause {
    Cause cause;
    CauseName name;
};

constexpr std::array<NamedCause, kCauses> kNamedCauses{{
    {Cause::Computing, {"array", "computing", false, "the array takes an operation"}},
    {Cause::WeightLoad,
     {"array", "weight_load", false, "weights of the next stripe are loaded into the array, which has nothing else to do"}},
    {Cause::WeightsLate, {"array_idle", "weights", false, "weights are fetched, and CDMA sets the pace"}},
    {Cause::DataLate, {"array_idle", "data", false, "input is fetched or converted, and CDMA sets the pace"}},
    {Cause::BufferFull, {"array_idle", "buffer_full", false, "the convolution buffer is full, and nobody makes room"}},
    {Cause::AccumulatorFull,
     {"array_idle", "accumulator_full", false, "results leave CACC at its own pace, and there is no room for more"}},
    {Cause::SdpPace, {"sdp", "pace", false, "SDP takes results no faster"}},
    {Cause::OperandLate, {"sdp", "operand_late", false, "SDP waits for an operand that its read engine has fetched and not yet unpacked"}},
    {Cause::PdpPace, {"pdp", "pace", false, "PDP pools no faster"}},
    {Cause::CdpPace, {"cdp", "pace", false, "CDP normalises no faster"}},
    {Cause::BdmaPace, {"bdma", "pace", false, "BDMA copies no faster"}},
    {Cause::RubikPace, {"rubik", "pace", false, "Rubik reshapes no faster"}},
    {Cause::StartUp,
     {"start_up", "begin", false, "a unit begins its layer: from the register that starts it to its first request or stripe"}},
    {Cause::BankChange, {"start_up", "bank_change", false, "CDMA and CSC agree on a new partition of the buffer"}},
    {Cause::Pipeline, {"start_up", "pipeline", false, "on the way through the array or to the sequencer, with nothing behind"}},
    {Cause::Drain, {"end", "drain", false, "the last results are on their way through a unit"}},
    {Cause::WriteBack, {"end", "write_back", true, "the memory has not answered the last write"}},
    {Cause::Programming, {"software", "programming", false, "registers are written"}},
    {Cause::Interrupt, {"software", "interrupt", false, "from a unit's end to the pin, and what software does about it"}},
    {Cause::Polling, {"software", "polling", false, "software reads registers"}},
    {Cause::Latency, {"memory", "latency", true, "a command is in the memory, which would take more of them"}},
    {Cause::Bandwidth, {"memory", "bandwidth", true, "the port moves data or takes commands for the same client"}},
    {Cause::Arbitration, {"memory", "arbitration", true, "the port or the interface serves this other client first"}},
    {Cause::Credits, {"memory", "credits", true, "a request waits until what was read before has been used, or for CFG_OUTSTANDING_CNT"}},
    {Cause::Requests, {"memory", "requests", true, "the client asks for no more at a time"}},
    {Cause::Interface, {"memory", "interface", true, "on the way through the stages of MCIF or CVIF"}},
    {Cause::DramQueue, {"memory", "dram_queue", true, "the controller of the DRAM serves other requests first, or its queue is full"}},
    {Cause::DramData, {"memory", "dram_bandwidth", true, "the data bus of the DRAM moves data of other requests"}},
    {Cause::DramRow, {"memory", "dram_row", true, "a row of the DRAM is closed and another one opened"}},
    {Cause::DramGroup, {"memory", "dram_group", true, "commands to one bank group keep their distance"}},
    {Cause::DramTurn, {"memory", "dram_turn", true, "the data bus of the DRAM turns between reads and writes, or ranks"}},
    {Cause::DramRefresh, {"memory", "dram_refresh", true, "the DRAM refreshes"}},
    {Cause::DramPower, {"memory", "dram_power", true, "the DRAM wakes from power-down"}},
}};

constexpr bool causes_in_order()
{
    for (std::size_t i = 0; i < kNamedCauses.size(); ++i)
        if (static_cast<std::size_t>(kNamedCauses[i].cause) != i) return false;
    return true;
}
static_assert(causes_in_order());

}  // namespace

const CauseName& name_of(Cause cause) { return kNamedCauses[static_cast<std::size_t>(cause)].name; }

const char* client_of(ExactCause cause) { return cause.client < kClients ? kClientNames[cause.client] : "-"; }

std::string path_of(ExactCause cause)
{
    const CauseName& name = name_of(cause.cause);
    std::string path(name.group);
    path += '/';
    path += name.name;
    if (cause.client < kClients) (path += '/') += kClientNames[cause.client];
    return path;
}

void CauseSlice::add(ExactCause cause, Cycle cycles)
{
    for (CauseCycles& there : spent)
        if (there.cause == cause) {
            there.cycles += cycles;
            return;
        }
    spent.push_back({cause, cycles});
}

Causes Causes::after(Cycle t0, Cycle done) const
{
    Causes left;
    for (const CauseSlice& slice : slices) {
        if (slice.end <= t0) continue;
        const Cycle end = std::min(slice.end, done), begin = left.slices.empty() ? t0 : left.slices.back().end + t0;
        CauseSlice& part = left.slices.emplace_back();
        part.end = end - t0;
        Cycle skip = sum_of(slice.spent) - std::min(sum_of(slice.spent), end - begin);
        for (const CauseCycles& spent : slice.spent) {
            const Cycle skipped = std::min(skip, spent.cycles);
            skip -= skipped;
            if (skipped != spent.cycles) part.spent.push_back({spent.cause, spent.cycles - skipped});
        }
        if (end == done) break;
    }
    return left;
}

std::vector<CauseCycles> Causes::between(Cycle from, Cycle to) const
{
    std::map<ExactCause, Cycle> sums;
    Cycle begin = 0;
    for (const CauseSlice& slice : slices) {
        Cycle done = begin;
        for (const CauseCycles& spent : slice.spent) {
            const Cycle first = std::max(done, from), last = std::min(done + spent.cycles, to);
            if (last > first) sums[spent.cause] += last - first;
            done += spent.cycles;
        }
        begin = slice.end;
    }
    std::vector<CauseCycles> all;
    all.reserve(sums.size());
    for (const auto& [cause, cycles] : sums) all.push_back({cause, cycles});
    return all;
}

Cycle sum_of(const std::vector<CauseCycles>& causes)
{
    Cycle sum = 0;
    for (const CauseCycles& spent : causes) sum += spent.cycles;
    return sum;
}

}  // namespace dlasim
