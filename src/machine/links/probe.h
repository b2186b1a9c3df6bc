// A probe records in which cycles a signal at a unit boundary is 1. It hangs on a link as a pointer
// that is null when nobody asked, so probes that are off cost one test.
#pragma once
#include <algorithm>
#include <cstdint>
#include <utility>
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
    /// The signal is 1 for `length` cycles from `start` on. May be recorded ahead of time, in any order.
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

/// A quantity over time: how full a buffer is, credits left. Changes may be recorded ahead of time, in any order.
class Level {
public:
    struct Change {
        Cycle at;
        std::int64_t by;  // or, with `set`, what it is
        bool set;
    };
    void add(Cycle at, std::int64_t by) { changes_.push_back({at, by, false}); }
    void set(Cycle at, std::int64_t value) { changes_.push_back({at, value, true}); }

    /// (cycle, value from it on), in order of time.
    std::vector<std::pair<Cycle, std::int64_t>> values() const
    {
        std::vector<Change> all = changes_;
        std::stable_sort(all.begin(), all.end(), [](const Change& a, const Change& b) { return a.at < b.at; });
        std::vector<std::pair<Cycle, std::int64_t>> values;
        std::int64_t value = 0;
        for (const Change& change : all) {
            value = change.set ? change.by : value + change.by;
            if (!values.empty() && values.back().first == change.at) values.back().second = value;
            else values.emplace_back(change.at, value);
        }
        return values;
    }

private:
    std::vector<Change> changes_;
};

}  // namespace dlasim
