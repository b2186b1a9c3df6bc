// Local response normalisation across channels, as the user describes it:
//
//   y[c] = x[c] / (bias + alpha / size * sum of x[j]^2, j = c - size / 2 .. c + size / 2) ^ beta
//
// Channels outside the cube count as 0. Integers represent real numbers, a step of the input for
// `input_scale` of them and one of the output for `output_scale`; fp16 is what it is.
//
// Source  ONNX LRN; cdp.md 1, 5.
#pragma once
#include "config/model/transfer_cube.h"

namespace dlasim {

struct Lrn : TransferCube {
    std::uint32_t size = 5;  // 3, 5, 7 or 9
    double alpha = 1e-4, beta = 0.75, bias = 1;
    double input_scale = 1, output_scale = 1;
};

}  // namespace dlasim
