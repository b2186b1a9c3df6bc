// Broken programming rules as JSON and as text.
#pragma once
#include <string>
#include <vector>

#include "base/files/keys.h"
#include "workload/rule_breach.h"

namespace dlasim {

nlohmann::ordered_json rules_json(const RuleReport& report);
std::vector<PlacedKey> rule_keys();
/// A line of a table, and one for each of the first.
std::string rules_text(const RuleReport& report);

}  // namespace dlasim
