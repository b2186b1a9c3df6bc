// What `dlasim dram` writes: the configuration, the request pattern, the statistics.
#pragma once
#include <string>
#include <vector>

#include "base/files/keys.h"
#include "dram/check/checker.h"
#include "dram/statistics.h"

namespace dlasim::dram {

struct PatternRun {
    const std::string& pattern;
    const Config& config;
    const std::vector<Statistics>& channels;
    const Checker* checker;  // null: nothing was checked
};

/// The effective configuration, every derived value included.
nlohmann::ordered_json config_json(const Config& config);
nlohmann::ordered_json run_json(const PatternRun& run);
/// The keys of run_json(); those of the statistics are statistics_keys().
std::vector<PlacedKey> run_keys();

}  // namespace dlasim::dram
