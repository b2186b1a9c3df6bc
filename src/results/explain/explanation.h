// Why a run took its cycles, and what would change it: its result.json in sentences. docs/CAUSES.md.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "base/files/keys.h"
#include "compare/recorded_run.h"
#include "explain/advice.h"

namespace dlasim {

/// Cycles of one cause, of all clients.
struct CauseTotal {
    Cause cause;
    std::int64_t cycles = 0;
    Amounts clients;  // by memory client, largest first; of causes that have one
    Amounts steps;    // likewise by step, where there are steps
};

/// A step of a network against its largest bound.
struct StepLoss {
    std::string name, bound;             // of the step; of its bound, "cacc"
    std::int64_t cycles = 0, least = 0;  // what it adds to the run; its bound
    std::vector<CauseTotal> causes;      // largest first
    std::string why;                     // a sentence
    std::int64_t lost() const { return cycles - least; }
};

/// Consecutive steps.
struct RunPart {
    std::string first, last;  // steps
    std::int64_t from = 0, to = 0;
    std::vector<CauseTotal> causes;  // largest first
};

struct Explanation {
    RecordedRun run;
    std::string bound;               // the largest of the run; empty if the result has none
    std::int64_t least = 0;          // its cycles
    std::string cut;                 // of a layer in parts: how, in a sentence
    std::vector<CauseTotal> causes;  // largest first; together they are the cycles
    std::vector<StepLoss> losses;    // of steps with a bound, largest first
    std::vector<RunPart> parts;      // of runs with steps: about a tenth of the run each
};

/// ConfigError if it is no result, or one of --no-causes.
Explanation explain(const Json& result, const std::string& file);

OrderedJson explanation_json(const Explanation& explanation);
std::vector<PlacedKey> explanation_keys();
/// Within 80 columns.
std::string explanation_text(const Explanation& explanation);
/// "array idle: accumulator full".
std::string cause_words(Cause cause);

}  // namespace dlasim
