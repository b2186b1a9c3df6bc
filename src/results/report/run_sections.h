// Sections of a result that every run has: units by phase, traffic by port, what a DRAM says.
#pragma once
#include "base/files/keys.h"
#include "config/json_object.h"
#include "jobs/bounds.h"
#include "workload/run_result.h"

namespace dlasim {

/// By name; absent if the run has none.
OrderedJson units_json(const RunResult& run);
OrderedJson port_json(const PortTraffic& port, std::uint32_t beat_bytes);
/// What a DRAM says of itself; the ideal memory says nothing.
OrderedJson memory_report_json(const MemoryReport& report);
/// Cycles by name.
OrderedJson bounds_json(const std::vector<Bound>& bounds);
/// Whether the machine was measured on the RTL; the suffix of its name in tables: "" or ", unmeasured".
bool was_measured(const Hardware& hardware, const Program& program);
const char* measured_text(const Hardware& hardware, const Program& program);
/// Keys of units/*, traffic/dbb, traffic/cvsram and hazards.
void place_run_keys(std::vector<PlacedKey>& keys);
/// Keys of area, energy and power, which are added to a finished result: power_profile.h.
void place_silicon_keys(std::vector<PlacedKey>& keys);

}  // namespace dlasim
