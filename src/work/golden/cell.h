// The fp16 MAC cell and the fp16 accumulator of the golden reference, from their description, in arithmetic of
// their own: nothing of it is shared with the machine.
//
//   product   of 15-bit magnitudes M15, value M15 * 2^(4 * E3 - 25); the multiplier leaves it in two words a + b = P + Q
//   aligned   both words shifted right by four bits a step and cut: (P + Q >> n) - (Q >> n), less one where the bits
//             that fall off carried into the rest
//   word      {exponent[5:0], mantissa[37:0]}; the sum of an accumulator is {exponent[7:0], mantissa[39:0]}
//
// The two words exist in the carries alone, so that is all that is computed of them: the multiplier's tree runs on
// bit slices, one bit of 64 lanes in a word, of several kernels at a time.
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
    using Values = std::array<std::uint16_t, kLanes>;

    explicit CellAtom(const Values& values, Vectors vectors = Vectors::Best);

    bool nan = false;
    std::uint16_t nan_value = 0;                // of the lowest lane
    std::uint64_t live = 0, negative = 0;       // lanes that are not zero, lanes below zero
    std::array<std::uint64_t, 3> exponent{};    // E3 in slices
    std::array<std::uint64_t, 16> slice{};      // M15 in slices
    std::array<std::int16_t, kLanes> number{};  // M15 with its sign
    std::array<std::int8_t, kLanes> places{};   // 4 * E3
};

/// Atoms of weights of up to eight kernels, with the multiplier's radix-4 digits.
struct CellKernels {
    static constexpr std::size_t kTogether = 8, kDigits = 8;
    using Each = std::array<std::uint64_t, kTogether>;  // a word of lanes for each kernel

    explicit CellKernels(std::span<const CellAtom::Values> kernels, Vectors vectors = Vectors::Best);

    std::size_t count = 0;
    bool nan = false;  // of any kernel
    std::array<bool, kTogether> nans{};
    std::array<std::uint16_t, kTogether> nan_values{};
    Each live{}, negative{};
    std::array<Each, 3> exponent{};
    std::array<Each, kDigits> one{}, two{}, minus{};  // digit j: +-1, +-2, and whether it is below zero
    std::array<std::array<std::int16_t, CellAtom::kLanes>, kTogether> number{};
    std::array<std::array<std::int8_t, CellAtom::kLanes>, kTogether> places{};
};

/// The 44-bit words of the cells, one a kernel; 0 after the last one.
void cell_words(const CellKernels& kernels, const CellAtom& data, CellKernels::Each& words, Vectors vectors = Vectors::Best);
/// The words of a Winograd tile: lane 4 * position + channel; outputs (0, 0), (0, 1), (1, 0), (1, 1).
void cell_tiles(const CellKernels& kernels, const CellAtom& data, std::array<CellKernels::Each, 4>& words, Vectors vectors = Vectors::Best);

/// The accumulator: 0 before the first word.
std::uint64_t accumulated(std::uint64_t sum, std::uint64_t word);
/// The fp32 pattern of a complete sum.
std::uint32_t accumulator_result(std::uint64_t sum);

}  // namespace dlasim
