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
    {Cause::Computing, {"array", "computing", false, "the array starts an operation"}},
    {Cause::WeightLoad, {"array", "weight_load", false, "the array is idle while the weights of the next stripe are loaded into it"}},
    {Cause::WeightsLate, {"array_idle", "weights", false, "CDMA is the bottleneck while it fetches weights"}},
    {Cause::DataLate, {"array_idle", "data", false, "CDMA is the bottleneck while it fetches or converts input"}},
    {Cause::BufferFull, {"array_idle", "buffer_full", false, "the convolution buffer is full and nothing is being released"}},
    {Cause::AccumulatorFull,
     {"array_idle", "accumulator_full", false, "CACC is full, because it delivers results more slowly than the array computes them"}},
    {Cause::SdpPace, {"sdp", "pace", false, "SDP is the bottleneck"}},
    {Cause::OperandLate, {"sdp", "operand_late", false, "SDP waits for an operand that its read DMA has fetched but not yet unpacked"}},
    {Cause::PdpPace, {"pdp", "pace", false, "PDP is the bottleneck"}},
    {Cause::CdpPace, {"cdp", "pace", false, "CDP is the bottleneck"}},
    {Cause::BdmaPace, {"bdma", "pace", false, "BDMA is the bottleneck"}},
    {Cause::RubikPace, {"rubik", "pace", false, "Rubik is the bottleneck"}},
    {Cause::StartUp, {"start_up", "begin", false, "a unit starts a layer: from its op-enable to its first request or stripe"}},
    {Cause::BankChange, {"start_up", "bank_change", false, "CDMA and CSC change the partition of the buffer"}},
    {Cause::Pipeline, {"start_up", "pipeline", false, "the pipeline fills: data is on the way to the sequencer or through the array"}},
    {Cause::Drain, {"end", "drain", false, "the pipeline drains: the last results are in flight through a unit"}},
    {Cause::WriteBack, {"end", "write_back", true, "the response to the last write is outstanding"}},
    {Cause::Programming, {"software", "programming", false, "registers are written"}},
    {Cause::Interrupt, {"software", "interrupt", false, "from the end of a unit to the interrupt pin, and software's handling of it"}},
    {Cause::Polling, {"software", "polling", false, "software reads registers"}},
    {Cause::Latency, {"memory", "latency", true, "the memory latency of a command; the memory could accept more commands"}},
    {Cause::Bandwidth, {"memory", "bandwidth", true, "the port is busy with data or commands of the same client"}},
    {Cause::Arbitration, {"memory", "arbitration", true, "the port or the interface serves this other client first"}},
    {Cause::Credits, {"memory", "credits", true, "a request waits for return-buffer space, or for CFG_OUTSTANDING_CNT"}},
    {Cause::Requests, {"memory", "requests", true, "the client is at its limit of outstanding requests"}},
    {Cause::Interface, {"memory", "interface", true, "in the pipeline stages of MCIF or CVIF"}},
    {Cause::DramQueue, {"memory", "dram_queue", true, "the DRAM controller serves other requests first, or its queue is full"}},
    {Cause::DramData, {"memory", "dram_bandwidth", true, "the data bus of the DRAM is busy with other requests"}},
    {Cause::DramRow, {"memory", "dram_row", true, "a DRAM row is closed and another one opened"}},
    {Cause::DramGroup, {"memory", "dram_group", true, "minimum spacing of commands to one bank group"}},
    {Cause::DramTurn, {"memory", "dram_turn", true, "the data bus of the DRAM turns around between reads and writes, or ranks"}},
    {Cause::DramRefresh, {"memory", "dram_refresh", true, "the DRAM is refreshed"}},
    {Cause::DramPower, {"memory", "dram_power", true, "the DRAM wakes up from power-down"}},
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
