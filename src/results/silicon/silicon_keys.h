// What results say of area, energy and power: keys of result.json and of `dlasim silicon --json`, computed in one place.
#pragma once
#include "base/files/keys.h"
#include "silicon/activity.h"

namespace dlasim::silicon {

/// Area, peak power and elements of a machine, unit by unit.
nlohmann::ordered_json machine_json(const Technology& technology, const Hardware& hardware);
std::vector<PlacedKey> machine_keys();

/// Adds area_mm2, energy_uj, power_mw, memory_uj, total_uj and `energy` to a result, after `cycles`; null where it has no units. The run,
/// where its energy is known.
std::optional<MeasuredRun> add_silicon(nlohmann::ordered_json& result, const Technology& technology);
std::vector<PlacedKey> silicon_keys();

}  // namespace dlasim::silicon
