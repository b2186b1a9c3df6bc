#include "explain/advice.h"

#include <algorithm>
#include <array>

#include "base/error.h"
#include "facts/optional_units.h"

namespace dlasim {
namespace {

using Of = Change::Of;

constexpr Change kCutForCycles{Of::Work, "plan.minimise", "cycles"}, kCutForTraffic{Of::Work, "plan.minimise", "traffic"},
    kOverlap{Of::Work, "overlap", "all"};
constexpr Change kMoreKernels{Of::Hardware, "mac.atomic_k", "*2"}, kMoreChannels{Of::Hardware, "mac.atomic_c", "*2"},
    kMoreBanks{Of::Hardware, "cbuf.banks", "*2"}, kDeeperBanks{Of::Hardware, "cbuf.bank_depth", "*2"};
constexpr Change kFaster{Of::FasterMemory, "", ""}, kLessLatency{Of::Memory, "latency", "/2"},
    kMoreChannelsOfDram{Of::Memory, "channels", "*2"}, kBankInterleave{Of::Memory, "mapping", "bank_interleave"},
    kPageXor{Of::Memory, "mapping", "page_xor"};

struct AdviceOn {
    std::vector<Cause> causes;
    Advice advice;
};

/// Causes of optional units have none of their own.
const std::vector<AdviceOn>& advice_list()
{
    static const std::vector<AdviceOn> kList{
        {{Cause::Computing},
         {"The array is busy. Fewer cycles need a wider array, or a layer that fills its lanes: channels in multiples of "
          "mac.atomic_c, kernels in multiples of mac.atomic_k.",
          {kMoreKernels, kMoreChannels, kCutForCycles}}},
        {{Cause::WeightLoad},
         {"Stripes are shorter than the time to load weights. Larger tiles make longer stripes.", {kCutForCycles, kDeeperBanks}}},
        {{Cause::WeightsLate},
         {"CDMA unpacks weights no faster. Reading them once instead of once per tile helps.",
          {kCutForCycles, kCutForTraffic, kMoreBanks}}},
        {{Cause::DataLate},
         {"CDMA writes input into CBUF no faster. Prefetching the input of the next tile during the current one hides it.",
          {kCutForCycles, kMoreBanks, kMoreKernels}}},
        {{Cause::BufferFull},
         {"The next input waits for space in CBUF. More banks or smaller tiles let it arrive earlier.",
          {kCutForCycles, kMoreBanks, kDeeperBanks}}},
        {{Cause::AccumulatorFull},
         {"Layers with few channels produce results faster than CACC delivers them to SDP: cacc is their bound. Smaller tiles hide "
          "the fetch in it; more multiplications per result, or more kernels in parallel, remove it.",
          {kCutForCycles, kMoreKernels}}},
        {{Cause::SdpPace},
         {"SDP is the slowest stage. sdp.*_throughput is the number of elements per cycle of its engines.",
          {{Of::Hardware, "sdp.bs_throughput", "*2"},
           {Of::Hardware, "sdp.bn_throughput", "*2"},
           {Of::Hardware, "sdp.ew_throughput", "*2"},
           kMoreKernels}}},
        {{Cause::OperandLate},
         {"The second operand of an addition, or a scale per element, is unpacked too late.",
          {kFaster, {Of::Hardware, "sdp.bn_throughput", "*2"}, kMoreKernels}}},
        {{Cause::PdpPace}, {"Pooling is the slowest stage.", {{Of::Hardware, "pdp.throughput", "*2"}, kMoreKernels}}},
        {{Cause::CdpPace}, {"Normalisation is the slowest stage.", {{Of::Hardware, "cdp.throughput", "*2"}, kMoreKernels}}},
        {{Cause::StartUp, Cause::BankChange},
         {"Every operation has a start-up time. Fewer, or overlapping, operations have less of it.", {kOverlap, kDeeperBanks}}},
        {{Cause::Pipeline},
         {"The pipeline fills at the start of every operation. Fewer, longer operations fill it less often.",
          {kOverlap, kCutForCycles, kMoreKernels}}},
        {{Cause::Drain, Cause::WriteBack}, {"The pipeline drains, and no other operation has started.", {kOverlap, kLessLatency, kFaster}}},
        {{Cause::Programming, Cause::Interrupt, Cause::Polling},
         {"Software is on the critical path: it can write the registers of the next operation while the current one runs.", {kOverlap}}},
        {{Cause::Latency},
         {"The memory latency is long, and too few requests are in flight.", {kCutForCycles, kOverlap, kLessLatency, kFaster}}},
        {{Cause::Bandwidth},
         {"The port is busy. Move less (each tensor once), keep tensors in CVSRAM, or widen the port: it is as wide as an atom, "
          "mac.atomic_k bytes.",
          {kCutForCycles, kCutForTraffic, kMoreBanks, kMoreKernels, {Of::Memory, "interval", "/2"}}}},
        {{Cause::Arbitration}, {"Clients share the port.", {kCutForTraffic, kCutForCycles, kMoreKernels}}},
        {{Cause::Credits},
         {"The client is at its limit of requests in flight.", {{Of::Hardware, "fabric.read_credit", "*2"}, kLessLatency}}},
        {{Cause::Requests}, {"The client's requests are small.", {kCutForCycles, kLessLatency, kFaster}}},
        {{Cause::Interface},
         {"Requests and responses pass the pipeline stages of MCIF or CVIF, some cycles each, and no other request is in flight.",
          {kCutForCycles, kOverlap, kMoreBanks}}},
        {{Cause::DramQueue, Cause::DramData},
         {"The DRAM is busy with other requests: its bandwidth is the limit.", {kCutForTraffic, kFaster, kMoreChannelsOfDram}}},
        {{Cause::DramRow, Cause::DramGroup, Cause::DramTurn},
         {"The pattern of addresses does not suit the DRAM.", {kBankInterleave, kPageXor, kMoreChannelsOfDram, kFaster}}},
        {{Cause::DramRefresh, Cause::DramPower}, {"The DRAM refreshes, or wakes up from power-down.", {kFaster, kMoreChannelsOfDram}}},
    };
    return kList;
}

Advice make_advice(Cause cause)
{
    for (const AdviceOn& each : advice_list())
        if (std::ranges::count(each.causes, cause) != 0) return each.advice;
    if (!std::ranges::count(facts::kOptionalUnits, name_of(cause).group, &facts::OptionalUnit::key))
        throw InternalError("a cause without advice");
    return {"The copy unit is the bottleneck: keep tensors in the memory where they are used.", {kFaster}};
}

}  // namespace

const Advice& advice_on(Cause cause)
{
    static const auto kAdvice = [] {
        std::array<Advice, kCauses> list;
        for (std::size_t i = 0; i < kCauses; ++i) list[i] = make_advice(static_cast<Cause>(i));
        return list;
    }();
    return kAdvice[static_cast<std::size_t>(cause)];
}

std::optional<Cause> cause_called(std::string_view name)
{
    for (std::size_t i = 0; i < kCauses; ++i) {
        const CauseName& each = name_of(static_cast<Cause>(i));
        const std::size_t length = each.group.size() + 2 + each.name.size();
        if (name.size() < length || !name.starts_with(each.group) || name.substr(each.group.size(), 2) != ": ") continue;
        const std::string_view rest = name.substr(each.group.size() + 2);
        if (rest.starts_with(each.name) && (rest.size() == each.name.size() || rest.substr(each.name.size()).starts_with(": ")))
            return static_cast<Cause>(i);
    }
    return std::nullopt;
}

}  // namespace dlasim
