// CDP's two look-up tables: LE has 65 entries (exponential or linear), LO 257 (linear). Both are looked
// up, one is chosen, and two entries are interpolated with a 16-bit fraction, or the first or last one
// is extended by a slope. fp16 finds its place in fp32 and interpolates in fp17.
//
//   sum ──► LE place ─┐
//     └───► LO place ─┴─► choose ──► T[i] + (T[i+1] - T[i]) * fraction, or T[end] + slope
//
// Shapes  sum is an integer of up to 37 bits, or an fp32 pattern; the value 16 bits, or an fp17 pattern.
// Source  cdp.md 3.3, 3.4.
// Error   0: every vector of tests/golden/numerics_test.cpp.
#pragma once
#include <cstdint>

#include "facts/hardware.h"
#include "numerics/sdp_y.h"

namespace dlasim::numerics {

struct CdpLut {
    bool le_linear = false;                                             // LE_FUNCTION
    bool underflow_lo = false, overflow_lo = false, hybrid_lo = false;  // priority: LO wins
    std::uint8_t le_index_offset = 0;                                   // exponential
    std::uint8_t le_select = 0, lo_select = 0;
    std::uint64_t le_start = 0, le_end = 0, lo_start = 0, lo_end = 0;  // 38 bits, or fp32 pattern
    LutSlope le_underflow, le_overflow, lo_underflow, lo_overflow;
};

/// Which of the five look-up counters an element counts in.
enum class CdpOutcome : std::uint8_t { Underflow, Overflow, Hybrid, LeHit, LoHit };
inline constexpr std::size_t kCdpOutcomes = 5;

struct CdpLooked {
    std::int32_t value = 0;
    CdpOutcome outcome = CdpOutcome::Underflow;
};

/// How wide the index unit of a lane is.
enum class CdpIndex : std::uint8_t {
    Narrow,  // 22 bits: the configurable generation; odd channels of int8 in nv_full
    Cut,     // 38 bits, the distance of a linear table cut to 23 or 22: even channels of int8 in nv_full
    Wide     // 38 bits: int16
};

CdpLooked cdp_look_up(const CdpLut& lut, const LutTables& tables, std::int64_t sum, CdpIndex index);
CdpLooked cdp_look_up_float(const CdpLut& lut, const LutTables& tables, std::uint32_t sum);

}  // namespace dlasim::numerics
