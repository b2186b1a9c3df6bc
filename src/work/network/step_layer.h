// The layer of a step: as the reference computes it, and as the machine is given it - the same operation on the places of its input
// in memory, with weights 0 where a place is no channel or belongs to another group.
#pragma once
#include <array>

#include "network/layout.h"
#include "network/scaled.h"

namespace dlasim {

/// Of a step of the array, SDP or PDP; converters are 0, but for layers with numbers.
Layer step_layer(const Network& network, const Steps& steps, const Step& step);
/// The same with weights and operands. pre: its layers have numbers
ScaledStep numbered_step(const Network& network, const Steps& steps, const Step& step);

/// As the machine gets it; cut by itself where it does not fit.
Layer machine_layer(const Layer& layer, const TensorLayout& input, const Hardware& hardware);
/// [kernels][channels of the machine's layer / groups][height][width]
Tensor machine_weights(const Layer& layer, const Layer& machine, const TensorLayout& input, Tensor weights);
/// Operands of kernels where the machine's layer has places for them.
std::array<Tensor, 6> machine_operands(const Layer& layer, const Layer& machine, const TensorLayout& input, std::array<Tensor, 6> operands);

/// The table of "tanh": an input n represents n * kTanhInput, an output n * kTanhOutput.
inline constexpr double kTanhInput = 1.0 / 4096, kTanhOutput = 1.0 / 32512;
inline constexpr std::uint32_t kTanhShift = 8;

}  // namespace dlasim
