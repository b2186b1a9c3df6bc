// dlasim sweep --best FIGURE --prove: the best machine, and of every other one why it is not, without running all. docs/SWEEPS.md.
#pragma once
#include "app/commands/sweep_command.h"
#include "app/sweep/sweep_folder.h"
#include "config/sweep/sweep.h"
#include "silicon/technology.h"

namespace dlasim {

int decide_points(const SweepOptions& options, const Sweep& sweep, const silicon::Technology& technology, SweepFolder& folder,
                  const PageFacts& facts);

}  // namespace dlasim
