// Input of the reference: what CDMA makes of pixels and features. The result is an input tensor of the
// layer's precision; padding takes the layer's padding value, unconverted.
#pragma once
#include "config/model/tensors.h"

namespace dlasim {

/// Components in weight order, converted: (x - offset or mean) * scale >> shift.
Tensor reference_input(const Layer& layer, const Tensor& input);
/// NaN of fp16 flushed to zero.
Tensor reference_weights(const Tensor& weights);

}  // namespace dlasim
