// Writes a program as a case of interfaces.md 3: what read_measured_case() reads.
//
// Error  ConfigError for what the format has no words for: a step of the host between waits, a DRAM.
#pragma once
#include <nlohmann/json.hpp>

#include "replay/recording.h"

namespace dlasim {

/// `expected`: its events, or an empty object.
nlohmann::ordered_json case_json(const MeasuredCase& measured, const nlohmann::ordered_json& expected);

}  // namespace dlasim
