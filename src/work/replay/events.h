// The events file of a run: the form of "expected" in interfaces.md 3.
#pragma once
#include <nlohmann/json.hpp>

#include "base/crc32.h"
#include "base/files/keys.h"
#include "replay/recording.h"

namespace dlasim {

inline constexpr std::size_t kRecordedRuns = 400;  // of a probe, in the form of the measured cases

/// Regions of memory and the bytes there after a run, in order.
struct WrittenRegions {
    Recording recording;
    std::vector<std::vector<std::uint8_t>> contents;
};

/// `contents`: the bytes of each output region after the run, in order; `runs`: the limit per probe.
nlohmann::ordered_json events_json(const RunResult& result, const Recording& recording,
                                   const std::vector<std::vector<std::uint8_t>>& contents, bool secondary,
                                   std::size_t runs = kRecordedRuns);

/// Idle runs of a unit, and what the key says.
inline constexpr KeyRow kIdleRunsKey{"idle_runs", "list", "",
                                     "[least length, runs, their cycles] for every power of two: runs of cycles with the clocks of all "
                                     "domains off, between two cycles with a clock on, that ended in the window",
                                     "the unit gates its clock"};
nlohmann::ordered_json idle_runs_json(const UnitReport& unit);
/// Totals of a port, as in the events.
nlohmann::ordered_json port_totals_json(const PortTraffic& port);
std::vector<PlacedKey> port_total_keys();
/// A region of memory after the run, as in the events.
nlohmann::ordered_json region_json(const OutputRegion& place, const std::vector<std::uint8_t>& bytes);
std::vector<PlacedKey> region_keys();
/// Its keys.
std::vector<PlacedKey> event_keys();

/// The content of a file. A name that is no UTF-8 becomes one.
std::string json_file_text(const nlohmann::ordered_json& json, int indent);

}  // namespace dlasim
