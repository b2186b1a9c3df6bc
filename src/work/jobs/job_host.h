// The host of a job: fills memory before it, and compares what must be there after.
#pragma once
#include "jobs/job.h"

namespace dlasim {

class JobHost final : public Host {
public:
    /// `values`: all of memory; without them what says how much time it takes, if anything does. pre: `job` lives longer.
    JobHost(const Job& job, bool values) : job_(job), values_(values) {}

    void before(const HostMemory& memory) override
    {
        if (values_ || job_.timed_by_values) job_.contents->before(memory.write);
    }
    void after(const RunResult& run, const HostMemory& memory) override
    {
        if (values_) findings_ = job_.contents->after({memory.read, run.reads.empty() ? 0 : run.reads.back().second});
    }

    /// None without values, or when the run did not finish.
    const std::optional<Findings>& findings() const { return findings_; }

private:
    const Job& job_;
    bool values_;
    std::optional<Findings> findings_;
};

}  // namespace dlasim
