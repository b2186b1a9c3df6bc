#include "app/sweep/sweep_bounds.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "app/tried_cut.h"
#include "base/bits.h"
#include "base/error.h"
#include "dram/check/bound.h"
#include "jobs/job.h"
#include "network/plan.h"
#include "silicon/area.h"
#include "silicon/energy.h"
#include "sweep/figures.h"

namespace dlasim {
namespace {

/// What cannot be done in less: sums over the steps of a network, by bound.
using Least = std::map<std::string, std::uint64_t>;

void add(Least& least, const std::vector<Bound>& bounds)
{
    for (const Bound& bound : bounds) least[bound.name()] += bound.cycles;
}

/// Beats of a port, from its bound.
std::uint64_t bytes_of(const Least& least, const char* name, std::uint64_t interval, std::size_t passes, const Hardware& hw)
{
    // Bounds of the ports are their bytes in beats, rounded up.
    const auto there = least.find(name);
    const std::uint64_t beats = there == least.end() ? 0 : ceil_div(there->second, std::max<std::uint64_t>(1, interval));
    return (beats - std::min<std::uint64_t>(beats, passes)) * hw.memory.primary.width_bytes;
}

/// pJ of the memory at least, in that time.
double memory_pj(const SweepPoint& point, const silicon::Technology& technology, const dram::Demand& demand, double ns)
{
    const auto read = static_cast<double>(demand.read_bytes), written = static_cast<double>(demand.written_bytes);
    return point.memory.kind == "ideal" ? (read + written) / 8 * technology.dram_pj
                                        : dram::least_energy_pj(point.memory, demand, ns) + technology.phy_pj(read, written, ns);
}

/// Of the machine alone: its area, and its power with nothing to do.
PointBounds machine_bounds(const SweepPoint& point, const silicon::Technology& technology)
{
    const Hardware& hw = point.hardware;
    const double ns = 1e3 / hw.clock_mhz;  // a cycle
    PointBounds bounds{{1, 1e-6, std::max(1e-9, shown(silicon::area_mm2(technology, hw)))}, static_cast<double>(hw.clock_mhz)};
    bounds.idle_mw = silicon::least_pj(technology, hw, {0, 0, 1}) / ns;
    bounds.memory_idle_mw = memory_pj(point, technology, {}, ns) / ns;
    return bounds;
}

/// Adds least cycles and energies of the work.
void add_work(PointBounds& bounds, const Least& least, std::uint64_t macs, std::size_t passes, const SweepPoint& point,
              const silicon::Technology& technology)
{
    std::uint64_t cycles = 1;
    for (const auto& [name, bound] : least) cycles = std::max(cycles, bound);
    const Hardware& hw = point.hardware;
    const bool ideal = point.memory.kind == "ideal";
    const dram::Demand demand{bytes_of(least, "dbb_read", ideal ? point.memory.beat_interval : 1, passes, hw),
                              bytes_of(least, "dbb_write", ideal ? point.memory.write_interval : 1, passes, hw), passes};
    const double ns = 1e3 * static_cast<double>(cycles) / hw.clock_mhz, memory = memory_pj(point, technology, demand, ns);
    bounds.memory_idle_mw = memory_pj(point, technology, {}, ns) / ns;
    const auto operations = least.find("mac_array");
    // Winograd makes 16 products of 36.
    const double chip =
        silicon::least_pj(technology, hw, {hw.winograd ? macs * 4 / 9 : macs, operations == least.end() ? 0 : operations->second, cycles});
    bounds.least[0] = static_cast<double>(cycles);
    bounds.least[1] = std::max(1e-6, shown(1e-6 * (memory + chip)));
    bounds.memory_uj = 1e-6 * memory;
}

void bound_work(PointBounds& bounds, const Network& network, const SweepPoint& point, const silicon::Technology& technology)
{
    const NetworkPlan plan = plan_network(network, point.hardware, point.memory, {.seed = 1, .values = false});
    Least least;
    std::uint64_t macs = 0;
    for (const StepPlan& step : plan.plans) {
        add(least, step.bounds);
        macs += step.macs;
    }
    add_work(bounds, least, macs, std::max<std::size_t>(1, plan.plans.size()), point, technology);
}

void bound_work(PointBounds& bounds, const Descriptor& descriptor, const SweepPoint& point, const silicon::Technology& technology)
{
    if (const Layer* layer = layer_of(point.work)) bounds.frames = layer->batch;
    // The run takes one of these cuts: of each bound the least.
    Least least;
    std::uint64_t macs = UINT64_MAX;
    for (const Descriptor& cut : possible_cuts(descriptor, point.hardware)) {
        const Job job = outline_of(cut, point.hardware, point.memory);
        Least of_cut;
        add(of_cut, job.bounds);
        macs = std::min(macs, job.array ? job.array->macs : 0);
        if (least.empty()) least = of_cut;
        for (auto& [name, bound] : least) bound = std::min(bound, of_cut[name]);
    }
    add_work(bounds, least, macs, 1, point, technology);
}

/// Nothing is known of others: they are not WorkKind::bounded.
template <class Work>
void bound_work(PointBounds&, const Work&, const SweepPoint&, const silicon::Technology&)
{
}

}  // namespace

KnownPoint PointBounds::known() const
{
    constexpr double kMost = FigureRange::kMost;
    const auto& [cycles, total_uj, mm2] = least;
    KnownPoint point;
    point.least = {{"cycles", cycles},
                   {"time_us", shown(cycles / clock_mhz)},
                   {"frames_per_s", 1 / kMost},
                   {"energy_uj", shown(std::max(0.0, total_uj - memory_uj))},
                   {"memory_uj", shown(memory_uj)},
                   {"total_uj", total_uj},
                   {"power_mw", shown(idle_mw)},
                   {"idle_mw", shown(idle_mw)},
                   {"memory_idle_mw", shown(memory_idle_mw)},
                   {"area_mm2", mm2}};
    for (const auto& [name, value] : point.least.items()) point.most[name] = kMost;
    point.most["area_mm2"] = mm2;
    point.most["frames_per_s"] = shown(frames * clock_mhz * 1e6 / cycles);
    return point;
}

std::optional<PointBounds> bounds_of(const Sweep& sweep, std::size_t index, const silicon::Technology& technology)
{
    try {
        const SweepPoint point = sweep_point(sweep, index);
        PointBounds bounds = machine_bounds(point, technology);
        std::visit([&](const auto& work) { bound_work(bounds, work, point, technology); }, point.work);
        return bounds;
    } catch (const ConfigError&) {
        return std::nullopt;
    }
}

std::optional<KnownPoint> outline_of_point(const Sweep& sweep, std::size_t index, const silicon::Technology& technology)
{
    try {
        return machine_bounds(sweep_point(sweep, index), technology).known();
    } catch (const ConfigError&) {
        return std::nullopt;
    }
}

std::string machine_cannot_meet(const Sweep& sweep, std::size_t index, const silicon::Technology& technology,
                                const MachineQuestion& question)
{
    const auto same = [&](std::size_t other) {
        return std::equal(sweep.points[index].begin(), sweep.points[index].begin() + static_cast<std::ptrdiff_t>(question.axes.size()),
                          sweep.points[other].begin());
    };
    std::size_t first = index;  // its workloads are side by side
    while (first > 0 && same(first - 1)) --first;
    // The others run, so that the nearest machine is found where none meets everything.
    constexpr std::array<std::string_view, 6> kSpared{"area_mm2", "cycles", "time_us", "frames_per_s", "total_uj", "load"};
    std::vector<KnownPoint> points(question.workloads.size());
    for (const bool planned : {false, true}) {  // planning takes longer
        for (std::size_t i = first; i < sweep.points.size() && same(i); ++i) {
            const std::size_t workload = sweep.workloads.empty() ? 0 : sweep.points[i].back();
            std::optional<KnownPoint> known;
            if (!planned) known = outline_of_point(sweep, i, technology);
            else if (const auto bounds = bounds_of(sweep, i, technology)) known = bounds->known();
            if (!known) return "";
            points[workload] = *std::move(known);
        }
        if (std::string why = KnownMachine(points, question).cannot_meet(kSpared); !why.empty()) return why;
    }
    return "";
}

}  // namespace dlasim
