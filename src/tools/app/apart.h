// Simulations in a process of their own, since a process simulates once: the steps of a network one after the other, each with the machine
// for itself; a layer, to see how long it takes.
#pragma once
#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "jobs/job.h"
#include "network/plan.h"

namespace dlasim {

/// A child of this process that gives numbers, and dies with it.
class Apart {
public:
    using Give = std::function<void(std::int64_t number)>;
    /// Starts it. `option`: why there is one, for messages. `simulate` runs in the child and gives a status (status.h).
    Apart(std::string option, const std::function<int(const Give& give)>& simulate);
    Apart(const Apart&) = delete;
    Apart& operator=(const Apart&) = delete;
    ~Apart();

    /// Waits for the next number. Throws ConfigError if memory ran out, MachineError if the child ended otherwise without one.
    std::int64_t next();

private:
    [[noreturn]] void fail();

    const std::string option_;
    pid_t child_ = -1;
    int pipe_ = -1;
};

class StandaloneSteps {
public:
    /// Starts it: time only.
    explicit StandaloneSteps(const NetworkPlan& plan);
    /// Cycles of every step, 0 of those of the host; waits for them.
    std::vector<std::int64_t> cycles();

private:
    std::size_t steps_;
    Apart apart_;
};

struct NetworkCycles {
    std::uint64_t network = 0;
    std::vector<std::int64_t> steps;  // in their place in the network; of the host 0
};
/// Of a network as it is, time only, in a process of its own; waits for them.
NetworkCycles cycles_apart(const NetworkPlan& plan, const std::string& option);
/// Of the network, in this process; -1 if it hangs.
std::int64_t cycles_of(NetworkPlan plan);

/// How long a job without data takes by itself; none if the machine refuses it or hangs.
std::optional<std::uint64_t> cycles_apart(const Job& job, const std::string& option);

}  // namespace dlasim
