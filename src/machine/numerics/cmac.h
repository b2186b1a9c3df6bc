// The MAC cell: one dot product of an atom with a kernel, or the four sums of a Winograd tile.
//
//   int8, int16   exact sums
//   fp16          products aligned to the largest exponent of the cell in steps of four bits and
//                 truncated in the carry-save form the multiplier leaves them in, then summed:
//                 {exponent[5:0], mantissa[37:0]}, value = mantissa * 2^(exponent - 50)
//   Winograd      lane 4 * position + channel, position = 4 * row + column; the products of each
//                 position are summed over its channels, then transformed to 2 x 2 outputs
//
// Shapes  operands [lanes], lanes <= 128 and a multiple of 16; nv_full has 64. A CmacWord is the cell's
//         44-bit output. Masked lanes are zeros: the mask of CSC is exactly "not zero".
// Source  cmac.md 4.
// Error   0: every vector of tests/golden/numerics_test.cpp; every form against the golden cell (tests/golden/cell_test.cpp).
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/vectors.h"

namespace dlasim::numerics {

inline constexpr std::size_t kMaxLanes = 128;
using CmacWord = std::uint64_t;

/// Data of an fp16 cell, taken apart once for all cells. Absent (zero) lanes have a very small exponent.
struct Fp16Operand {
    std::size_t lanes = 0;
    bool nan = false;                                              // some lane is NaN ...
    std::uint16_t nan_value = 0;                                   // ... this is the one of the lowest index
    alignas(64) std::array<std::uint16_t, kMaxLanes> magnitude{};  // 14 bits, M15 of the specification
    alignas(64) std::array<std::int8_t, kMaxLanes> exponent{};     // E3, or kAbsent
    alignas(64) std::array<std::int8_t, kMaxLanes> sign{};         // 0 or -1

    static constexpr std::int8_t kAbsent = -32;
};

/// Weights of an fp16 cell, with the Booth digits of the multiplier: taken apart once for a stripe.
struct Fp16Weights : Fp16Operand {
    // Digit j of each magnitude: -1 where it is +-1, where it is +-2, where it is negative.
    alignas(64) std::array<std::array<std::int8_t, kMaxLanes>, 8> one{}, two{}, negative{};
};

/// pre: values.size() is a multiple of 16 and at most kMaxLanes
void unpack_fp16(std::span<const std::uint16_t> values, Fp16Operand& out, Vectors vectors = Vectors::Best);
void unpack_fp16(std::span<const std::uint16_t> values, Fp16Weights& out, Vectors vectors = Vectors::Best);

/// The 44-bit word of a direct convolution. pre: same number of lanes
CmacWord dot_fp16(const Fp16Weights& weights, const Fp16Operand& data, Vectors vectors = Vectors::Best);
/// The four 44-bit words of a Winograd tile, output 2 * column + row of csc.md 1.9: word i of the cell.
std::array<CmacWord, 4> winograd_fp16(const Fp16Weights& weights, const Fp16Operand& data, Vectors vectors = Vectors::Best);

/// Exact sums; the cell's 38-bit and 22-bit results.
std::int64_t dot_int16(std::span<const std::int16_t> weights, std::span<const std::int16_t> data);
std::int32_t dot_int8(std::span<const std::int8_t> weights, std::span<const std::int8_t> data);

/// Four sums of a tile; int8 of one kernel (the cell does two), data as transformed (csc.md 4.2).
std::array<std::int64_t, 4> winograd_int16(std::span<const std::int16_t> weights, std::span<const std::int16_t> data);
std::array<std::int32_t, 4> winograd_int8(std::span<const std::int8_t> weights, std::span<const std::int8_t> data);

/// The output transform: 16 position sums to word 0..3 of the cell.
template <class T>
constexpr std::array<T, 4> winograd_outputs(const std::array<T, 16>& g)
{
    std::array<T, 4> left{}, right{};
    for (std::size_t r = 0; r < 4; ++r) {
        left[r] = g[4 * r] + g[4 * r + 1] + g[4 * r + 2];
        right[r] = g[4 * r + 1] - g[4 * r + 2] - g[4 * r + 3];
    }
    return {left[0] + left[1] + left[2], right[0] + right[1] + right[2], left[1] - left[2] - left[3], right[1] - right[2] - right[3]};
}

}  // namespace dlasim::numerics
