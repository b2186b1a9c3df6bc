// What changes over the time of a run, in parts of the same length.
//
//   machine ── samples: counters since t0 ──► OverTime ──► page, counters of the timeline
#pragma once
#include <cstddef>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "workload/run_result.h"

namespace dlasim {

class OverTime {
public:
    static constexpr std::size_t kMaxParts = 320;

    /// Two quantities that grow: what the accelerator and the memory have spent up to a cycle, pJ; both 0 where nothing is known.
    using Energy = std::function<std::pair<double, double>(Cycle cycle)>;

    void sample(const Sample& sample) { samples_.push_back(sample); }

    /// A row of numbers for each part: [clock of a unit], [bytes of a client], rows of a DRAM, [mW], mean levels.
    struct Series {
        std::string group, name, unit;
        std::vector<double> values;
    };
    struct Parts {
        Cycle width = 0;                 // of all parts but the last one
        std::vector<std::int64_t> ends;  // last cycle of each
        std::vector<Series> series;
    };
    /// Of the cycles that `run` reports. Empty where nothing was sampled.
    Parts parts(const RunResult& run, const Energy& energy, double clock_mhz) const;

private:
    std::vector<Sample> samples_;
};

nlohmann::ordered_json parts_json(const OverTime::Parts& parts);

}  // namespace dlasim
