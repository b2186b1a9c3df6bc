// What is known of a point before it runs: its area, and what no run of it can do better. So machines that cannot meet what is required
// need not run.
#pragma once
#include <cstddef>
#include <optional>
#include <string>

#include "config/sweep/sweep.h"
#include "silicon/technology.h"
#include "sweep/machines.h"
#include "sweep/search.h"

namespace dlasim {

struct PointBounds {
    Objectives least{};  // cycles, uJ and mm2, as the table rounds them; 1 cycle of what nothing bounds
    double clock_mhz = 0;
    double frames = 1;  // of a run
};

/// None where the point cannot be.
std::optional<PointBounds> bounds_of(const Sweep& sweep, std::size_t index, const silicon::Technology& technology);
/// Which requirement no run of the point can meet, and what is known of it; empty if it may meet all. `workload`: of the point
std::string cannot_meet(const PointBounds& bounds, const MachineQuestion& question, std::size_t workload);
/// The same of the machine of a point, whichever of its workloads fails. Empty too where a workload cannot be.
std::string machine_cannot_meet(const Sweep& sweep, std::size_t index, const silicon::Technology& technology,
                                const MachineQuestion& question);

}  // namespace dlasim
