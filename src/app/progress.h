// The progress line of a run: shown on a terminal when a run lasts longer than two seconds.
//
//   conv3_2  cycle 1,234,567  about 42 %  9.8 M cycles/s  12 s left
#pragma once
#include <chrono>
#include <cstdint>
#include <string>

#include "base/cycle.h"

namespace dlasim {

class Progress {
public:
    /// `expected`: the cycles the run takes at least, from its lower bounds.
    Progress(std::string name, Cycle expected, bool quiet);
    ~Progress();
    void show(Cycle now);

private:
    using Clock = std::chrono::steady_clock;
    std::string name_;
    Cycle expected_;
    bool on_, shown_ = false;
    Clock::time_point start_ = Clock::now(), next_ = start_ + std::chrono::seconds(2);
};

}  // namespace dlasim
