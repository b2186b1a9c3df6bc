// A row: what the tables say of a point. Nothing in it depends on the clock on the wall.
#pragma once
#include <filesystem>

#include "config/sweep/sweep.h"
#include "sweep/figures.h"
#include "sweep/store.h"

namespace dlasim {

/// How a point's process ended.
struct EndedPoint {
    std::size_t index = 0;
    int status = 0;
    const std::string& figures;  // figures_text() of its result, where it has one; of a machine that need not run what is known, as JSON
    std::uint64_t limit = 0;     // seconds of CPU time that it had
};
/// The result that a point reports.
std::string figures_text(const nlohmann::ordered_json& result);
/// Its row. `folder`: of the point.
KeptPoint row_of(const Sweep& sweep, const EndedPoint& ended, const std::filesystem::path& folder);
/// The row of a point that need not run.
KeptPoint row_without_run(const Sweep& sweep, std::size_t index, const nlohmann::ordered_json& area_mm2, const std::string& reason);
std::vector<PlacedKey> row_keys();
/// In single quotes where a shell needs them.
std::string shell_word(const std::string& text);
/// True if the point has figures.
bool has_result(int status);
/// True if its process was ended from outside, or had no memory: that says nothing of the point.
bool runs_again(int status);

}  // namespace dlasim
