// An ONNX model becomes a graph of real numbers: shapes follow, constants are folded, integers between QuantizeLinear and DequantizeLinear
// become values with a grid. docs/ONNX.md has the operators.
//
// Error  ConfigError with every node that cannot be done, by name and operator, and why.
#pragma once
#include <map>

#include "config/npy.h"
#include "onnx/graph.h"

namespace dlasim {

/// What the user gives of an input: its shape, and its elements where there is a file.
struct GivenInput {
    std::vector<std::int64_t> shape{};
    const NpyArray* elements = nullptr;
};
using GivenInputs = std::map<std::string, GivenInput>;  // by name

/// Free sizes come from what is given. Inputs whose numbers are needed here (shapes, weights) become constants: the elements given for
/// them. Where a model mixes dimension 0 with others, it is no batch: dimension 0 then belongs to the image.
RealGraph real_graph(const OnnxModel& model, const GivenInputs& given = {});

}  // namespace dlasim
