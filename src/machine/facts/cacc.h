// What CACC is: latencies and depths.   [spec] cacc.md, section named; confirmed by the measured cases
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>

#include "base/bits.h"
#include "base/cycle.h"
#include "facts/csc.h"
#include "facts/hardware.h"

namespace dlasim::facts::cacc {

inline constexpr std::uint32_t kPositions = 128;    // [spec] 0: stripe positions of the assembly buffer, nv_full
inline constexpr std::uint32_t kFullEntries = 256;  // [spec] 0: delivery buffer of nv_full
inline constexpr std::uint32_t kGranuleBytes = 32;  // [spec] 3.3: of an output address; whether its number is odd orders batches
inline constexpr Cycle kSdpStages = 3;              // [spec] 3.4: elastic stages after the delivery buffer, nv_full
inline constexpr Cycle kCredit = 1;                 // [spec] 3.6: last beat of an entry taken, to its credit; on: csc.h kCreditToCounter
inline constexpr Cycle kDone = 1;                   // [spec] 3.7: last atom delivered to done
inline constexpr Cycle kGateOff = 3;                // [spec] 5: last cycle with the clock on after done
inline constexpr Cycle kCellGate = 3;               // [spec] 5: cells start later than the unit

/// What depends on the generation and on the geometry.
struct Facts {
    bool words;                     // int16 and fp16, with wide adders for them and for the even kernels of bytes. [spec] 2.3
    std::array<Cycle, 3> delivery;  // by precision: valid of an atom at the port to its delivery. [spec] 0, 2.1, 2.2
    Cycle available;                // delivery to available in the output side's count. [spec] 3.2, 3.5
    Cycle end_to_interrupt;         // beat with layer end taken to the interrupt pulse at GLB. [spec] 3.7
    bool elastic_output;            // kSdpStages after the delivery buffer. [spec] 3.4
    bool clears_end_first;          // an end of a layer that is set and cleared in one cycle leaves no ghost. [spec] 3.7, open_points.md R2
    std::uint32_t entries;          // of the delivery buffer. [spec] 0
    std::uint32_t entry_lanes;      // results of an entry; an atom has as many entries as its kernels fill. [spec] 0
    std::uint32_t beats_per_entry;  // [spec] 0: K / TP
    std::uint32_t beat_lanes;       // results of a beat
    std::uint32_t saturation_modulus;  // of the per-atom count of saturated results. [spec] 4.3
    /// A layer of so few results can end while the last one of the layer before waits: the ends may meet. [spec] 3.6, open_points.md R2
    bool ends_may_meet(std::uint64_t results) const { return !clears_end_first && results < entries; }
    /// Entries of the results of an atom.
    std::uint32_t entries_per_atom(std::uint32_t kernels) const { return ceil_div(kernels, entry_lanes); }
};
inline Facts of(const Hardware& hw)
{
    if (hw.full()) return {true, {8, 8, 10}, 3, 3, true, true, kFullEntries, 16, 1, 16, 256};
    const std::uint32_t k = hw.mac.atomic_k, lanes = hw.sdp.max_throughput();
    return {false, {6, 6, 6}, 2, 1, false, false, csc::of(hw).credit, k, std::max(1u, k / lanes), std::min(lanes, k), k};
}

}  // namespace dlasim::facts::cacc
