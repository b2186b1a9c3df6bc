// What software did on the register bus, and what it saw of the interrupt pin: a line each.
//
//   r CYCLE ADDRESS VALUE   a read: its answer is there     I CYCLE 00000 00000000   the pin rises
//   w CYCLE ADDRESS VALUE   a write was accepted            i CYCLE 00000 00000000   it falls
//
// Cycles from reset, addresses and values hexadecimal.
#pragma once
#include <string>

#include "workload/run_result.h"

namespace dlasim {

/// In the order of the cycles.
std::string accesses_text(const RunResult& run);

}  // namespace dlasim
