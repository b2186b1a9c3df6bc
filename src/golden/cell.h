// The fp16 MAC cell and the fp16 accumulator of the golden reference, from their description, in arithmetic of
// their own: nothing of it is shared with the machine.
//
//   product   of 15-bit magnitudes M15, value M15 * 2^(4 * E3 - 25); the multiplier leaves it in two words a + b = P + Q
//   aligned   both words shifted right by four bits a step and cut: (P + Q >> n) - (Q >> n), less one where the bits
//             that fall off carried into the rest
//   word      {exponent[5:0], mantissa[37:0]}; the sum of an accumulator is {exponent[7:0], mantissa[39:0]}
//
// The two words exist in the carries alone, so that is all that is computed of them: the multiplier's tree runs on
// bit slices, one bit of 64 lanes in a word.
//
// Source  cmac.md 4.3 to 4.6, cacc.md 4.2.
// Error   0 against the machine's arithmetic, written apart (tests/golden/cell_test.cpp).
#pragma once
#include <array>
#include <cstdint>
#include <span>

#include "base/vectors.h"

namespace dlasim {

/// One atom of 64 lanes taken apart.
struct CellAtom {
    static constexpr std::size_t kLanes = 64;

    explicit CellAtom(std::span<const std::uint16_t, kLanes> values);

    bool nan = false;
    std::uint16_t nan_value = 0;                   // of the lowest lane
    std::uint64_t live = 0, negative = 0;          // lanes that are not zero, lanes below zero
    std::array<std::uint64_t, 3> exponent{};       // E3 in slices
    std::array<std::uint64_t, 16> slice{};         // M15 in slices
    std::array<std::int32_t, kLanes> magnitude{};  // M15
    std::array<std::int32_t, kLanes> steps{};      // E3
};

/// An atom of weights, with the multiplier's radix-4 digits.
struct CellWeights : CellAtom {
    explicit CellWeights(std::span<const std::uint16_t, kLanes> values);

    // Digit j: +-1, +-2, and whether it is negative for products above and below zero.
    std::array<std::uint64_t, 8> one{}, two{}, minus{}, minus_inverted{};
};

/// The cell's 44-bit word.
std::uint64_t cell_word(const CellWeights& weights, const CellAtom& data, Vectors vectors = Vectors::Best);
/// The four words of a Winograd tile: lane 4 * position + channel; outputs (0, 0), (0, 1), (1, 0), (1, 1).
std::array<std::uint64_t, 4> cell_tile(const CellWeights& weights, const CellAtom& data, Vectors vectors = Vectors::Best);

/// The accumulator: 0 before the first word.
std::uint64_t accumulated(std::uint64_t sum, std::uint64_t word);
/// The fp32 pattern of a complete sum.
std::uint32_t accumulator_result(std::uint64_t sum);

}  // namespace dlasim
