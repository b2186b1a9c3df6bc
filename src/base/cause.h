// What a cycle of a run can go to.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>

namespace dlasim {

/// What a cycle went to. Names and definitions: facts/causes.h.
enum class Cause : std::uint8_t {
    Computing,
    WeightLoad,
    WeightsLate,
    DataLate,
    BufferFull,
    AccumulatorFull,
    SdpPace,
    OperandLate,
    PdpPace,
    CdpPace,
    BdmaPace,
    RubikPace,
    StartUp,
    BankChange,
    Pipeline,
    Drain,
    WriteBack,
    Programming,
    Interrupt,
    Polling,
    Latency,
    Bandwidth,
    Arbitration,
    Credits,
    Requests,
    Interface,
    DramQueue,
    DramData,
    DramRow,
    DramGroup,
    DramTurn,
    DramRefresh,
    DramPower,
};
inline constexpr std::size_t kCauses = 33;

/// Cycles that a request waits in a DRAM, by cause: DramQueue and the following causes.
inline constexpr std::size_t kDramCauses = kCauses - static_cast<std::size_t>(Cause::DramQueue);
using DramCycles = std::array<std::uint32_t, kDramCauses>;
constexpr std::size_t dram_index(Cause cause) { return static_cast<std::size_t>(cause) - static_cast<std::size_t>(Cause::DramQueue); }
constexpr Cause dram_cause(std::size_t index) { return static_cast<Cause>(index + static_cast<std::size_t>(Cause::DramQueue)); }

}  // namespace dlasim
