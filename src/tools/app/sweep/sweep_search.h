// dlasim sweep --search: the points that are best in cycles, energy and area, without running all. docs/SWEEPS.md.
#pragma once
#include "app/commands/sweep_command.h"
#include "app/sweep/sweep_folder.h"
#include "config/sweep/sweep.h"
#include "silicon/technology.h"

namespace dlasim {

int search_points(const SweepOptions& options, const Sweep& sweep, const silicon::Technology& technology, SweepFolder& folder,
                  const PageFacts& facts);

}  // namespace dlasim
