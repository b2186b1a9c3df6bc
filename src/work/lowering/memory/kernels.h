// Step 3 of the lowering: the kernels of the passes as memory holds them, compressed where the layer asks for it. Their bytes decide
// about places and registers, so they come first.
#pragma once
#include "lowering/cut/parts.h"
#include "lowering/memory/layout.h"

namespace dlasim {

/// The kernels of a set.
struct StoredKernels {
    Bytes weights;               // empty without tensors
    Bytes mask, group_sizes;     // of compressed ones
    CompressedSizes compressed;  // without tensors: no sizes
};

/// For each pass those of its sets. Without tensors nothing is stored.
std::vector<std::vector<StoredKernels>> stored_kernels(const Shape& shape, const std::vector<PassParts>& passes,
                                                       const LayerTensors* tensors, const Hardware& hardware);

}  // namespace dlasim
