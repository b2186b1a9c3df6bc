// The golden values of a step, and the converters that it runs with: int8 in, int8 out, nothing of the machine's arithmetic.
//
//   weights, bias    by seed, as `dlasim run` makes them: the layer's number is added to the seed
//   output shift     the smallest with which at most one result in a thousand saturates
//   addition         the other tensor is shifted left until it is as large as the sums it is added to
//   tanh             sums are shifted right until their root mean square represents 1
//
// Numbers are judged by 65,536 results spread over the output.
#pragma once
#include "golden/staged.h"
#include "network/step_layer.h"

namespace dlasim {

/// Weights and the operands per kernel of a layer with this seed; no input, no operands per element.
LayerTensors seeded_weights(const Layer& layer, std::uint64_t seed);
/// An input of the network.
Tensor seeded_input(const NetworkTensor& tensor, Precision precision, std::uint64_t seed);

struct StepValues {
    Layer layer;           // with its converters
    LayerTensors weights;  // without input and addend
    Tensor output;
};
/// Of the array, SDP or PDP. `input`, `addend`: golden tensors; `addend` null without one.
StepValues step_values(Layer layer, const Hardware& hardware, LayerTensors weights, const Tensor& input, const Tensor* addend);

}  // namespace dlasim
