// A graph of real numbers becomes a network of int8: grids for its values, integers for its weights. A pure function of the graph and of
// the largest magnitudes that its values were seen with. docs/ONNX.md says what is computed.
//
//   values    grids of the model; else symmetric, 127 for the magnitude that ranges.h gives; one grid for what pooling, concatenation and
//             the like join
//   weights   scales of the model; else one a kernel, a multiple of the largest one's 1 / 32767, 127 for the kernel's largest magnitude
//   trailing  the last nodes that are functions of every element or a softmax run on the CPU, in real numbers
//
// Or a network of fp16: weights are rounded, nothing has a grid.
//
// Error  ConfigError naming every node that cannot be done in integers.
#pragma once
#include "config/model/network.h"
#include "onnx/ranges.h"

namespace dlasim {

struct QuantisedNetwork {
    Network network{};
    std::vector<std::size_t> values{};  // of the graph, by tensor of the network; of a copy what it copies; SIZE_MAX: of none
    struct Output {
        std::size_t tensor = 0;            // of the network; nothing for constants
        std::vector<RealNode> trailing{};  // nodes of the graph that make the output of it, on the host
    };
    std::vector<Output> outputs{};  // in the order of the graph's
};

/// The graph as a network of fp16: weights are rounded, nothing else changes. Loses the nodes of `trailing`.
QuantisedNetwork fp16_network(RealGraph& graph);
/// The graph gets a grid for every value, nodes where a value changes its grid, and loses those of `trailing`.
QuantisedNetwork quantised(RealGraph& graph, const Ranges& ranges);

}  // namespace dlasim
