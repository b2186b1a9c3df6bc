// Parts of less than an atom of kernels, whose kernels leave lanes of their surfaces empty, put together to one tensor: by the array, as
// convolutions whose weights are 1 for what goes into a lane.
//
//   surface i of the parts, n lanes of it used, is line i of a plane   w * h x parts, n channels
//   kernel j, 1 x m, stride m down: 1 at line j / n, channel j % n     w * h x parts / m, n * m channels: the next m parts in one atom
//
// Parts of an atom may differ by one lane: 11, 11, 10 of 32. A stride has at most eight lines, so equal ones come together in one stage
// or in several, others in one. Integers only: the sums are the values themselves.
//
// Source  programming.md 2 and 3.
#pragma once
#include "lowering/plan.h"

namespace dlasim {

/// `plan`: the tiles of a layer of one pass. Packing passes are appended where needed and possible.
void pack_output(LayerPlan& plan, const Layer& layer, const Hardware& hardware, bool with_images);

}  // namespace dlasim
