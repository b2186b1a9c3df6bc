// What units did when, small enough for a page.
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "workload/run_result.h"

namespace dlasim {

/// The consecutive phases of a unit, or the cycles in which a signal was high.
struct Lane {
    std::string name;
    std::vector<PhaseRun> runs;  // without gated cycles; in order
};

/// Of every unit that did something, and of the beats of every memory client. pre: the run recorded events.
std::vector<Lane> lanes_of(const RunResult& run);

/// A lane in at most `most` bytes: {name, grain, from, data}. `data`: base64 of numbers in groups of seven bits, lowest first; each is
/// eight times the grains of a run plus its phase, gated ones too, from cycle `from` on. A grain is one cycle, or, where the lane does
/// not fit, as many as it takes. Grains of several phases have kMixed for the phase, followed by the cycles of each phase but gated in a
/// grain. So the cycles of a phase over the lane are what they were.
nlohmann::ordered_json lane_json(const Lane& lane, std::size_t most);

}  // namespace dlasim
