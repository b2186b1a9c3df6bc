// What CACC is: latencies and depths.   [spec] cacc.md, section named; confirmed by the measured cases
#pragma once
#include <algorithm>
#include <cstdint>

#include "base/cycle.h"
#include "facts/hardware.h"

namespace dlasim::facts::cacc {

inline constexpr std::uint32_t kPositions = 128;    // [spec] 0: stripe positions of the assembly buffer, nv_full
inline constexpr std::uint32_t kFullEntries = 256;  // [spec] 0: delivery buffer of nv_full
inline constexpr Cycle kSdpStages = 3;              // [spec] 3.4: elastic stages behind the delivery buffer, nv_full
inline constexpr Cycle kCredit = 1;                 // [spec] 3.6: beat taken to credit
inline constexpr Cycle kDone = 1;                   // [spec] 3.7: last atom delivered to done
inline constexpr Cycle kGateOff = 3;                // [spec] 5: last cycle with the clock on after done
inline constexpr Cycle kCellGate = 3;               // [spec] 5: cells start later than the unit
inline constexpr std::uint32_t kInterruptBit = 20;  // csb.md 3: group 0; group 1 is the next bit

/// Valid of an atom at the port to its delivery. [spec] 0, 2.1, 2.2
inline Cycle delivery(const Hardware& hw, Precision precision)
{
    if (!hw.full()) return 6;
    return precision == Precision::Fp16 ? 10 : 8;
}
/// Delivery to available in the output side's count. [spec] 3.2, 3.5
inline Cycle available(const Hardware& hw) { return hw.full() ? 3 : 2; }
/// Beat with layer end taken to the interrupt pulse at GLB. [spec] 3.7
inline Cycle interrupt(const Hardware& hw) { return hw.full() ? 3 : 1; }
/// Beats of an entry. [spec] 0: K / TP
inline std::uint32_t beats_per_entry(const Hardware& hw) { return hw.full() ? 1 : std::max(1u, hw.mac.atomic_k / hw.sdp.max_throughput()); }
/// Results of a beat.
inline std::uint32_t lanes_per_beat(const Hardware& hw) { return hw.full() ? 16 : hw.sdp.max_throughput(); }
/// Bits of the per-atom count of saturated results. [spec] 4.3
inline std::uint32_t saturation_modulus(const Hardware& hw) { return hw.full() ? 256 : hw.mac.atomic_k; }

}  // namespace dlasim::facts::cacc
