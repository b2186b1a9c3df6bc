// What the cycles of a run went to, as JSON and as text: for every command that runs a program. docs/CAUSES.md.
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/files/keys.h"
#include "facts/causes.h"

namespace dlasim {

inline constexpr KeyRow kCausesKey{"causes", "object", "cycles",
                                   "the causes of the cycles, a tree of names; their sum is `cycles`: [CAUSES.md](CAUSES.md)",
                                   "the run completed"};

/// A tree of name to cycles; absent if there are none.
nlohmann::ordered_json causes_json(const std::vector<CauseCycles>& causes);
/// "memory: latency, CDMA_WT"
std::string cause_text(ExactCause cause);
/// At most five lines of a table: the largest ones, and how much the others are together.
std::string causes_text(const std::vector<CauseCycles>& causes);

}  // namespace dlasim
