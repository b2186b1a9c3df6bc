// What the planner decides only where a file asks for it: Winograd, which changes numbers, and compressed weights, whose time depends on
// values.
//
//   of a layer    wherever it is possible
//   of a network  in all layers: Winograd where its bounds are lower and its tiles have whole atoms of kernels
#pragma once
#include "lowering/plan.h"
#include "network/plan.h"

namespace dlasim {

/// As the machine would be given it; none if it cannot do it. `for_driver`: NetworkOptions.
std::optional<LayerPlan> possible_plan(const Layer& layer, const Hardware& hardware, bool for_driver);

/// The layer of a step itself asks.
bool layer_asks(const Network& network, const Step& step, PlanDecision decision);
/// It or the network does, and the step is a convolution that may have it.
bool is_asked(const Network& network, const Step& step, PlanDecision decision);
/// Compressed weights, anywhere.
bool asks_compressed(const Network& network);

/// A step by Winograd. Tiles of less than an atom of kernels would leave places between the channels: only if the layer asks.
std::optional<LayerPlan> winograd_plan(const NetworkPlan& plan, const Step& step, Layer layer);
/// Decides both for a step whose input has its layout.
void choose_asked(NetworkPlan& plan, const Step& step, Layer& layer);
/// Those of the network that this machine has.
void note_asked(NetworkPlan& plan);

/// How far the rounding of Winograd takes the golden output of a step from the direct convolution. `weights`: as golden_output() has them.
Difference from_direct(const NetworkPlan& plan, const Step& step, const StepPlan& of, LayerTensors weights);
/// Of all Winograd steps; none without any.
std::optional<Difference> from_direct(const NetworkPlan& plan);

}  // namespace dlasim
