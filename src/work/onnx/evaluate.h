// What a graph computes for one image, by the definition of ONNX: every node in double precision, its result rounded to float once. Values
// with a grid of the model are rounded to it, as QuantizeLinear does.
#pragma once
#include "onnx/graph.h"

namespace dlasim {

using RealTensor = std::vector<float>;

/// By value; `inputs` in the order of the graph's. Values that no node makes any more are empty.
std::vector<RealTensor> evaluate(const RealGraph& graph, std::vector<RealTensor> inputs);
/// One node. `out`: the shape of what it makes.
RealTensor evaluate(const RealNode& node, const std::vector<const RealTensor*>& inputs, const std::vector<CubeShape>& shapes,
                    const CubeShape& out);

/// Slopes and limits of a layer on a tensor of `channels`.
void limit(const Clamp& clamp, RealTensor& tensor, std::size_t channels);

}  // namespace dlasim
