// What the run of a network says of itself: result.json, layers.csv and the table on the terminal.
//
// Shapes  steps in the order they run; cycles count from t0, the last op-enable of the first operation.
#pragma once
#include "base/files/keys.h"
#include "config/json_object.h"
#include "network/check.h"
#include "report/difference_report.h"
#include "report/host_work.h"
#include "report/network/network_images.h"
#include "report/network/search_report.h"
#include "workload/run_result.h"

namespace dlasim {

/// When a step ran. It could start when its first op-enable was accepted, which waits for what it reads, and when its units had nothing
/// else to do: operations before that use one of them were done with it. Its share of the cycles is what it adds on the way to the last
/// interrupt, which goes back from there: from the end of a step to where it could start, on with the step that it waited for.
struct StepTimes {
    std::int64_t enabled = 0, start = 0, done = 0, share = 0;
    std::int64_t share_end = 0;  // the cycles of its share are those up to this one
    std::int64_t cycles() const { return done - start; }
};

/// By step, zeros of the host's. pre: the run has completed
std::vector<StepTimes> step_times(const NetworkMarks& program, const RunResult& run);

struct NetworkResult {
    const NetworkPlan& plan;
    const RunResult& run;
    std::vector<TensorFinding> findings;   // by step; empty with --timing-only
    std::string output_file = {};          // empty without one
    std::vector<std::int64_t> apart = {};  // cycles of each step when nothing else runs; of the host 0; empty if that was not asked for
    const ImagesResult* images = nullptr;
    const Difference* expected = nullptr;  // of the last layer's tensor; null without one that is expected
    std::optional<double> host_ns = {};    // that the host takes for an element
    const SearchReport* search = nullptr;  // that found the program; null without one
    std::vector<StepTimes> times = step_times(plan.marks, run);

    bool verified() const;
    /// For an image.
    HostWork host() const;
    /// Of the first image.
    std::int64_t cycles() const;
    /// What they went to, and those of the share of a step.
    std::vector<CauseCycles> causes() const { return run.causes.between(0, static_cast<Cycle>(cycles())); }
    std::vector<CauseCycles> causes(const StepTimes& step) const;
    std::int64_t cycles_apart() const;
    double utilization() const;
    double latency_seconds() const;
    double frames_per_s() const;
};

OrderedJson network_result_json(const NetworkResult& result);
std::vector<PlacedKey> network_result_keys();
/// What would run.
std::string network_plan_table(const NetworkPlan& plan);
/// A row a step.
std::string network_csv(const NetworkResult& result);
std::string network_table(const NetworkResult& result);

}  // namespace dlasim
