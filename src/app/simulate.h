// One layer through the machine, from tensors to comparison: what `run`, sweeps and tests share.
#pragma once
#include <functional>
#include <optional>

#include "config/layer.h"
#include "golden/compare.h"
#include "golden/expected.h"
#include "lowering/plan.h"
#include "lowering/transfer_plan.h"
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
    std::optional<Tensor> output;              // none with timing_only, of copies, or when nothing is written
    std::optional<Difference> expected;        // from the tensor of the user's, where there is one
    double wall_seconds = 0, cpu_seconds = 0;  // of Machine::run
};

/// Fills memory, runs the program, compares memory.
Simulation simulate(const Hardware& hardware, const MemorySpec& memory, const TransferMemory& contents, const TransferPlan& plan,
                    const SimulateOptions& options);
/// A process simulates once: SystemC's kernel is a singleton.
Simulation simulate(const Layer& layer, const Hardware& hardware, const MemorySpec& memory, const LayerTensors& tensors, const Plan& plan,
                    const SimulateOptions& options);

}  // namespace dlasim
