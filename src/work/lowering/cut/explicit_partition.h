// A cut that the lowering made, as a descriptor tells one: to be written, edited and given back.
#pragma once
#include "lowering/plan.h"

namespace dlasim {

/// Planned with it the layer has the same passes, register by register; none if no partition says that.
std::optional<Partition> explicit_partition(const LayerPlan& plan, const Layer& layer, const Hardware& hardware);

}  // namespace dlasim
