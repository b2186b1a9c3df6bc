// What the replay of a recording says of itself: what its program costs, without a layer to compare it with.
#pragma once
#include "files/keys.h"
#include "replay/recording.h"

namespace dlasim {

struct Replayed {
    const MeasuredCase& what;
    const RunResult& run;
    const std::vector<std::vector<std::uint8_t>>& contents;    // of its regions after the run
    std::vector<std::string> differing = differing_regions();  // in words, where a recording says what must be there

    /// Regions and register checks that are not as expected.
    std::size_t wrong() const { return differing.size() + run.failed_checks.size(); }

private:
    std::vector<std::string> differing_regions() const;
};

nlohmann::ordered_json replay_json(const Replayed& replayed);
std::vector<PlacedKey> replay_keys();
std::string replay_table(const Replayed& replayed);

}  // namespace dlasim
