// A tiling of the lowering as a key of the descriptor: to be written, edited and run.
#pragma once
#include "lowering/plan.h"

namespace dlasim {

/// Planned with it the layer has the same passes, register by register; none if no partition says that.
std::optional<Partition> explicit_partition(const LayerPlan& plan, const Layer& layer, const Hardware& hardware);

}  // namespace dlasim
