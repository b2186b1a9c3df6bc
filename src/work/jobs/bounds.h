// Closed-form lower bounds of a job in cycles: no machine of these sizes can be faster. Shown
// beside every result, so that what a run lost has a name.
//
// Source  MAC array, stripes and weight loads: csc.md 1.5 and 1.10; ports: interfaces.md 4; SDP: sdp.md 1.4, cacc.md 0; CACC: cacc.md 3.5.
//         DRAM: dram/check/bound.h.
// Not included: latencies, and every dependency between the phases of a layer.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "base/files/keys.h"
#include "facts/memory_spec.h"
#include "jobs/traffic.h"
#include "lowering/plan.h"
#include "lowering/transfer/transfer_plan.h"

namespace dlasim {

/// All bounds there are.
inline constexpr std::array kBoundKeys{
    KeyRow{"mac", "integer", "cycles", "every multiplier busy with a useful product", "layers"},
    KeyRow{"mac_array", "integer", "cycles", "every operation of the array, unused lanes and kernels included", "layers"},
    KeyRow{"weight_load", "integer", "cycles", "the weights of every stripe loaded into the array once", "layers"},
    KeyRow{"cacc", "integer", "cycles", "every result out of CACC, including its gap between output positions", "layers"},
    KeyRow{"sdp", "integer", "cycles", "every result through SDP, at the pace of the slowest engine in use", "layers"},
    KeyRow{"bdma_load", "integer", "cycles", "a read request for each line", "bdma"},
    KeyRow{"bdma_store", "integer", "cycles", "a command for each line, and its data", "bdma"},
    KeyRow{"rubik_fill", "integer", "cycles", "the input into the register file, 64 bytes a cycle", "rubik"},
    KeyRow{"rubik_drain", "integer", "cycles", "the output out of the register file", "rubik"},
    KeyRow{"rubik_store", "integer", "cycles", "a command for each write, and its data", "rubik"},
    KeyRow{"cdp_core", "integer", "cycles", "every beat through the core, and the ends of blocks and of the cube", "lrn"},
    KeyRow{"cdp_write", "integer", "cycles", "a command for each surface of a block, and its data", "lrn"},
    KeyRow{"dbb_read", "integer", "cycles", "input, weights and operands in DBB memory read once"},
    KeyRow{"dbb_write", "integer", "cycles", "the output in DBB memory written once"},
    KeyRow{"pdp", "integer", "cycles", "every element through PDP, those of two passes twice", "layers that pool"},
    KeyRow{"dram_peak", "integer", "cycles", "these bytes over the data buses of the DRAM", "with a DRAM"},
    KeyRow{"dram_refresh", "integer", "cycles", "plus the refreshes that cannot be postponed", "with a DRAM"},
    KeyRow{"cvsram_read", "integer", "cycles", "input, weights and operands in CVSRAM read once", "CVSRAM is used"},
    KeyRow{"cvsram_write", "integer", "cycles", "the output in CVSRAM written once", "CVSRAM is used"},
};

class Bound {
public:
    /// `name`: of a row; InternalError if there is none. `with`: what else there is to say.
    Bound(std::string_view name, std::uint64_t bound_cycles, std::string with = "");

    std::string name() const { return std::string(row_->name); }
    std::string meaning() const { return std::string(row_->meaning) + with_; }
    std::uint64_t cycles;

private:
    const KeyRow* row_;
    std::string with_;
};

std::vector<Bound> lower_bounds(const LayerPlan& plan, const Layer& layer, const Hardware& hardware, const MemorySpec& memory);
/// Of the units alone, whatever the ports; and of the ports alone. `passes`: what a DRAM's bound needs to know of them
std::vector<Bound> unit_bounds(const LayerPlan& plan, const Layer& layer, const Hardware& hardware);
std::vector<Bound> port_bounds(const Traffic& traffic, std::uint64_t passes, const Hardware& hardware, const MemorySpec& memory);
std::vector<Bound> transfer_bounds(const TransferPlan& plan, const MemorySpec& memory);
/// The bound "mac_array" alone: operations of the MAC array.
std::uint64_t array_operations(const LayerPlan& plan, const Hardware& hardware);
/// Each bound is work of one resource that does one thing at a time, so those of work that follows add up.
void add_bounds(std::vector<Bound>& sum, const std::vector<Bound>& more);
/// The largest one, the first of equal ones. pre: there is one
const Bound& binding(const std::vector<Bound>& bounds);
std::uint64_t largest(const std::vector<Bound>& bounds);
/// Their cycles, the largest first.
std::vector<std::uint64_t> from_largest(const std::vector<Bound>& bounds);

}  // namespace dlasim
