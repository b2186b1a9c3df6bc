// Winograd layers of the reference: the documented transforms of input, weights and output.
//
//   U = G g G^T * scale (software)   V = C^T d C >> truncate (CSC)   sums of U V over channels (CMAC, CACC)
//   output transform (CMAC)
//
// Integers use 4 g as scale, so that U is whole; the layer's shift must take it back. The transforms are products of
// matrices, exact in integers; nothing of them is shared with the machine or the lowering.
#pragma once
#include "config/model/tensors.h"

namespace dlasim {

std::vector<std::int64_t> reference_winograd_sums(const Layer& layer, const Tensor& input, const Tensor& weights);
std::vector<std::uint32_t> reference_winograd_fp16(const Layer& layer, const Tensor& input, const Tensor& weights);

}  // namespace dlasim
