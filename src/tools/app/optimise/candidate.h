// A network as a search changes it: only tilings and decisions differ, and its simulation in a process of its own.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "app/apart.h"
#include "app/optimise/objective.h"
#include "network/plan.h"
#include "silicon/technology.h"

namespace dlasim {

/// Tilings and decisions of a network.
struct Candidate {
    std::vector<Partition> partitions;  // by layer
    std::vector<Decisions> decided;     // by layer
    Decisions of_network;

    static Candidate of(const Network& network);
    void give_to(Network& network) const;
    /// Of every field: equal where candidates are.
    std::string key() const;
};

/// What is known of a candidate.
struct TrialOutcome {
    bool possible = false;           // the machine can run it
    std::uint64_t least_cycles = 0;  // by its bounds
    std::optional<TriedProgram> tried;
};

/// What a simulation beside this process needs.
struct TrialMachine {
    const Hardware& hardware;
    const MemorySpec& memory;
    const silicon::Technology& technology;
    std::optional<double> host_ns;
};

/// Plans and simulates the network: in a child. `as_asked`: the planner could decide so. `worth_it`: false where it need not run.
void give_outcome(const Network& network, const NetworkOptions& options, const TrialMachine& machine,
                  const std::function<bool(const NetworkPlan& plan)>& as_asked,
                  const std::function<bool(std::uint64_t least_cycles)>& worth_it, const Apart::Give& give);
/// What the child gave; waits for it.
TrialOutcome take_outcome(Apart& apart);

}  // namespace dlasim
