// The X engines of SDP, BS and BN: ALU, multiplier, shift, ReLU on lanes of 32 bits.
//
//   x ── ALU(op << alu_shift) ── MUL(op) or PReLU ── >> mul_shift, round, saturate ── ReLU ──
//
// fp16 processing computes in fp32 without the shifts. Lanes are int32, or the bits of an fp32.
//
// Source  sdp.md 4.1, 4.3.
// Error   0: every vector of tests/golden/numerics_test.cpp.
#pragma once
#include <cstddef>
#include <cstdint>

#include "facts/hardware.h"
#include "facts/sdp.h"

namespace dlasim::numerics {

enum class SdpAlu : std::uint8_t { Max = 0, Min = 1, Sum = 2, Equal = 3 };  // register codes

/// The registers of one engine, decoded once a layer.
struct SdpXConfig {
    facts::sdp::Arithmetic silicon;
    bool fp = false;           // proc_precision is fp16
    bool nan_to_zero = false;  // fp: NaN operands become +0
    bool alu_bypass = true, mul_bypass = true, relu_bypass = true;
    bool prelu = false;  // multiply negative lanes only
    SdpAlu alu = SdpAlu::Sum;
    unsigned alu_shift = 0;        // 0..63
    unsigned mul_shift = 0;        // 0..63; applied even if MUL is bypassed
    std::int16_t alu_operand = 0;  // of the register, used where no stream is given
    std::int16_t mul_operand = 0;
};

/// One lane with its operands (of stream or register; 16 bits, fp16 pattern in fp).
std::int32_t sdp_x_lane(const SdpXConfig& config, std::int32_t x, std::int16_t alu, std::int16_t mul);

/// `count` lanes in place. A stream is one operand a lane; null takes the register's.
void sdp_x(const SdpXConfig& config, std::int32_t* lanes, const std::int16_t* alu, const std::int16_t* mul, std::size_t count);

}  // namespace dlasim::numerics
