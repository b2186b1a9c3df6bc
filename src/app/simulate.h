// A job through the machine, from its data to the comparison: what `run`, sweeps and tests share.
#pragma once
#include <functional>
#include <memory>
#include <optional>

#include "jobs/job.h"
#include "network/check.h"
#include "platform/machine.h"

namespace dlasim {

struct SimulateOptions {
    bool timing_only = false, stepping = false;
    std::function<bool(Cycle now, std::uint64_t work)> keep_going;  // what Machine::work() says; false stops the run
    bool check_dram = false;                                        // every command of a DRAM goes through its checker
    bool events = false;                                            // record probes and bus logs
};

struct Simulation {
    RunResult run;
    std::optional<Comparison> comparison;      // none with timing_only, or when the run did not end
    std::optional<Tensor> output;              // none with timing_only, or when no tensor is made
    std::optional<Difference> expected;        // from the tensor of the user's, where there is one
    double wall_seconds = 0, cpu_seconds = 0;  // of Machine::run
};

/// Fills memory, runs the program, compares memory. A process simulates once: SystemC's kernel is a singleton.
Simulation simulate(const Job& job, const SimulateOptions& options);

struct NetworkSimulation {
    RunResult run;
    std::vector<TensorFinding> findings;  // none with timing_only, or when the run did not end
    ReadPlace read;                       // the memory after it, as long as `machine` is there
    double wall_seconds = 0, cpu_seconds = 0;
    std::shared_ptr<Machine> machine;
};

/// A program of a network's plan, without values.
RunResult simulate_time(const NetworkPlan& plan, const NetworkProgram& program);

/// The same for a network; the images of its plan are let go.
NetworkSimulation simulate(NetworkPlan& plan, const SimulateOptions& options);

}  // namespace dlasim
