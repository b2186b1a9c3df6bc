// The engines of SDP for a step of an fp16 network whose layers were given numbers: docs/ONNX.md.
//
//   sums ── BS: + bias, slope, max 0 ── BN: + tensor, slope, max 0 ── the next engine: max low, then min high ──► fp16
//   x    ── BS: * factor[c], or * tensor, or * -1 ── BN: + bias[c], or + tensor; slope, max 0 ── the next engine: max low, min high
//
// SDP computes in fp32; operands are fp16, ties to even.
#pragma once
#include "network/scaled.h"

namespace dlasim {

/// `layer`: shapes alone. Throws ConfigError where the engines cannot do it.
ScaledStep fp16_step(const Network& network, const Step& step, Layer layer);

/// EW is free for its limits next to the addition of a tensor.
bool fp16_joins_addition(const Clamp& clamp);

}  // namespace dlasim
