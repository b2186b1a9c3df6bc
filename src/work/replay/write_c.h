// Writes a program that has run as a C header: what a driver without an operating system steps through (examples/baremetal).
// Error  ConfigError for what a driver has no step for.
#pragma once
#include <string>

#include "replay/recording.h"

namespace dlasim {

/// The header. `recording.outputs` with their contents after the run.
std::string c_program(const Recording& recording, const Hardware& hardware);

}  // namespace dlasim
