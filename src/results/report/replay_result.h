// What the replay of a recording says of itself: what its program costs, without a layer to compare it with.
#pragma once
#include "base/files/keys.h"
#include "replay/recording.h"
#include "report/replay_operations.h"

namespace dlasim {

struct Replayed {
    const MeasuredCase& what;
    const RunResult& run;
    const std::vector<std::vector<std::uint8_t>>& contents;  // of its regions after the run
    const std::vector<loadable::ProgramOperation>& operations;
    bool values = true;                      // the machine computed them
    CaseComparison comparison = compared();  // with what the recording expects

    /// Signals, regions and register checks that are not as expected.
    std::size_t wrong() const { return comparison.differences.size() + run.failed_checks.size(); }
    ReplayedOperations ran() const { return {operations, run, what.hardware}; }
    /// What was expected and was not compared, and why; empty if all was.
    std::string not_compared() const;
    /// A line for the first difference, and one for what else differs; empty if nothing does.
    std::string differences_text() const;

private:
    CaseComparison compared() const;
};

nlohmann::ordered_json replay_json(const Replayed& replayed);
std::vector<PlacedKey> replay_keys();
std::string replay_table(const Replayed& replayed);

}  // namespace dlasim
