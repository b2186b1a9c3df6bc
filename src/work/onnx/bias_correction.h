// Rounded weights and tensors shift the mean of what a convolution makes; its bias takes that back.
//
//   bias[k] += mean of the model's sums of kernel k - mean of those in steps of int8, over images and positions, before any limit
//
// Convolutions are corrected in their order, each with what those before it make after their correction. Both sums are in real numbers: the
// second of rounded weights and rounded tensors. docs/ONNX.md.
#pragma once
#include <functional>

#include "onnx/evaluate.h"
#include "onnx/quantise.h"

namespace dlasim {

inline constexpr std::size_t kCorrectedImages = 64;  // at most, the first ones: tensors of all of them are held at once

struct CalibrationImages {
    std::size_t count = 0;
    std::function<std::vector<RealTensor>(std::size_t image)> reals;  // in the order of the graph's inputs
};

/// `model`: as it was before quantised(); `graph`: as that left it.
void correct_biases(QuantisedNetwork& made, const RealGraph& model, const RealGraph& graph, const CalibrationImages& images);

}  // namespace dlasim
