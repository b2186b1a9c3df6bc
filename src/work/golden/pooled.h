// What pooling must make of a tensor, from the definition of the window. Integers are exact, the average rounded where
// the unit rounds: once after the width's reciprocal, once after the height's, ties away from zero; 65536 / size is cut off. fp16 averages
// follow the documented order of additions in the reference's own fp17 arithmetic.
//
// Source  pdp.md 1.2, 3.
#pragma once
#include "config/model/layer.h"
#include "config/model/tensors.h"

namespace dlasim {

/// [n][c][h][w] to [n][c][out h][out w]. `flush_nan`: NaN of fp16 counts as +0.
Tensor pooled(const Tensor& input, const Pool& pool, Precision precision, bool flush_nan);

}  // namespace dlasim
