// The Winograd input transform of one channel: a 4 x 4 tile D becomes C^T D C. Integers are exact,
// then shifted with rounding and saturated to the precision; fp16 is computed in fp17.
//
// Shapes  in, out [16], 4 * row + column; int8 sign-extended to 16 bits.
// Source  csc.md 4.2.
// Error   0: every vector of tests/golden/numerics_test.cpp.
#pragma once
#include <cstdint>
#include <span>

#include "facts/hardware.h"

namespace dlasim::numerics {

/// truncate as the cell gets it: 0..3 (CSC turns register value 3 into 2); ignored by fp16.
void transform_tile(Precision precision, unsigned truncate, std::span<const std::uint16_t, 16> in, std::span<std::uint16_t, 16> out);

}  // namespace dlasim::numerics
