// A deconvolution as plain convolutions: one for each phase of its stride, that is each place (x % stride, y % stride) of the output.
//
//   output (sx * i + dx, sy * j + dy)  <──  input (i + shift - taps + 1 .. i + shift), with every sx-th tap of the kernel, mirrored
//
// Every phase makes a cube of its own; a reshape interleaves them, or SDP on machines without (interleave.h).
//
// Source  golden/memory/reshaped.h.
#pragma once
#include "lowering/shape.h"

namespace dlasim {

/// The phases in the order of their cubes: dy * stride x + dx. `common`: what every pass of the layer has in common.
std::vector<ShapedPass> phase_passes(const Layer& layer, const Hardware& hardware, const Pass& common);
/// What each phase makes, where there are several.
std::optional<Extent> sub_cube(const Layer& layer);

}  // namespace dlasim
