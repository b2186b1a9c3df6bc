// What the run of a loadable says of itself: result.json and the table on the terminal.
//
// Shapes  operations in the order in which they are enabled; cycles count from t0, the last op-enable of the first chain.
#pragma once
#include "config/json_object.h"
#include "files/keys.h"
#include "loadable/plan.h"
#include "platform/machine.h"

namespace dlasim {

/// A range of memory, and what stood there.
struct SeenRange {
    loadable::Range range;
    std::vector<std::uint8_t> bytes;
};

/// A tensor of the user's that was written to files.
struct WrittenTensor {
    std::string name, file, surface;
    std::vector<std::uint8_t> elements;  // in natural order
};

/// When an operation ran: from the acceptance of its last op-enable to its interrupt, masked or not.
struct OperationTimes {
    std::int64_t start = 0, done = 0;
};
/// By operation of the plan.
std::vector<OperationTimes> operation_times(const loadable::Plan& plan, const RunResult& run);

struct LoadableResult {
    const loadable::Plan& plan;
    const RunResult& run;
    std::vector<OperationTimes> times;
    std::vector<SeenRange> written = {};  // after the last hardware task; empty with --timing-only
    std::vector<SeenRange> results = {};  // at the end, likewise
    std::vector<WrittenTensor> tensors = {};
    double wall_seconds = 0;

    double latency_seconds() const;
};

OrderedJson loadable_result_json(const LoadableResult& result);
std::vector<PlacedKey> loadable_result_keys();
std::string loadable_table(const LoadableResult& result);

}  // namespace dlasim
