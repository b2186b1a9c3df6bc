// What a reshape must make of a cube: places move, values stay, and what it pads with is zero.
//
// Source  rubik.md 1.2 to 1.4.
#pragma once
#include "config/model/tensors.h"

namespace dlasim {

/// Sub-cubes [phases][c][h][w], phase dy * sx + dx, interleaved to [1][c][h * sy][w * sx].
Tensor contracted(const Tensor& sub_cubes, Extent stride);
/// The first of `cube` in each dimension, zero where it ends.
Tensor padded(const Tensor& cube, std::uint32_t channels, std::uint32_t width);

}  // namespace dlasim
