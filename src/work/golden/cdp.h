// What CDP must make of a cube: the definition, place by place, in arithmetic of its own. Integers in 64 bits; fp16 by
// golden/real.h, rounded where the silicon rounds.
//
//   x -> converter -> square -> sum over the window of channels -> table -> times x -> converter
//
// Source  cdp.md 3.
#pragma once
#include <array>
#include <cstdint>

#include "config/model/sdp.h"
#include "config/model/tensors.h"

namespace dlasim {

/// One of the two tables, as Lut's but wider: start and end are 38-bit numbers, or the bits of an fp32.
struct CdpTable {
    bool exponential = false;  // LE only
    std::int64_t start = 0, end = 0;
    int offset = 0;  // exponential: log2 of the first step; linear: log2 of the step
    LutSlope underflow{}, overflow{};
    std::array<std::int16_t, 257> entries{};  // int16, or the bits of an fp16
};

struct CdpConversion {
    std::int64_t offset = 0, scale = 1;
    unsigned shift = 0;
};

struct CdpFunction {
    static constexpr std::size_t kLeEntries = 65, kLoEntries = 257;
    Precision precision = Precision::Int8;
    std::uint32_t window = 5;
    bool bypass_square_sum = false, bypass_multiplier = false;
    bool flush_nan = false;       // fp16: NaN counts as +0
    CdpConversion input, output;  // of integers
    CdpTable le{.exponential = true}, lo;
    bool underflow_lo = false, overflow_lo = false, hybrid_lo = false;  // who answers when both could: LO, else LE
};

/// The first `channels` of the output of a cube [1][c][h][w]; beyond the cube's own they are 0.
Tensor cdp_output(const CdpFunction& function, const Tensor& cube, std::uint32_t channels);

}  // namespace dlasim
