// dlasim sweep --search: the points that are best in cycles, energy and area, without running all. docs/SWEEPS.md.
#pragma once
#include "app/sweep_command.h"
#include "app/sweep_folder.h"
#include "config/sweep.h"
#include "sweep/energy.h"

namespace dlasim {

int search_points(const SweepOptions& options, const Sweep& sweep, const EnergyTable& energy, SweepFolder& folder, const PageFacts& facts);

}  // namespace dlasim
