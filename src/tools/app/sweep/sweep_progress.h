// How far a sweep is, and how its points ended.
#pragma once
#include <chrono>
#include <cstddef>
#include <string>

#include "sweep/store.h"

namespace dlasim {

/// How many points ended how.
struct Tally {
    std::size_t ended = 0, results = 0, refused = 0, differ = 0, broke = 0, no_memory = 0;
    void add(int status);
    /// The worst of the points.
    int status() const;
    /// "18 points: 15 with a result, 2 rejected, 1 hung or killed".
    std::string text(std::size_t points) const;
};

/// Says how far the sweep is: a line a point, and on a terminal when it will end.
class SweepProgress {
public:
    SweepProgress(std::size_t points, std::size_t before, bool quiet);
    ~SweepProgress() { wipe(); }

    void point(const KeptPoint& kept, std::size_t done);

private:
    using Clock = std::chrono::steady_clock;
    std::string left_text(std::size_t done) const;
    void wipe();

    std::size_t points_, before_;
    bool quiet_, terminal_, shown_ = false;
    Clock::time_point start_ = Clock::now();
};

}  // namespace dlasim
