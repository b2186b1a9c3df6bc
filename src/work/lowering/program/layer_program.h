// Step 6 of the lowering, the last: passes become what software does, in order.
//
// Source  programming.md 1, sdp.md 1.3.
#pragma once
#include "lowering/plan.h"
#include "workload/program.h"

namespace dlasim {

/// Throws ConfigError if a register cannot hold its value.
Program layer_program(const Layer& layer, const LayerPlan& plan, const Hardware& hardware);

}  // namespace dlasim
