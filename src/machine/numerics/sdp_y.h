// The Y engine of SDP, EW: multiplier, ALU and lookup table on lanes of 32 bits.
//
//   operand stream ── converter ──┐
//   x ── MUL or PReLU, >> truncate ── ALU, saturate ── LUT ──
//
// The table: LE has 65 entries (exponential or linear), LO 257 (linear). Both are looked up, one is
// chosen, and two entries are interpolated with a 35-bit fraction, or the first or last one is
// extended by a slope. fp16 processing computes in fp32, the interpolation in fp17.
//
// Source  sdp.md 4.3 to 4.5.
// Error   0: every vector of tests/golden/numerics_test.cpp.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>

#include "facts/hardware.h"
#include "numerics/sdp_x.h"

namespace dlasim::numerics {

inline constexpr std::size_t kLeEntries = 65, kLoEntries = 257;

struct LutTables {
    std::array<std::uint16_t, kLeEntries> le{};  // int16 or fp16
    std::array<std::uint16_t, kLoEntries> lo{};
};

/// Extension of a table beyond its ends.
struct LutSlope {
    std::int16_t scale = 0;  // int16, or fp16 pattern
    std::int8_t shift = 0;   // 5 bits signed, negative is left
};

struct LutConfig {
    bool bypass = true;
    bool le_linear = false;           // le_function
    std::int8_t le_index_offset = 0;  // exponential
    std::int8_t le_index_select = 0, lo_index_select = 0;
    // int32, or fp32 pattern
    std::int32_t le_start = 0, le_end = 0, lo_start = 0, lo_end = 0;
    LutSlope le_underflow, le_overflow, lo_underflow, lo_overflow;
    bool underflow_lo = false, overflow_lo = false, hybrid_lo = false;  // priority: LO wins
};

/// Converter of a streamed operand (integer only).
struct OperandConverter {
    bool bypass = true;
    std::int32_t offset = 0;
    std::int16_t scale = 1;
    unsigned truncate = 0;  // 0..63
};

struct SdpYConfig {
    facts::sdp::Arithmetic silicon;
    bool fp = false;
    bool nan_to_zero = false;
    bool alu_bypass = true, mul_bypass = true;
    bool prelu = false;
    SdpAlu alu = SdpAlu::Sum;
    unsigned truncate = 0;         // 0..1023, after the multiplier
    std::int32_t alu_operand = 0;  // of the register: int32 or fp32 pattern, not converted
    std::int32_t mul_operand = 0;
    OperandConverter alu_converter, mul_converter;
    LutConfig lut;
};

/// A 16-bit streamed operand as the engine uses it: int32, or fp32 pattern.
std::int32_t sdp_y_operand(const SdpYConfig& config, const OperandConverter& converter, std::int16_t operand);

/// Multiplier and ALU; operands as the engine uses them.
std::int32_t sdp_y_core(const SdpYConfig& config, std::int32_t x, std::int32_t alu, std::int32_t mul);

/// What the index stage found out about a lane: what the table is read at, and what the counters count.
struct LutIndex {
    enum class Range : std::uint8_t { Hit, Underflow, Overflow };
    Range le = Range::Hit, lo = Range::Hit;    // of each table
    bool use_lo = false;                       // the table chosen ...
    bool underflow = false, overflow = false;  // ... and its flags; neither: counted as "hybrid"
    std::uint16_t entry = 0;
    std::uint64_t fraction = 0;  // 35 bits
};
LutIndex lut_index(const SdpYConfig& config, std::int32_t x);
std::int32_t lut_value(const SdpYConfig& config, const LutTables& tables, std::int32_t x, const LutIndex& index);

/// `count` lanes in place through MUL and ALU (not LUT). A stream is one 16-bit operand a lane, converted
/// here; null takes the register's.
void sdp_y(const SdpYConfig& config, std::int32_t* lanes, const std::int16_t* alu, const std::int16_t* mul, std::size_t count);

}  // namespace dlasim::numerics
