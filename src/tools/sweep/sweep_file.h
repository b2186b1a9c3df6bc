// A sweep's file with all that its expressions may use: what is known of a machine before it runs.
#pragma once
#include "config/sweep/sweep.h"

namespace dlasim {

/// Its exclusions may use area_mm2, in the technology that the file names.
Sweep read_sweep_file(const std::string& path);
/// The point of a sweep's file that a command line names.
SweepPoint named_point(const std::string& path, std::size_t index);

}  // namespace dlasim
