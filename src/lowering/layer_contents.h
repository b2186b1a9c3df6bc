// The memory of a layer: its images before, its output after.
#pragma once
#include <memory>

#include "golden/contents.h"
#include "lowering/plan.h"

namespace dlasim {

/// Keeps what it is given.
std::unique_ptr<const Contents> layer_contents(Layer layer, const Hardware& hardware, LayerTensors tensors, Plan plan);

}  // namespace dlasim
