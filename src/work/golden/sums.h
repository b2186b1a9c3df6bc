// The integer sums of the golden convolution, blocked: 16 places of the output with all kernels (products.h).
//
//   convolution    output (oy, ox), tap (r, s): input (oy * stride - top + r * dilation, ...), or the padding value
//   deconvolution  the same for each phase of the stride: the taps that reach it, and nothing outside of the input
//
// Error   0 against the definition, loop by loop (tests/golden/sums_test.cpp), and oneDNN (tests/golden/reference_test.cpp).
#pragma once
#include "config/model/tensors.h"
#include "golden/products.h"

namespace dlasim {

/// The sums of an integer layer before anything else is done to them, [batch, kernels, height, width].
std::vector<std::int64_t> reference_sums(const Layer& layer, const Tensor& input, const Tensor& weights, Vectors vectors = Vectors::Best);

}  // namespace dlasim
