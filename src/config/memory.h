// The memory behind the ports, from the command line: `ideal:latency=32,interval=1` or a DRAM preset.
// Source  interfaces.md 1 and 4.
#pragma once
#include <string>
#include <vector>

#include "config/json_object.h"
#include "facts/memory_spec.h"
#include "files/keys.h"

namespace dlasim {

/// The names that --memory takes, the ideal memory first.
const std::vector<std::string>& memory_presets();
/// One line about each of them, in the same order.
const std::vector<std::string>& memory_descriptions();

MemorySpec parse_memory(const std::string& spec, const std::string& where = "--memory");
/// The spec in words that parse_memory reads back.
std::string memory_text(const MemorySpec& spec);
OrderedJson memory_json(const MemorySpec& spec);
/// Keys of the ideal memory, which are its options; those of a DRAM are the keys of its file, units/dram/keys.h.
std::vector<PlacedKey> memory_keys();
/// Sets one option ("latency", "channels"): for sweeps.
void set_memory_option(MemorySpec& spec, const std::string& option, const std::string& value, const std::string& where);

}  // namespace dlasim
