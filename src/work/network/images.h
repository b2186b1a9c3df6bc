// Images through a network with numbers, one after the other in one program: golden tensors of each, and what memory holds before it.
#pragma once
#include "network/check.h"

namespace dlasim {

/// What a step makes of these tensors, converters and weights being there.
Tensor golden_output(const NetworkPlan& plan, const Step& step, const StepPlan& of, const std::vector<std::optional<Tensor>>& golden);

/// By tensor of the plan; `inputs` in the order of the network's. Throws nothing: a plan has what it takes.
std::vector<std::optional<Tensor>> golden_tensors(const NetworkPlan& plan, std::vector<Tensor> inputs);

/// Adds what was found of another image.
void add_findings(std::vector<TensorFinding>& sum, const std::vector<TensorFinding>& more);

}  // namespace dlasim
