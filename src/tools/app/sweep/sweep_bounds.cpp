#include "app/sweep/sweep_bounds.h"

#include <fmt/format.h>

#include <algorithm>
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

/// Least cycles, pJ and square micrometres, as the table rounds them.
Objectives least_of(const Least& least, std::uint64_t macs, std::size_t passes, const SweepPoint& point,
                    const silicon::Technology& technology)
{
    std::uint64_t cycles = 1;
    for (const auto& [name, bound] : least) cycles = std::max(cycles, bound);
    const Hardware& hw = point.hardware;
    const bool ideal = point.memory.kind == "ideal";
    // Bounds of the ports are their bytes in beats, rounded up.
    const auto bytes = [&](const char* name, std::uint64_t interval) {
        const auto there = least.find(name);
        const std::uint64_t beats = there == least.end() ? 0 : ceil_div(there->second, std::max<std::uint64_t>(1, interval));
        return (beats - std::min<std::uint64_t>(beats, passes)) * hw.memory.primary.width_bytes;
    };
    const dram::Demand demand{bytes("dbb_read", ideal ? point.memory.beat_interval : 1),
                              bytes("dbb_write", ideal ? point.memory.write_interval : 1), passes};
    const double memory = ideal ? static_cast<double>(demand.read_bytes + demand.written_bytes) / 8 * technology.dram_pj
                                : dram::least_energy_pj(point.memory, demand, 1e3 * static_cast<double>(cycles) / hw.clock_mhz);
    const auto operations = least.find("mac_array");
    // Winograd makes 16 products of 36.
    const double energy =
        memory +
        silicon::least_pj(technology, hw, {hw.winograd ? macs * 4 / 9 : macs, operations == least.end() ? 0 : operations->second, cycles});
    return {static_cast<double>(cycles), std::max(1e-6, shown(1e-6 * energy)), std::max(1e-9, shown(silicon::area_mm2(technology, hw)))};
}

/// What is known of a figure: the least of it, or with `most` the most.
struct KnownBound {
    double value = 0;
    bool most = false;
};

std::optional<KnownBound> known_bound(const std::string& column, const PointBounds& bounds)
{
    const auto& [cycles, total_uj, mm2] = bounds.least;
    if (column == "cycles") return KnownBound{cycles};
    if (column == "time_us") return KnownBound{shown(cycles / bounds.clock_mhz)};
    if (column == "frames_per_s") return KnownBound{shown(bounds.frames * bounds.clock_mhz * 1e6 / cycles), true};
    if (column == "total_uj") return KnownBound{total_uj};
    return std::nullopt;
}

}  // namespace

std::optional<PointBounds> bounds_of(const Sweep& sweep, std::size_t index, const silicon::Technology& technology)
{
    try {
        const SweepPoint point = sweep_point(sweep, index);
        PointBounds bounds{{1, 1e-6, shown(silicon::area_mm2(technology, point.hardware))}, static_cast<double>(point.hardware.clock_mhz)};
        Least least;
        if (const Network* network = std::get_if<Network>(&point.work)) {
            const NetworkPlan plan = plan_network(*network, point.hardware, point.memory, {.seed = 1, .values = false});
            std::uint64_t macs = 0;
            for (const StepPlan& step : plan.plans) {
                add(least, step.bounds);
                macs += step.macs;
            }
            bounds.least = least_of(least, macs, std::max<std::size_t>(1, plan.plans.size()), point, technology);
        } else if (const Descriptor* descriptor = std::get_if<Descriptor>(&point.work)) {
            if (const Layer* layer = std::get_if<Layer>(descriptor)) bounds.frames = layer->batch;
            std::optional<Objectives> fewest;
            for (const Descriptor& cut : possible_cuts(*descriptor, point.hardware)) {
                const Job job = outline_of(cut, point.hardware, point.memory);
                Least of_cut;
                add(of_cut, job.bounds);
                const Objectives one = least_of(of_cut, job.array ? job.array->macs : 0, 1, point, technology);
                if (!fewest) fewest = one;
                for (std::size_t i = 0; i < one.size(); ++i) (*fewest)[i] = std::min((*fewest)[i], one[i]);
            }
            bounds.least = *fewest;
        }
        return bounds;
    } catch (const ConfigError&) {
        return std::nullopt;
    }
}

std::string cannot_meet(const PointBounds& bounds, const MachineQuestion& question, std::size_t workload)
{
    const AskedWorkload& of = question.workloads[workload];
    for (const std::vector<Requirement>* list : {&question.require, &of.require})
        for (const Requirement& r : *list) {
            if (r.column == "area_mm2" && !r.met(bounds.least[2]))
                return fmt::format("area_mm2 {:.4g}, expected {}", bounds.least[2], r.text());
            const std::optional<KnownBound> known = known_bound(r.column, bounds);
            if (known && known->most != r.upper() && !r.met(known->value))
                return fmt::format("{}{} {:.4g} at {}, expected {}", of.name.empty() ? "" : of.name + ": ", r.column, known->value,
                                   known->most ? "most" : "least", r.text());
        }
    return "";
}

std::string machine_cannot_meet(const Sweep& sweep, std::size_t index, const silicon::Technology& technology,
                                const MachineQuestion& question)
{
    const auto same = [&](std::size_t other) {
        return std::equal(sweep.points[index].begin(), sweep.points[index].begin() + static_cast<std::ptrdiff_t>(question.axes.size()),
                          sweep.points[other].begin());
    };
    double load = 0;
    std::size_t first = index;  // its workloads are side by side
    while (first > 0 && same(first - 1)) --first;
    for (std::size_t i = first; i < sweep.points.size() && same(i); ++i) {
        const std::optional<PointBounds> bounds = bounds_of(sweep, i, technology);
        const std::size_t workload = sweep.workloads.empty() ? 0 : sweep.points[i].back();
        if (!bounds) continue;
        if (const std::string why = cannot_meet(*bounds, question, workload); !why.empty()) return why;
        load += question.workloads[workload].rate * bounds->least[0] / (1e6 * bounds->clock_mhz);
    }
    return load > 1 ? fmt::format("load {:.4g} at least, expected load <= 1", load) : "";
}

}  // namespace dlasim
