// The steps of a network one after the other, each with the machine for itself: in a process of its own, since a process simulates once.
#pragma once
#include <sys/types.h>

#include <cstdint>
#include <vector>

#include "network/plan.h"

namespace dlasim {

class StepsApart {
public:
    /// Starts it: time only. It dies with this process.
    explicit StepsApart(const NetworkPlan& plan);
    StepsApart(const StepsApart&) = delete;
    StepsApart& operator=(const StepsApart&) = delete;
    ~StepsApart();

    /// Cycles of every step, 0 of those of the host; waits for them. Throws MachineError if the machine hangs.
    std::vector<std::int64_t> cycles();

private:
    [[noreturn]] void fail();

    std::size_t steps_;
    pid_t child_ = -1;
    int pipe_ = -1;
};

}  // namespace dlasim
