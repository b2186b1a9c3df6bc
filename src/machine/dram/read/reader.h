// DRAM presets and files: JSON in, Config out, strictly. A device file names its constraint table
// (configs/dram/standards/*.json); both are built in, and a path to a file of one's own works too.
//
//   ddr4-2400 + {"channels": "2", "timing.tRCD": "18"}     options are laid over the file by path
//
// Source: configs/dram. Errors: ConfigError naming the file, the JSON pointer, what was found and
// what would do.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "dram/config.h"
#include "facts/memory_spec.h"

namespace dlasim::dram {

/// A built-in name or the path of a file (it has a '/' or ends in .json), and options by path.
/// Short ones: channels, mapping, page_policy, refresh, wrap, base.
Config read_config(const std::string& name_or_path, const std::map<std::string, std::string>& options = {});
/// Of a memory that is no ideal one.
Config read_config(const MemorySpec& memory);

/// From the texts of a device file and of its constraint table, for tests of broken ones.
Config parse_config(const std::string& where, const std::string& device, const std::string& standard_where, const std::string& standard,
                    const std::map<std::string, std::string>& options = {});

/// Built-in devices in the order of their names; `reference` are those that reproduce other simulators.
std::vector<std::string> preset_names(bool reference = false);
bool is_preset(const std::string& name);
/// A preset's file as it is.
std::string preset_text(const std::string& name);
/// One line on a preset.
std::string preset_line(const std::string& name);

}  // namespace dlasim::dram
