// The memory at the ports.
//
//   ideal:latency=32,interval=1      the ideal memory, and what is laid over it
//   ddr4-2400:channels=2             a DRAM preset, likewise
//   my.json:timing.tRCD=18           a file: a device like those of configs/dram, or {"kind": "ideal", "latency": 100}
//
// Source  interfaces.md 1 and 4.
#pragma once
#include <string>
#include <vector>

#include "base/files/keys.h"
#include "config/json_object.h"
#include "facts/memory_spec.h"

namespace dlasim {

/// The names that --memory takes beside files: the ideal memory, and every DRAM that is built in.
const std::vector<std::string>& memory_presets();
/// One line about it.
std::string memory_description(const std::string& preset);

/// `folder`: that of the file that names another one.
MemorySpec parse_memory(const std::string& spec, const std::string& where = "--memory", const std::string& folder = "");
/// The same as an object: {"kind": "ddr4-2400", "channels": 2, "timing": {"tRCD": 18}}.
MemorySpec read_memory(const Json& json, const std::string& file, const std::string& pointer, const std::string& folder = "");
/// The spec in words that parse_memory reads back.
std::string memory_text(const MemorySpec& spec);
OrderedJson memory_json(const MemorySpec& spec);
/// Keys of the ideal memory, which are its options; those of a DRAM are the keys of its file, dram/read/keys.h.
std::vector<PlacedKey> memory_keys();
/// Names of options of some memory, "latency", "timing.tRCD"; "timing.*" means all keys of that object.
std::vector<std::string> memory_options();
/// Sets one option ("latency", "channels"): for sweeps.
void set_memory_option(MemorySpec& spec, const std::string& option, const std::string& value, const std::string& where);

}  // namespace dlasim
