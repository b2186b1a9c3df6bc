// Beside step 5: what memory holds before the program starts.
#pragma once
#include "lowering/places.h"

namespace dlasim {

/// Bytes that must be in memory before the program starts.
struct PlannedImage {
    std::string what;
    Place place;
    Bytes bytes;
};

/// `kernels` are moved from.
std::vector<PlannedImage> images_of(const Layer& layer, const LayerTensors& tensors, const Shape& shape,
                                    const std::vector<PassParts>& passes, std::vector<std::vector<StoredKernels>>&& kernels,
                                    const Places& places, const Hardware& hardware);

}  // namespace dlasim
