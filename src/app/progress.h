// The progress line of a run: shown on a terminal when a run lasts longer than two seconds.
//
//   conv3_2  cycle 1234567  42 % of MACs  9.80 M cycles/s  about 12 s left
#pragma once
#include <chrono>
#include <cstdint>
#include <string>

#include "base/cycle.h"

namespace dlasim {

class Progress {
public:
    /// `work`: how much there is to do in all, counted in `unit`.
    Progress(std::string name, const char* unit, std::uint64_t work, bool quiet);
    ~Progress();
    void show(Cycle now, std::uint64_t done);

private:
    using Clock = std::chrono::steady_clock;
    std::string name_;
    const char* unit_;
    std::uint64_t work_;
    bool on_, shown_ = false;
    Clock::time_point start_ = Clock::now(), next_ = start_ + std::chrono::seconds(2);
};

}  // namespace dlasim
