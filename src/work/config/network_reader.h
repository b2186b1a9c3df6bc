// Reads a network: docs/NETWORK.md.
//
//   {"name": "n", "input": {"width": 28, "height": 28, "channels": 1},
//    "layers": [{"name": "conv1", "op": "conv2d", "kernel": {"width": 5, "height": 5, "count": 20}, "bias": true, "activation": "relu"},
//               {"name": "pool1", "op": "pool", "inputs": ["conv1"], "pool": {"function": "max", "kernel_shape": [2, 2], "strides": [2,
//               2]}}]}
//
// Error  ConfigError with file, pointer, found and expected: unknown keys and tensors, shapes that do not fit, counts beyond the limits.
#pragma once
#include "config/json_object.h"
#include "config/model/network.h"

namespace dlasim {

inline constexpr std::size_t kMaxNetworkLayers = 2048;
inline constexpr std::uint64_t kMaxTensorElements = 1u << 26, kMaxNetworkWeights = 1u << 29;  // of a tensor; of all layers together

Network network_from_json(const Json& json, const std::string& file);
Network read_network(const std::string& path);
/// With every default written out; reads back as the same network.
OrderedJson network_json(const Network& network);
/// What plan.json holds: of a network with numbers of its own names, tilings and decisions alone.
OrderedJson plan_of(const Network& network);
/// Lays the tilings and decisions of a plan.json over the network, by the names of its layers.
void take_plan(Network& network, const std::string& file);

}  // namespace dlasim
