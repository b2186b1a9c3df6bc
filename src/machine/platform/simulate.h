// A workload through a machine: the only way in which something runs. SystemC's kernel is a singleton, so a process simulates once.
#pragma once
#include "platform/machine.h"

namespace dlasim {

struct SimulateOptions {
    bool timing_only = false, stepping = false;
    // Progress in units of Workload::work and stamps passed; false stops the run.
    std::function<bool(Cycle now, std::uint64_t done, std::size_t stamps)> keep_going;
    bool check_dram = false;    // every command of a DRAM goes through its checker
    bool events = false;        // record probes and bus logs
    bool all_commands = false;  // bus logs have all commands, not only the first
    bool accesses = false;      // keep those of the register bus
    bool causes = true;         // find what the cycles went to
    bool operations = false;    // when each operation of the program ran
    bool hazards = false;       // look for accesses out of order
    Cycle sum_up_every = 0;     // cycles between two sums of causes, for tests; 0: as there is memory for notes
    Cycle cycle_limit = kNever;
    std::function<void(const Sample&)> on_sample = {};  // at interrupts, and every `sample_every` cycles
    std::size_t even_samples = 0;                       // at most this many more, evenly over the run
    Cycle sample_every = 0;                             // 0: at interrupts only
};

/// Throws ConfigError where the memory cannot hold what the workload uses.
RunResult simulate(const Workload& workload, Host& host, const SimulateOptions& options);

}  // namespace dlasim
