// A row: what the tables say of a point. Nothing in it depends on the clock on the wall.
#pragma once
#include <filesystem>

#include "config/sweep.h"
#include "sweep/figures.h"
#include "sweep/store.h"

namespace dlasim {

/// How a point's process ended, and its row. `folder`: of the point.
KeptPoint row_of(const Sweep& sweep, const EnergyTable& energy, std::size_t index, int status, const std::filesystem::path& folder);
std::vector<PlacedKey> row_keys();
/// True if the point has figures.
bool has_result(int status);
/// True if its process was ended from outside: it says nothing of the point.
bool was_killed(int status);

}  // namespace dlasim
