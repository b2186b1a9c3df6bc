// What a search for a better program tried and changed (`--optimise`): in result.json, plan.json and on the terminal.
//
// Shapes  steps in the order they run; cycles of a step are from where it could start to its last interrupt (StepTimes).
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/files/keys.h"
#include "config/json_object.h"

namespace dlasim {

/// Another value of a decision of a step: "pooled", "true", "false".
struct ChangedDecision {
    std::string step, decision, was, is;
    std::string text() const { return decision + ": " + was + " to " + is; }
};

/// One that was kept: by how much it bettered the objective, and the bytes of both ports grew. The first of two that were made together
/// may have gained nothing alone.
struct KeptDecision : ChangedDecision {
    double gained = 0;
    std::string unit;  // the objective
    double dbb_bytes = 0, cvsram_bytes = 0;
    bool with_next = false;  // made together with the next one
};

/// Of the program that was found, with what else was tried of it alone.
struct SearchedStep {
    std::string name;
    std::optional<std::int64_t> before{};  // cycles in the program at the start; none if it had no such step
    std::int64_t after = 0;
    std::string bound;
    std::uint64_t bound_cycles = 0;
    std::uint64_t tried = 0, ruled_out = 0, impossible = 0;  // simulated, not run because of their bounds, refused by the planner
    std::optional<ChangedDecision> next{};                   // the best of those that were simulated
    double lost = 0;                                         // by it, of the objective
    bool misses = false;                                     // it misses a requirement
    bool all = true;                                         // nothing of it is left to try

    double above_bound() const;  // a share of the bound
    std::string why() const;     // no other plan of it was taken
};

struct SearchReport {
    struct Figure {
        std::string name;
        double before = 0, after = 0;
    };

    std::string best, required, missed;  // the objective; what the program must meet, and does not
    std::vector<Figure> figures;         // the objective's first
    std::uint64_t tries = 0, known = 0;  // simulated, and of earlier searches
    bool all = false;                    // no other decision of a step, or of two neighbours, is better
    std::vector<KeptDecision> kept;
    std::vector<SearchedStep> steps;
};

std::string search_text(const SearchReport& report);
/// For result.json.
OrderedJson search_json(const SearchReport& report);
std::vector<PlacedKey> search_keys();
/// For plan.json: what was kept.
OrderedJson kept_json(const SearchReport& report);

}  // namespace dlasim
