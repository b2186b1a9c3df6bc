// fp16 layers of the reference: every atom of channels through the documented arithmetic of the MAC
// cell and the accumulator, in the documented order, kernel by kernel and place by place.
#pragma once
#include "config/tensors.h"
#include "facts/hardware.h"
#include "golden/reference.h"

namespace dlasim {

Tensor reference_fp16(const Layer& layer, const Hardware& hardware, const Tensor& input, const LayerTensors& tensors,
                      const Method& method);

}  // namespace dlasim
