// The phases of a deconvolution put together by SDP, on machines that cannot reshape: copies, memory to memory, of cubes one place wide.
//
//   phase (dx, dy), w x h places, c surfaces          its place (x, y) is the output's (dx + sx * x, dy + sy * y)
//
//   by       a cube of the copy            its lines are    its surfaces are
//   line     1 x w, all channels           columns          surfaces
//   column   1 x h, all channels           lines            surfaces
//   surface  1 x w, h atoms of channels    columns          lines of one surface
//
// Lines and surfaces of a cube are anywhere, the positions of a line adjacent: so a line has one place, unless the stride is
// one across. The encodable variant with the fewest copies is used.
//
// Source  sdp.md 1.3, 1.6.1, 1.7.2: of a single place all surfaces are packed.
#pragma once
#include "lowering/passes.h"

namespace dlasim {

/// In the order of the phases.
std::vector<PlannedPass> interleaving_copies(const ReshapePass& contraction, const Hardware& hardware);

}  // namespace dlasim
