// A job through the machine, from its data to the comparison: what `run`, sweeps and tests share.
#pragma once
#include <functional>
#include <memory>
#include <optional>

#include "jobs/job.h"
#include "network/images.h"
#include "platform/machine.h"

namespace dlasim {

inline MemorySpace space(const Place& place) { return place.primary ? MemorySpace::Primary : MemorySpace::Secondary; }

struct SimulateOptions {
    bool timing_only = false, stepping = false;
    std::function<bool(Cycle now, std::uint64_t work)> keep_going;  // what Machine::work() says; false stops the run
    bool check_dram = false;                                        // every command of a DRAM goes through its checker
    bool events = false;                                            // record probes and bus logs
    bool hazards = false;                                           // look for accesses out of order
    bool keep_tensors = false;                                      // values of every tensor of a network
};

struct Simulation {
    RunResult run;
    std::optional<Comparison> comparison;  // none with timing_only, or when the run did not end
    std::optional<Tensor> output;          // none with timing_only, or when no tensor is made
    std::optional<Difference> expected;    // from the tensor of the user's, where there is one
    std::optional<Difference> direct;      // of a Winograd layer, from the direct convolution
};

/// Fills memory, runs the program, compares memory. A process simulates once: SystemC's kernel is a singleton.
Simulation simulate(const Job& job, const SimulateOptions& options);

struct NetworkSimulation {
    RunResult run;
    std::vector<TensorFinding> findings;  // none with timing_only, or when the run did not end
    std::vector<Tensor> tensors;          // with keep_tensors: by tensor, as they were when they were complete
    ReadPlace read;                       // the memory after it, as long as `machine` is there
    std::shared_ptr<Machine> machine;
};

/// A program of a network's plan, without values.
RunResult simulate_time(const NetworkPlan& plan, const NetworkProgram& program);

/// What goes through a network with numbers, image by image, and who looks at what came out.
struct ImageSource {
    std::function<std::vector<Tensor>(std::size_t image)> inputs;                     // in the order of the network's
    std::function<void(std::size_t image, const std::vector<Tensor>& tensors)> done;  // by tensor of the plan
};

/// The same for a network; the images of its plan are let go. `source`: of a network with numbers, unless with timing_only.
NetworkSimulation simulate(NetworkPlan& plan, const SimulateOptions& options, const ImageSource* source = nullptr);

}  // namespace dlasim
