// Nodes that become one, because the machine does them as one:
//
//   factor and number of a channel (BatchNormalization, arithmetic with constants) after a convolution     into its weights and its bias
//   activations                                                                                           into their producer
//   QuantizeLinear                                                                                        the grid of what it reads
//
// Nodes stay if an intermediate tensor has another reader or its own grid.
#pragma once
#include "onnx/graph.h"

namespace dlasim {

void simplify(RealGraph& graph);

}  // namespace dlasim
