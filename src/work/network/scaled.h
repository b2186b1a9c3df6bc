// The engines of SDP for a step whose layers were given numbers: docs/ONNX.md.
//
//   sums ── BS: + bias, * m[k] >> s ── BN: + tensor << a, or min; slope of negative numbers; max 0 ── (v - offset) * scale >> shift ──►
//   int8
//
// A function of every element is a table with an entry for each of the 256 integers.
//
// m, s, a, scale and shift are the nearest ones to the scales of the tensors: multipliers of 15 bits, no intermediate that saturates.
#pragma once
#include "config/model/tensors.h"
#include "facts/hardware.h"
#include "network/steps.h"

namespace dlasim {

struct ScaledStep {
    Layer layer;
    LayerTensors tensors;  // weights and operands of kernels
};

/// `layer`: shapes alone. Throws ConfigError where the engines cannot do it.
ScaledStep scaled_step(const Network& network, const Steps& steps, const Step& step, Layer layer);

/// A table of SDP with an entry for each int8: exact, nothing is interpolated.
Lut every_integer(const Function& function, const Quantisation& from, const Quantisation& to);

/// BN is free for it next to the addition of a tensor.
bool joins_addition(const Clamp& clamp);

/// What SDP or PDP makes of golden tensors; `addend` null without one.
Tensor scaled_output(const Layer& layer, const Hardware& hardware, const LayerTensors& tensors, const Tensor& input, const Tensor* addend);

}  // namespace dlasim
