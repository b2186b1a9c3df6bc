// Finds the best machine of a space without running all: a machine runs only if its bounds let it be the best.
//
//   area ──► bounds of its points ──► a point runs ──► .. ──► all have run        each time what is known gets narrower, and the machine
//     │             │                     │                    │                  goes back into the order of the best it may be
//     └─────────────┴─────────────────────┴────────────────────┴──► lost: it cannot meet a requirement, or be better than one that ran
//
// It ends when no machine is left that may be better than the best one that meets everything. Each other one has the reason why not.
// What runs is decided by results alone, whatever runs side by side.
#pragma once
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sweep/machines.h"

namespace dlasim {

struct DecisionProblem {
    /// A point: a machine, by number, with one of its workloads.
    struct Point {
        std::size_t machine = 0, workload = 0;
        auto operator<=>(const Point&) const = default;
    };
    std::size_t machines = 0;
    std::function<KnownPoint(const Point&)> outline;               // without planning: little, and soon
    std::function<std::optional<KnownPoint>(const Point&)> bound;  // none: it cannot be
    /// Runs points and gives their rows. Nothing after an interrupt.
    std::function<std::optional<std::vector<nlohmann::ordered_json>>(const std::vector<Point>&)> run;
};

/// Of a machine: why it is not the best; empty of that one, and where a point of it has no result.
struct DecidedMachine {
    std::string lost;
    bool cannot_meet = false;        // the reason is a requirement
    std::vector<KnownPoint> points;  // by workload, as far as they are known
};

struct Decision {
    bool interrupted = false;
    std::vector<DecidedMachine> machines;
    std::size_t planned = 0;                 // machines of which the bounds were looked at
    std::size_t cannot_meet = 0, worse = 0;  // machines that did not run in whole, by why
};

/// By question.best.
Decision decide(const DecisionProblem& problem, const MachineQuestion& question);

}  // namespace dlasim
