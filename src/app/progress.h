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
    /// `atoms`: what the MAC array has to take in all.
    Progress(std::string name, std::uint64_t atoms, bool quiet);
    ~Progress();
    void show(Cycle now, std::uint64_t done);

private:
    using Clock = std::chrono::steady_clock;
    std::string name_;
    std::uint64_t atoms_;
    bool on_, shown_ = false;
    Clock::time_point start_ = Clock::now(), next_ = start_ + std::chrono::seconds(2);
};

}  // namespace dlasim
