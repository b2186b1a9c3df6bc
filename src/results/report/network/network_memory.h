// Addresses and lifetimes of the tensors of a network, and how much memory all of them take: in result.json and on the terminal.
#pragma once
#include "base/files/keys.h"
#include "network/plan.h"

namespace dlasim {

/// "dbb" or "cvsram".
const char* memory_of(const Place& place);

OrderedJson memory_use_json(const NetworkPlan& plan);
/// A tensor each, in the order of the steps that make them.
OrderedJson places_json(const NetworkPlan& plan);
std::vector<PlacedKey> network_memory_keys();
/// Lines of the table.
std::string memory_use_text(const NetworkPlan& plan);

}  // namespace dlasim
