// What parts cost: bytes by counting, cycles by following the parts through the machine as if every engine went at its own pace.
//
//   software ── registers of part i, when part i - 2 is done ──► enabled
//   CDMA     ── data and weights of part i, which share the port, when part i - 1 is fetched and CBUF has space ──► ready
//   CSC      ── reads part i, when it is ready and part i - 1 read, at most its credits ahead of the results ──► space
//   CACC     ── results of part i, as fast as SDP and PDP take them ──► done
//
// Not included: stalls within a part; memory that gives less than a beat a cycle.
// Error     the plan that is chosen against the best of all, simulated: tests/golden/plan_search.py
#pragma once
#include <cmath>

#include "lowering/cut/part_banks.h"
#include "lowering/cut/part_order.h"

namespace dlasim {

struct SplitCost {
    std::uint64_t cycles = 0, bytes = 0;
};

/// Minimise::Balanced: cycles times the fourth root of the bytes moved, so 4 % more bytes must save 1 % of the cycles.
inline double balanced_cost(double cycles, double bytes) { return cycles * std::sqrt(std::sqrt(bytes)); }

/// A lower bound of the cost of every cut with this number of parts of rows, all strips together, and of kernels.
SplitCost least_cost(const SplitFrame& frame, std::uint64_t row_parts, std::uint64_t kernel_parts);

/// pre: `banks` hold the parts
SplitCost split_cost(const SplitFrame& frame, const std::vector<Part>& parts, const Banks& banks);

}  // namespace dlasim
