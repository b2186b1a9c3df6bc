// After the run: every tensor of the network in the machine's memory against its golden one.
#pragma once
#include "golden/memory/contents.h"
#include "network/plan.h"

namespace dlasim {

struct TensorFinding {
    std::size_t tensor = 0;
    Comparison comparison;
};

/// Memory before the run: inputs, weights, and a pattern where tensors are written. Images are let go.
void fill_memory(NetworkPlan& plan, const MemoryCheck::Write& write);
/// A step of the host: reads and writes the machine's memory.
void run_host_step(const NetworkPlan& plan, std::size_t step, const ReadPlace& read, const MemoryCheck::Write& write);

/// Looks at the tensors of a run while they are there. pre: planned with values
class TensorWatch {
public:
    /// `keep`: their values too.
    TensorWatch(const NetworkPlan& plan, ReadPlace read, MemoryCheck::Write write, bool keep);

    /// Before a step takes the memory of others: these are looked at, and a pattern is written where it will write.
    void before(std::size_t step);
    /// When all steps are done: looks at what is left.
    void end();

    /// Of every tensor that a step makes, in the order of the steps. pre: end()
    const std::vector<TensorFinding>& findings() const { return findings_; }
    /// By tensor, empty where it does not exist. pre: end(), keep
    const std::vector<Tensor>& tensors() const { return tensors_; }

private:
    void look(std::size_t tensor);

    const NetworkPlan& plan_;
    const ReadPlace read_;
    const MemoryCheck::Write write_;
    const bool keep_;
    std::vector<TensorFinding> findings_;
    std::vector<bool> seen_;  // by tensor
    std::vector<Tensor> tensors_;
};

}  // namespace dlasim
