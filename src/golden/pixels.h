// Image input of the reference: what CDMA makes of pixels. Feature-wise the result is an input tensor
// of the layer's precision; padding takes the layer's padding value, unconverted.
#pragma once
#include "config/tensors.h"

namespace dlasim {

/// Components in weight order, converted: (x - offset or mean) * scale >> shift.
Tensor reference_pixels(const Layer& layer, const Tensor& pixels);

}  // namespace dlasim
