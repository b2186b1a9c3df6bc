// What arithmetic and registers are in gates: NAND2 equivalents, which no process changes much.
//   [cells]  NanGate FreePDK45 Open Cell Library: NAND2_X1 0.798 um2, DFF_X1 4.522 um2
//   [dally]  Dally, High-Performance Hardware for Machine Learning, tutorial at NIPS 2015, areas of 45 nm
//   [width]  follows from the width: products as its square, sums as the width
#pragma once

namespace dlasim::silicon {

inline constexpr double kRegister = 4.522 / 0.798;       // [cells] a bit
inline constexpr double kProductBit = 282 / 0.798 / 64;  // [dally] 8-bit multiplier: 282 um2, of its 64 partial products one
inline constexpr double kSumBit = 137 / 0.798 / 32;      // [dally] 32-bit adder: 137 um2, a bit
inline constexpr double kSelectBit = 1.862 / 0.798;      // [cells] MUX2_X1: 1.862 um2

constexpr double multiplier(double a_bits, double b_bits) { return kProductBit * a_bits * b_bits; }  // [width]
constexpr double adder(double bits) { return kSumBit * bits; }                                       // [width]
/// Of words that a shift of up to `bits` moves: a row of multiplexers for each power of two.
constexpr double shifter(double bits) { return kSelectBit * bits * 6; }

}  // namespace dlasim::silicon
