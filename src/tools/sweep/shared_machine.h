// A machine that runs several workloads at their rates: load, latency of each, power of accelerator and memory, from the rows of its
// points.
//
//   load          sum of rate x time of a frame, CPU fallback included
//   system_mw     sum of rate x total_uj, and for the rest of the time the idle powers of accelerator and DRAM
//   memory_mw     of these, the memory
//   uj_per_frame  system_mw over the frames a second of all
//   latency_ms    of a workload, from release to end at worst: schedule.h
#pragma once
#include <vector>

#include "base/files/json_text.h"
#include "sweep/machines.h"

namespace dlasim {

/// Adds these figures to a machine's row; null where a point lacks what they need. `rows`: of each workload of the question. Returns the
/// frames that share the machine, one kind a workload.
std::vector<PeriodicWork> add_shared_figures(nlohmann::ordered_json& row, const std::vector<const nlohmann::ordered_json*>& rows,
                                             const MachineQuestion& question);
/// What is required of such a machine beside what the sweep says: a load of at most 1, and every deadline.
const std::vector<Requirement>& load_requirement();

}  // namespace dlasim
