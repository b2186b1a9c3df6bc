// After the run: every tensor of the network in the machine's memory against its golden one.
#pragma once
#include "golden/contents.h"
#include "network/plan.h"

namespace dlasim {

struct TensorFinding {
    std::size_t tensor = 0;
    Comparison comparison;
};

/// Memory before the run: inputs, weights, and a pattern where tensors are written. Images are let go.
void fill_memory(NetworkPlan& plan, const Contents::Write& write);
/// A step of the host: reads and writes the machine's memory.
void run_host_step(const NetworkPlan& plan, std::size_t number, const ReadPlace& read, const Contents::Write& write);
/// Of every tensor that a step makes, in the order of the steps. pre: planned with values
std::vector<TensorFinding> check_tensors(const NetworkPlan& plan, const ReadPlace& read);

}  // namespace dlasim
