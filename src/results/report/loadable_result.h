// What the run of a loadable says of itself: result.json and the table on the terminal.
//
// Shapes  operations in the order in which they are enabled; cycles count from t0, the last op-enable of the first chain.
#pragma once
#include "base/files/keys.h"
#include "config/json_object.h"
#include "loadable/reference/loadable_host.h"
#include "report/host_work.h"
#include "workload/run_result.h"

namespace dlasim {

using loadable::SeenRange;

/// A tensor of the user's that was written to files.
struct WrittenTensor {
    std::string name, file, surface;
    std::vector<std::uint8_t> elements;  // in natural order
};

/// By operation of the plan.
std::vector<OperationTimes> operation_times(const loadable::LoadablePlan& plan, const RunResult& run);

/// What the golden operations found, in all.
struct Verification {
    std::size_t chains = 0, unchecked = 0;  // with a verdict; of these without a comparison
    std::uint64_t compared = 0, mismatches = 0;
    std::vector<std::string> examples;  // the first that differ: operation and element
};

struct LoadableResult {
    const loadable::LoadablePlan& plan;
    const RunResult& run;
    std::vector<OperationTimes> times;
    std::vector<SeenRange> written = {};  // after the last hardware task; empty with --timing-only
    std::vector<SeenRange> results = {};  // at the end, likewise
    std::vector<WrittenTensor> tensors = {};
    std::vector<std::optional<loadable::Verdict>> verdicts = {};  // by chain; empty: none were asked for
    std::optional<double> host_ns = {};                           // that the host takes for an element

    HostWork host() const;
    double latency_seconds() const;
    /// The widest that an operation computes in.
    Precision precision() const;
    /// Multiplications of an operation of the plan; of all.
    std::uint64_t macs(std::size_t operation) const;
    std::uint64_t macs() const;
    /// Relative to the capacity of the array in that number of cycles.
    double utilization(std::uint64_t macs, std::int64_t cycles, Precision precision) const;
    Verification verification() const;
    /// Of the chain that an operation of the plan belongs to; null if there is none.
    const loadable::Verdict* verdict(std::size_t operation) const;
    /// "0.3 CONV": task, operation and kind.
    std::string name(std::size_t operation) const;
};

OrderedJson loadable_result_json(const LoadableResult& result);
std::vector<PlacedKey> loadable_result_keys();
std::string loadable_table(const LoadableResult& result);

}  // namespace dlasim
