// fp16 steps of a network: weights by seed, golden values, what the host does.
//
//   weights  by seed, times the power of two with which a sum of products has a root mean square near 1
//   golden   in the machine's order of sums (golden/reference.h), on the places of the machine's input: lanes that are no channel are
//            part of the atoms whose products are aligned and added
//   host     in double precision, rounded to fp16 once, ties to even; what fp16 does not hold becomes the largest number
//
// Values are bit patterns.
#pragma once
#include "golden/reference.h"
#include "network/step_layer.h"

namespace dlasim {

LayerTensors seeded_fp16_weights(const Layer& layer, std::uint64_t seed, const Tensor& input);

/// `tensors`: as the machine has them, without input and addend; `addend` null without one.
Tensor fp16_output(const Layer& layer, const Layer& machine, const TensorLayout& places, const Method& method, const Hardware& hardware,
                   LayerTensors tensors, const Tensor& input, const Tensor* addend);

/// As host_output.
Tensor fp16_host_output(const Network& network, const Steps& steps, const Step& step, const std::vector<const Tensor*>& inputs);

}  // namespace dlasim
