// A probe records in which cycles a signal at a unit boundary is 1. It hangs on a link as a pointer
// that is null when nobody asked, so probes that are off cost one test.
#pragma once
#include <algorithm>
#include <vector>

#include "base/cycle.h"

namespace dlasim {

class Probe {
public:
    struct Run {
        Cycle start, length;
    };

    /// The signal has this value from cycle `at` on.
    void level(Cycle at, bool value)
    {
        if (value == high_) return;
        high_ = value;
        if (value) since_ = at;
        else if (at > since_) runs_.push_back({since_, at - since_});
    }
    /// The signal is 1 for `length` cycles from `start` on. May be said ahead of time, in any order.
    void run(Cycle start, Cycle length) { runs_.push_back({start, length}); }

    /// All cycles in [from, to) in which the signal was 1, as disjoint runs in order.
    std::vector<Run> runs(Cycle from, Cycle to) const
    {
        std::vector<Run> all = runs_;
        if (high_ && to > since_) all.push_back({since_, to - since_});
        std::sort(all.begin(), all.end(), [](const Run& a, const Run& b) { return a.start < b.start; });
        std::vector<Run> merged;
        for (const Run& run : all) {
            const Cycle start = std::max(run.start, from), end = std::min(run.start + run.length, to);
            if (start >= end) continue;
            if (!merged.empty() && merged.back().start + merged.back().length >= start) {
                Run& last = merged.back();
                last.length = std::max(last.start + last.length, end) - last.start;
            } else {
                merged.push_back({start, end - start});
            }
        }
        return merged;
    }

private:
    std::vector<Run> runs_;
    bool high_ = false;
    Cycle since_ = 0;
};

}  // namespace dlasim
