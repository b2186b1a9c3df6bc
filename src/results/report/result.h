// What a run says of itself: result.json (interfaces.md 2) and the table on the terminal.
//
// Shapes  units: cycles by phase, their sum equal to `cycles`, from t0 to the done interrupt.
#pragma once
#include "jobs/job.h"
#include "workload/run_result.h"

namespace dlasim {

/// Everything about the run of a job, before it is text.
struct Result {
    const Job& job;
    const RunResult& run;
    const Findings* findings;      // null with --timing-only
    std::string output_file = {};  // of the output tensor, empty without one

    const Comparison* comparison() const { return findings ? &findings->comparison : nullptr; }
    /// From the tensor of the user's.
    const Difference* expected() const { return findings && findings->expected ? &*findings->expected : nullptr; }
    /// Of a Winograd layer, from the direct convolution.
    const Difference* direct() const { return findings && findings->direct ? &*findings->direct : nullptr; }
    /// Every value that was compared is what it must be.
    bool right() const { return (!comparison() || comparison()->equal()) && (!expected() || expected()->equal()); }

    /// From t0 to the last done interrupt.
    std::uint64_t cycles() const { return run.cycles; }
    /// Multiplications of the direct convolution for each one that the array could do: above 1 where Winograd saves them.
    double utilization() const;
    /// Share of the cycles in which the array takes an operation.
    double occupancy() const;
};

OrderedJson result_json(const Result& result);
/// Its keys but those of every run (run_report.h), and those of `layer`, `hardware`, `memory` and `memory_report` excluded: they have their
/// own sections.
std::vector<PlacedKey> result_keys();
std::string summary_table(const Result& result);

/// What would run, of a job without contents: plan.json and its table.
OrderedJson outline_json(const Job& job);
std::vector<PlacedKey> outline_keys();
std::string outline_table(const Job& job);

}  // namespace dlasim
