// Bursts of one channel share its data bus. The constraint table keeps them apart; a table that does not, for this
// organisation, is no table of this device: more than the peak would pass.
#pragma once
#include <string>

#include "dram/config.h"

namespace dlasim::dram {

/// Throws ConfigError(where, ...) with the commands, the banks and the gap if two bursts could overlap. Source: dram.md 4,
/// rows 12 to 22 and 43.
void check_data_bus(const Config& config, const std::string& where);

}  // namespace dlasim::dram
