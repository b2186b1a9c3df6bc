// The progress line of a run: shown on a terminal when a run lasts longer than two seconds.
//
//   vgg16  cycle 1,234,567  step 7 of 16 conv3_2  42 % of MACs  9.80 M cycles/s  about 12 s left
#pragma once
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/cycle.h"

namespace dlasim {

class Progress {
public:
    /// `work`: how much there is to do in all, counted in `unit`; `steps`: names of the parts, by stamp of the program.
    Progress(const std::string& name, const char* unit, std::uint64_t work, std::vector<std::string> steps, bool quiet);
    ~Progress();
    /// Progress of the work, and the number of stamps passed.
    void show(Cycle now, std::uint64_t done, std::size_t stamps);

private:
    using Clock = std::chrono::steady_clock;
    std::string name_;
    const char* unit_;
    std::uint64_t work_;
    std::vector<std::string> steps_;
    bool on_, shown_ = false;
    Clock::time_point start_ = Clock::now(), next_ = start_ + std::chrono::seconds(2);
};

}  // namespace dlasim
