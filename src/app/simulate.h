// One layer through the machine, from tensors to comparison: what `run`, sweeps and tests share.
#pragma once
#include <functional>
#include <optional>

#include "config/layer.h"
#include "golden/compare.h"
#include "lowering/plan.h"
#include "platform/machine.h"

namespace dlasim {

struct SimulateOptions {
    bool timing_only = false, stepping = false;
    std::function<bool(Cycle now, std::uint64_t atoms)> keep_going;  // atoms through the array so far; false stops the run
    bool check_dram = false;                // every command of a DRAM goes through its checker
    bool events = false;                    // record probes and bus logs
};

struct Simulation {
    RunResult run;
    std::optional<Comparison> comparison;  // none with timing_only, or when the run did not end
    double wall_seconds = 0;
};

/// A process simulates once: SystemC's kernel is a singleton.
Simulation simulate(const Layer& layer, const Hardware& hardware, const MemorySpec& memory, const LayerTensors& tensors, const Plan& plan,
                    const SimulateOptions& options);

}  // namespace dlasim
