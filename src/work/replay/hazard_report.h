// Hazards of a run as JSON and as text: for every command that runs a program.
#pragma once
#include <string>
#include <vector>

#include "base/files/keys.h"
#include "workload/run_result.h"

namespace dlasim {

/// Absent where none were looked for.
nlohmann::ordered_json hazards_json(const RunResult& run);
/// Keys of hazards.
std::vector<PlacedKey> hazard_keys();
/// A line of a table, and one for each of the first; nothing where none were looked for.
std::string hazards_text(const RunResult& run);
/// There are some.
inline bool hazardous(const RunResult& run) { return run.hazards && (run.hazards->found != 0 || run.hazards->rules.found != 0); }

}  // namespace dlasim
