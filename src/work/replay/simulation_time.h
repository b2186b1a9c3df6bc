// How long a run took, in every report alike: the simulation of the machine. Reading and planning, golden values, comparisons and what the
// host does between two operations of the program are no part of it.
#pragma once
#include <string>

#include "base/files/keys.h"
#include "workload/run_result.h"

namespace dlasim {

inline constexpr KeyRow kWallSecondsKey{
    "wall_seconds", "number", "s", "time of the simulation of the machine: without planning, golden values, comparisons and CPU fallback"};
inline constexpr KeyRow kCyclesPerSecondKey{"simulated_cycles_per_second", "number", "1/s", "from reset to the end, over that time"};

/// From reset to the end.
inline double cycles_per_second(const RunResult& run) { return run.wall_seconds > 0 ? static_cast<double>(run.end) / run.wall_seconds : 0; }
/// A line of a table.
std::string simulation_text(const RunResult& run);
/// On stderr, of the whole process and of the simulation.
void say_cpu_seconds(const RunResult& run);

}  // namespace dlasim
