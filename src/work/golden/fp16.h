// fp16 layers of the reference: every atom of channels through the documented arithmetic of the MAC
// cell and the accumulator, in the documented order, kernel by kernel and place by place.
#pragma once
#include "config/model/tensors.h"
#include "facts/hardware.h"
#include "golden/reference.h"

namespace dlasim {

/// Bits of fp32 as CACC gives them, [batch][kernels][height][width].
std::vector<std::uint32_t> reference_fp16_sums(const Layer& layer, const Tensor& input, const Tensor& weights, const Method& method);

}  // namespace dlasim
