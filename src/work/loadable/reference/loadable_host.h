// The host of a compiler's file: blobs and inputs before the run, tasks of the host in it, what the hardware wrote, and the golden
// operations beside it.
#pragma once
#include "loadable/reference/reference.h"

namespace dlasim::loadable {

/// A range of memory, and its content.
struct SeenRange {
    Range range;
    std::vector<std::uint8_t> bytes;
};

class LoadableHost : public Host {
public:
    /// `values`: without them memory is filled, since compressed weights take the time that they say, and nothing else is done. `verify`:
    /// what every chain writes is compared with the golden operations. pre: `plan` lives longer.
    LoadableHost(const LoadablePlan& plan, bool values, bool verify);

    void before(const HostMemory& memory) override { fill_memory(plan_, memory.write); }
    void at(std::size_t step, const HostMemory& memory) override;
    bool computes(std::size_t step) const override { return plan_.actions[step].kind == HostAction::Kind::Task; }
    void after(const RunResult& run, const HostMemory& memory) override;

    /// After the last hardware task.
    const std::vector<SeenRange>& written() const { return written_; }
    /// The memories of the outputs at the end.
    const std::vector<SeenRange>& results() const { return results_; }
    /// By chain; empty without verification.
    std::vector<std::optional<Verdict>> verdicts() const;

private:
    const LoadablePlan& plan_;
    bool values_;
    std::optional<Reference> reference_;
    std::vector<SeenRange> written_, results_;
};

}  // namespace dlasim::loadable
