// The memory of a layer: its images before, its output after.
#pragma once
#include <memory>

#include "golden/memory/contents.h"
#include "lowering/plan.h"

namespace dlasim {

/// What layers of several machines may have in common.
struct SharedLayer {
    LayerTensors tensors;
    /// What reference_output() gives for them, where that depends on the layer and the generation alone; empty: not computed.
    Tensor reference;
};
/// True if the reference depends on the layer and the generation alone: exact integers, whatever the sizes of the machine.
bool shares_reference(const Layer& layer, const Method& method);

/// Keeps what it is given.
std::unique_ptr<const MemoryCheck> layer_contents(Layer layer, const Hardware& hardware, std::shared_ptr<const SharedLayer> shared,
                                                  LayerPlan plan);

}  // namespace dlasim
