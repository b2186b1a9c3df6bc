// A planned loadable in a machine.
#pragma once
#include <optional>

#include "loadable/reference/reference.h"
#include "platform/machine.h"
#include "report/loadable_result.h"

namespace dlasim {

class LoadableRun {
public:
    /// Fills memory, and does what the host does before the hardware starts. `verify`: what every chain writes is compared with the
    /// golden operations; pre: values are computed.
    LoadableRun(const loadable::Plan& plan, const MachineOptions& options, bool verify);

    /// `keep_going`: the cycle, and how many operations were enabled; false stops the run.
    const RunResult& run(const std::function<bool(Cycle now, std::size_t operations)>& keep_going);

    std::vector<SeenRange> look(const std::vector<loadable::Range>& ranges) const;
    /// After the last hardware task.
    const std::vector<SeenRange>& written() const { return written_; }
    std::vector<std::uint8_t> read(const Place& from, std::uint64_t bytes) const;
    /// By chain; empty without verification.
    std::vector<std::optional<loadable::Verdict>> verdicts() const;

private:
    void act(std::size_t number);
    void judge(std::size_t chain);

    const loadable::Plan& plan_;
    bool values_;
    Machine machine_;
    std::optional<loadable::Reference> reference_;
    RunResult run_;
    std::vector<SeenRange> written_;
    std::vector<bool> acted_;  // by number of a HostStep
};

}  // namespace dlasim
