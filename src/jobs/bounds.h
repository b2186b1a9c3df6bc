// Closed-form lower bounds of a job in cycles: no machine of these sizes can be faster. Shown
// beside every result, so that what a run lost has a name.
//
// Source  MAC array, stripes and weight loads: csc.md 1.5 and 1.10; ports: interfaces.md 4; SDP: sdp.md 1.4, cacc.md 0; CACC: cacc.md 3.5.
//         DRAM: units/dram/bound.h.
// Left out  latencies, and every dependency between the phases of a layer.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "facts/memory_spec.h"
#include "lowering/plan.h"
#include "lowering/transfer_plan.h"

namespace dlasim {

struct Bound {
    std::string name;
    std::uint64_t cycles = 0;
    std::string meaning;
};

std::vector<Bound> lower_bounds(const Plan& plan, const Layer& layer, const Hardware& hardware, const MemorySpec& memory);
std::vector<Bound> transfer_bounds(const TransferPlan& plan, const MemorySpec& memory);
/// The bound "mac_array" alone: operations of the MAC array.
std::uint64_t array_operations(const Plan& plan, const Hardware& hardware);
/// The largest one, the first of equal ones. pre: there is one
const Bound& binding(const std::vector<Bound>& bounds);
std::uint64_t largest(const std::vector<Bound>& bounds);

}  // namespace dlasim
