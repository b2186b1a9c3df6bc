// What is known of a point before it runs: its area, and what no run of it can do better. So machines that cannot meet what is required,
// or cannot be the best, need not run.
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
    double frames = 1;                       // of a run
    double memory_uj = 0;                    // of the energy
    double idle_mw = 0, memory_idle_mw = 0;  // at least, in every moment

    /// As columns of its row.
    KnownPoint known() const;
};

/// None where the point cannot be.
std::optional<PointBounds> bounds_of(const Sweep& sweep, std::size_t index, const silicon::Technology& technology);
/// The same without planning the work: only the machine is looked at.
std::optional<KnownPoint> outline_of_point(const Sweep& sweep, std::size_t index, const silicon::Technology& technology);
/// Which requirement the machine of a point cannot meet, and what is known of it; empty if it may meet all. Empty too where a workload
/// cannot be.
std::string machine_cannot_meet(const Sweep& sweep, std::size_t index, const silicon::Technology& technology,
                                const MachineQuestion& question);

}  // namespace dlasim
