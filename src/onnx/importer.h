// An ONNX model becomes a graph of real numbers: shapes follow, constants are folded, integers between QuantizeLinear and DequantizeLinear
// become values with a grid. docs/ONNX.md has the operators.
//
// Error  ConfigError with every node that cannot be done, by name and operator, and why.
#pragma once
#include "onnx/graph.h"

namespace dlasim {

RealGraph real_graph(const OnnxModel& model);

}  // namespace dlasim
