// Convolutions alike of one input are one step with the kernels of all: the input is read once, and there is one start.
//
//   input ──┬── 1 x 1, 96 kernels ── a          input ── 1 x 1, 96 + 16 kernels ── a + b
//           └── 1 x 1, 16 kernels ── b                                             surface by surface: a, then b
//
// Who reads one of them reads its surfaces. In int8 each has its scale: a multiplier per kernel in BS.
#pragma once
#include "config/model/tensors.h"
#include "facts/hardware.h"
#include "network/layout.h"
#include "network/steps.h"

namespace dlasim {

/// But parts of concatenations, whose neighbours are others, and outputs of the network.
/// `join`: a step joins an earlier one.
void join_siblings(Steps& steps, const Network& network, const Hardware& hardware, const std::function<bool(const Step&)>& join);

/// The layer of a step with the kernels of all that it has, and their numbers. pre: fp16
NetworkLayer with_siblings(const Network& network, const Step& step);
/// Channels of a tensor, from `first` on.
Tensor channels_of(const Tensor& whole, std::uint32_t first, std::uint32_t count);
/// Their surfaces. None if they do not begin with one.
std::optional<TensorLayout> layout_of(const TensorLayout& whole, std::uint32_t first, std::uint32_t count);

/// Weights and operands per kernel of several layers as those of one.
LayerTensors side_by_side(std::vector<LayerTensors> layers);

}  // namespace dlasim
