// What the run of a network says of itself: result.json, layers.csv and the table on the terminal.
//
// Shapes  steps in the order they run; cycles count from t0, the first op-enable of the network.
#pragma once
#include "config/json_object.h"
#include "files/keys.h"
#include "network/check.h"
#include "platform/machine.h"
#include "report/network_images.h"

namespace dlasim {

/// When a step ran: from the acceptance of its first op-enable to the interrupt of its last operation.
struct StepTimes {
    std::int64_t start = 0, done = 0;
    std::int64_t cycles() const { return done - start; }
};

/// pre: a step of the machine
StepTimes step_times(const NetworkProgram& program, std::size_t step, const RunResult& run);

struct NetworkResult {
    const NetworkPlan& plan;
    const RunResult& run;
    std::vector<TensorFinding> findings;  // by step; empty with --timing-only
    std::string output_file = {};          // empty without one
    std::vector<std::int64_t> apart = {};  // cycles of each step when nothing else runs; of the host 0; empty if that was not asked for
    const ImagesResult* images = nullptr;

    bool verified() const;
    /// Of the first image.
    std::int64_t cycles() const;
    /// Of a step of the machine.
    StepTimes times(std::size_t step) const;
    std::int64_t cycles_apart() const;
    double utilization() const;
    double latency_seconds() const;
    double frames_per_second() const;
};

OrderedJson network_result_json(const NetworkResult& result);
std::vector<PlacedKey> network_result_keys();
/// What would run.
std::string network_plan_table(const NetworkPlan& plan);
/// A row a step.
std::string network_csv(const NetworkResult& result);
std::string network_table(const NetworkResult& result);

}  // namespace dlasim
