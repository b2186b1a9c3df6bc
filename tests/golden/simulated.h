// A job through the machine, from its data to the comparison.
#pragma once
#include <utility>

#include "jobs/job_host.h"
#include "platform/simulate.h"

namespace dlasim {

struct Simulation {
    RunResult run;
    std::optional<Comparison> comparison;  // none with timing_only, or when the run did not end
};

inline Simulation simulated(const Job& job, const SimulateOptions& options = {})
{
    JobHost host(job, !options.timing_only);
    RunResult run = simulate(job, host, options);
    return {std::move(run), host.findings() ? std::optional(host.findings()->comparison) : std::nullopt};
}

}  // namespace dlasim
