// The steps of a network with numbers as files: each step of the machine a layer that `dlasim run` takes, and the graph that joins them.
//
//   steps.json           tensors, inputs, output, concatenations, steps in the order in which they run
//   003_conv2.json       the layer of step 3, with every number that was chosen
//   003_conv2.KEY.npy    its tensors by the keys of "data": weights and operands, and of the first image what it reads and makes
//
// docs/ONNX.md.
#pragma once
#include <functional>

#include "base/files/keys.h"
#include "network/plan.h"

namespace dlasim {

inline constexpr const char* kStepsFile = "steps.json";

/// A name as that of a file.
std::string file_stem(const std::string& name);
/// `tensors`: of the first image, by tensor of the plan.
void write_steps(const NetworkPlan& plan, const std::vector<Tensor>& tensors,
                 const std::function<void(const std::string& name, const std::string& contents)>& write);
std::vector<PlacedKey> network_step_keys();

}  // namespace dlasim
