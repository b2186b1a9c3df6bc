// What a DRAM reports: statistics and energy as JSON and as a page of text.
#pragma once
#include <string>
#include <vector>

#include "base/files/keys.h"
#include "dram/report/energy.h"

namespace dlasim::dram {

/// Data-bus cycles with data, or lost to a row of the table or to another command: what the device took for these requests.
Cycle held(const Statistics& s);

/// Data-bus cycles that were lost, by owner, largest first: owners of the rows of the constraint
/// table with the rules of the table, and no_request, scheduling, unfinished.
std::vector<std::pair<std::string, Cycle>> lost_by_owner(const Config& config, const Statistics& statistics);

/// One entry for the whole memory and one for each channel; statistics_keys() lists the keys.
nlohmann::ordered_json statistics_json(const Config& config, const std::vector<Statistics>& channels);
std::vector<PlacedKey> statistics_keys();
std::string statistics_text(const Config& config, const std::vector<Statistics>& channels);

}  // namespace dlasim::dram
