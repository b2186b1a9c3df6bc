// Winograd layers of the reference: the documented transforms of input, weights and output.
//
//   U = G g G^T * scale (software)   V = C^T d C >> truncate (CSC)   sums of U V over channels (CMAC, CACC)
//   output transform (CMAC)
//
// Integers use 4 g as scale, so that U is whole; the layer's shift must take it back.
#pragma once
#include "config/tensors.h"

namespace dlasim {

/// U of one kernel and channel, [16] row major, as stored in memory; fp16 as patterns.
std::array<std::int16_t, 16> winograd_weights(Precision precision, const std::array<std::int16_t, 9>& kernel);

std::vector<std::int64_t> reference_winograd_sums(const Layer& layer, const Tensor& input, const Tensor& weights);
std::vector<std::uint32_t> reference_winograd_fp16(const Layer& layer, const Tensor& input, const Tensor& weights);

}  // namespace dlasim
