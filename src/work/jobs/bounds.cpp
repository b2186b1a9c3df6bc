#include "jobs/bounds.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "base/bits.h"
#include "base/error.h"
#include "dram/check/bound.h"
#include "facts/abilities.h"
#include "jobs/traffic.h"
#include "lowering/array_work.h"

namespace dlasim {
namespace {

constexpr auto up = ceil_div<std::uint64_t>;

/// Passes, and those that put parts together.
std::vector<const PlannedPass*> operations_of(const LayerPlan& plan)
{
    std::vector<const PlannedPass*> all;
    for (const PlannedPass& pass : plan.passes) all.push_back(&pass);
    for (const std::vector<PlannedPass>& stage : plan.packing)
        for (const PlannedPass& pass : stage) all.push_back(&pass);
    return all;
}

/// Of all places of a pass.
struct Nest {
    std::uint64_t operations = 0;  // for one output atom and one kernel group
    std::uint64_t atoms = 0;       // of the output plane
    std::uint64_t longest_stripe = 0;
};

Nest nest_of(const PlannedPass& planned, const Hardware& hw)
{
    const ArrayNest nest = array_nest(planned.pass, planned.geometry, hw);
    const std::uint64_t places = std::uint64_t{planned.geometry.out_width} * planned.geometry.out_height * planned.pass.batch;
    return {nest.operations, places / nest.places, nest.longest_stripe};
}

/// Cycles in which PDP takes the atoms of its input: four to eight of them each.
std::uint64_t pdp_beats(const PoolPass& p, const Hardware& hw)
{
    const std::uint64_t bytes = p.precision == Precision::Int8 ? 1 : 2;
    const std::uint64_t surfaces = up(p.channels * bytes, hw.memory.atom_bytes), shared = p.geometry.columns.size() - 1;
    // Neighbouring passes share kernel - stride columns, or leave as many out.
    const std::int64_t overlap = std::int64_t{p.pool.x.kernel} - p.pool.x.stride;
    const std::int64_t columns = std::int64_t{p.geometry.width} + static_cast<std::int64_t>(shared) * overlap;
    return static_cast<std::uint64_t>(columns) * p.geometry.height * surfaces * (hw.memory.atom_bytes / hw.pdp.throughput);
}

/// Bytes to read and to write, by port.
struct PortBytes {
    std::uint64_t read[2] = {}, write[2] = {};  // DBB, CVSRAM
};

PortBytes bytes_of(const Traffic& traffic)
{
    PortBytes bytes;
    for (const TensorTraffic& tensor : traffic.tensors) (tensor.written ? bytes.write : bytes.read)[tensor.primary ? 0 : 1] += tensor.moved;
    return bytes;
}

/// Cycles of beats that are so far apart; none follows the last one.
std::uint64_t spaced(std::uint64_t beats, std::uint64_t interval) { return beats == 0 ? 0 : (beats - 1) * interval + 1; }

/// Core cycles that fit into a time; the clock's period is whole picoseconds, as in the machine.
std::uint64_t core_cycles(std::uint64_t picoseconds, const Hardware& hw)
{
    return picoseconds / static_cast<std::uint64_t>(std::max(1.0, std::round(1e6 / hw.clock_mhz)));
}

void add_dram(std::vector<Bound>& bounds, const PortBytes& bytes, std::uint64_t passes, const Hardware& hw, const MemorySpec& memory)
{
    if (memory.kind == "ideal") return;
    const dram::BusBound bus = dram::bus_bound(memory, {bytes.read[0], bytes.write[0], passes});
    bounds.push_back({"dram_peak", core_cycles(bus.peak_ps, hw), ", " + bus.text});
    bounds.push_back({"dram_refresh", core_cycles(bus.refresh_ps, hw)});
}

}  // namespace

Bound::Bound(std::string_view name, std::uint64_t bound_cycles, std::string with)
    : cycles(bound_cycles),
      row_(std::find_if(kBoundKeys.begin(), kBoundKeys.end(), [&](const KeyRow& row) { return row.name == name; })),
      with_(std::move(with))
{
    if (row_ == kBoundKeys.end()) throw InternalError("a bound that is not declared: " + std::string(name));
}

std::uint64_t array_operations(const LayerPlan& plan, const Hardware& hw)
{
    std::uint64_t operations = 0;
    for (const PlannedPass* planned : operations_of(plan)) {
        const Pass& p = planned->pass;
        if (!p.convolves()) continue;
        const Nest nest = nest_of(*planned, hw);
        operations += nest.atoms * nest.operations * up(p.kernels, hw.kernel_group(p.precision));
    }
    return operations;
}

std::vector<Bound> unit_bounds(const LayerPlan& plan, const Layer& layer, const Hardware& hw)
{
    std::uint64_t products = 0, loads = 0, cacc = 0, sdp = 0, pdp = 0;
    for (const PlannedPass* operation : operations_of(plan)) {
        const PlannedPass& planned = *operation;
        const Pass& p = planned.pass;
        const Geometry& g = planned.geometry;
        const std::uint64_t places = std::uint64_t{g.out_width} * g.out_height * p.batch;
        if (planned.pool) pdp += pdp_beats(*planned.pool, hw);
        if (p.mode != PassMode::Pool) sdp += places * sdp_beats(p, p.kernels, hw) * cycles_a_beat(p, hw);
        if (!p.convolves()) continue;
        const Nest nest = nest_of(planned, hw);
        // Winograd: 16 products make the 4 outputs of a tile, for every channel of every phase.
        products += p.mode == PassMode::Winograd ? nest.atoms * 16 * p.channels * p.stride.x * p.stride.y * p.kernels : g.macs;
        loads += up(nest.atoms, nest.longest_stripe) * nest.operations * load_cycles(p, p.kernels, hw);
        cacc +=
            places * (sdp_beats(p, p.kernels, hw) + (facts::abilities(hw).cacc_pauses ? up(p.kernels, hw.kernel_group(p.precision)) : 0));
    }
    std::vector<Bound> bounds{
        {"mac", up(plan.method.winograd ? products : std::min(products, layer.macs()), hw.macs_per_cycle(layer.precision))},
        {"mac_array", array_operations(plan, hw)},
        {"weight_load", loads},
        {"cacc", cacc},
        {"sdp", sdp},
    };
    if (pdp != 0) bounds.push_back({"pdp", pdp});
    return bounds;
}

std::vector<Bound> port_bounds(const Traffic& traffic, std::uint64_t passes, const Hardware& hw, const MemorySpec& memory)
{
    const PortBytes bytes = bytes_of(traffic);
    const bool ideal = memory.kind == "ideal";
    const MemorySpec on_chip = ideal ? memory : MemorySpec{};
    const std::uint64_t beat = hw.memory.primary.width_bytes, beat2 = hw.memory.secondary.width_bytes;
    std::vector<Bound> bounds{
        {"dbb_read", spaced(up(bytes.read[0], beat), ideal ? memory.beat_interval : 1)},
        {"dbb_write", spaced(up(bytes.write[0], beat), ideal ? memory.write_interval : 1)},
    };
    add_dram(bounds, bytes, passes, hw, memory);
    if (bytes.read[1] + bytes.write[1] == 0) return bounds;
    bounds.push_back({"cvsram_read", spaced(up(bytes.read[1], beat2), on_chip.beat_interval)});
    bounds.push_back({"cvsram_write", spaced(up(bytes.write[1], beat2), on_chip.write_interval)});
    return bounds;
}

std::vector<Bound> lower_bounds(const LayerPlan& plan, const Layer& layer, const Hardware& hw, const MemorySpec& memory)
{
    std::vector<Bound> bounds = unit_bounds(plan, layer, hw);
    for (Bound& bound : port_bounds(traffic_of(plan, layer, hw), plan.passes.size(), hw, memory)) bounds.push_back(std::move(bound));
    return bounds;
}

std::vector<Bound> transfer_bounds(const TransferPlan& plan, const MemorySpec& memory)
{
    std::vector<Bound> bounds;
    for (const UnitBound& bound : plan.bounds) bounds.emplace_back(bound.name, bound.cycles);
    const bool ideal = memory.kind == "ideal";
    const MemorySpec on_chip = ideal ? memory : MemorySpec{};
    const std::uint64_t reads = ideal ? memory.beat_interval : 1, writes = ideal ? memory.write_interval : 1;
    bounds.push_back({"dbb_read", spaced(plan.dbb.reads, reads)});
    bounds.push_back({"dbb_write", spaced(plan.dbb.writes, writes)});
    bounds.push_back({"cvsram_read", spaced(plan.cvsram.reads, on_chip.beat_interval)});
    bounds.push_back({"cvsram_write", spaced(plan.cvsram.writes, on_chip.write_interval)});
    return bounds;
}

void add_bounds(std::vector<Bound>& sum, const std::vector<Bound>& more)
{
    for (const Bound& bound : more) {
        const auto same = std::find_if(sum.begin(), sum.end(), [&](const Bound& of) { return of.name() == bound.name(); });
        if (same == sum.end()) sum.push_back(bound);
        else same->cycles += bound.cycles;
    }
}

const Bound& binding(const std::vector<Bound>& bounds)
{
    return *std::max_element(bounds.begin(), bounds.end(), [](const Bound& a, const Bound& b) { return a.cycles < b.cycles; });
}

std::uint64_t largest(const std::vector<Bound>& bounds)
{
    std::uint64_t most = 0;
    for (const Bound& bound : bounds) most = std::max(most, bound.cycles);
    return most;
}

std::vector<std::uint64_t> from_largest(const std::vector<Bound>& bounds)
{
    std::vector<std::uint64_t> cycles;
    cycles.reserve(bounds.size());
    for (const Bound& bound : bounds) cycles.push_back(bound.cycles);
    std::sort(cycles.begin(), cycles.end(), std::greater<>());
    return cycles;
}

}  // namespace dlasim
