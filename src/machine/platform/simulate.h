// A workload through a machine: the only way in which something runs. SystemC's kernel is a singleton, so a process simulates once.
#pragma once
#include "platform/machine.h"

namespace dlasim {

/// Throws ConfigError where the memory cannot hold what the workload uses.
RunResult simulate(const Workload& workload, Host& host, const SimulateOptions& options);

}  // namespace dlasim
