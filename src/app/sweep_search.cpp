#include "app/sweep_search.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <set>

#include "app/interrupt.h"
#include "app/status.h"
#include "app/sweep_points.h"
#include "app/sweep_progress.h"
#include "base/bits.h"
#include "base/error.h"
#include "dram/bound.h"
#include "files/console.h"
#include "jobs/job.h"
#include "network/plan.h"
#include "silicon/area.h"
#include "silicon/energy.h"
#include "sweep/figures.h"
#include "sweep/search.h"

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

/// None where the point cannot be.
std::optional<Objectives> bound_of(const Sweep& sweep, std::size_t index, const silicon::Technology& technology, std::uint32_t& clock_mhz)
{
    try {
        const SweepPoint point = sweep_point(sweep, index);
        clock_mhz = point.hardware.clock_mhz;
        Least least;
        if (const Network* network = std::get_if<Network>(&point.work)) {
            const NetworkPlan plan = plan_network(*network, point.hardware, point.memory, {.seed = 1, .values = false});
            std::uint64_t macs = 0;
            for (const StepPlan& step : plan.plans) {
                add(least, step.bounds);
                macs += step.macs;
            }
            return least_of(least, macs, std::max<std::size_t>(1, plan.plans.size()), point, technology);
        }
        const Job job = outline_of(std::get<Descriptor>(point.work), point.hardware, point.memory);
        add(least, job.bounds);
        return least_of(least, job.array ? job.array->macs : 0, 1, point, technology);
    } catch (const ConfigError&) {
        return std::nullopt;
    }
}

std::optional<Objectives> result_of(const nlohmann::ordered_json& row)
{
    Objectives objectives{};
    const char* columns[] = {"cycles", "total_uj", "area_mm2"};
    for (std::size_t i = 0; i < objectives.size(); ++i) {
        if (!row.contains(columns[i]) || !row[columns[i]].is_number()) return std::nullopt;
        objectives[i] = std::max(1e-9, row[columns[i]].get<double>());
    }
    return objectives;
}

/// The machines of a sweep: what a search looks for. Without workloads a point is one.
class SearchedMachines {
public:
    SearchedMachines(const Sweep& sweep, const MachineQuestion& question) : question_(question)
    {
        const std::size_t axes = question.axes.size();
        for (std::size_t i = 0; i < sweep.points.size(); ++i) {
            const std::vector<std::size_t>& point = sweep.points[i];
            const std::vector<std::size_t> place(point.begin(), point.begin() + static_cast<std::ptrdiff_t>(axes));
            const auto [there, fresh] = numbers_.try_emplace(place, places_.size());
            if (fresh) {
                places_.push_back(place);
                points_.emplace_back(question.workloads.size());
            }
            points_[there->second][point.size() > axes ? point.back() : 0] = i;
        }
    }
    const std::vector<std::vector<std::size_t>>& places() const { return places_; }
    std::optional<std::size_t> at(const std::vector<std::size_t>& place) const
    {
        const auto there = numbers_.find(place);
        return there == numbers_.end() ? std::nullopt : std::optional(there->second);
    }
    /// By workload; none where it is excluded.
    const std::vector<std::optional<std::size_t>>& points(std::size_t machine) const { return points_[machine]; }
    /// Cycles and energies of a mix, by weight; none if one has none.
    std::optional<Objectives> together(std::size_t machine, const std::function<std::optional<Objectives>(std::size_t workload)>& of) const
    {
        Objectives sum{};
        for (std::size_t w = 0; w < points_[machine].size(); ++w) {
            const std::optional<Objectives> one = points_[machine][w] ? of(w) : std::nullopt;
            if (!one) return std::nullopt;
            for (std::size_t i = 0; i < 2; ++i) sum[i] += question_.workloads[w].weight * (*one)[i];
            sum[2] = (*one)[2];
        }
        return sum;
    }
    /// Known before a run: the area is too large, or even the fewest cycles are too many.
    bool cannot_meet(std::size_t workload, const Objectives& least, std::uint32_t clock_mhz) const
    {
        const auto fails = [&](const Requirement& r) {
            if (r.column == "area_mm2") return !r.met(least[2]);
            if (r.column == "frames_per_s" && !r.upper()) return !r.met(clock_mhz * 1e6 / least[0]);
            return r.column == "cycles" && r.upper() && !r.met(least[0]);
        };
        return std::ranges::any_of(question_.require, fails) || std::ranges::any_of(question_.workloads[workload].require, fails);
    }

private:
    const MachineQuestion& question_;
    std::map<std::vector<std::size_t>, std::size_t> numbers_;
    std::vector<std::vector<std::size_t>> places_;
    std::vector<std::vector<std::optional<std::size_t>>> points_;
};

std::string counted(const SearchOutcome& outcome, std::size_t all, const char* what)
{
    std::string text = fmt::format("searched {} {}: {} ran, {} of them on the front", grouped(all), what, outcome.ran, outcome.front);
    if (outcome.beaten != 0) text += fmt::format(", {} can be no better", outcome.beaten);
    if (outcome.refused != 0) text += fmt::format(", {} cannot be", outcome.refused);
    return text + (outcome.left != 0 ? fmt::format(", {} may be", grouped(outcome.left))
                                     : ": no other " + std::string(what, std::strlen(what) - 1) + " can be on the front");
}

/// A search knows points that have not run by their bounds.
void expect_bounds(const Sweep& sweep)
{
    const auto model = [](const Json& network) { return network.is_string() && is_onnx(network.get<std::string>()); };
    bool models = model(sweep.network);
    for (const SweepAxis& axis : sweep.axes)
        if (axis.kind == SweepAxis::Kind::WholeNetwork) models |= std::any_of(axis.values.begin(), axis.values.end(), model);
    if (models || !sweep.loadable.empty())
        throw ConfigError("--search", std::string("found a sweep of ") + (models ? "ONNX models" : "loadables") +
                                          ", expected layers or networks: nothing bounds those before they run");
}

}  // namespace

int search_points(const SweepOptions& options, const Sweep& sweep, const silicon::Technology& technology, SweepFolder& folder,
                  const PageFacts& facts)
{
    expect_bounds(sweep);
    std::map<std::size_t, std::optional<Objectives>> known;
    Tally tally;
    folder.store().each([&](const KeptPoint& kept) {
        if (kept.point >= sweep.points.size() || !folder.keeps(kept.point, kept.status)) return;
        known[kept.point] = result_of(kept.row);
        tally.add(kept.status);
    });
    if (!options.quiet && tally.ended != 0) say("{} points have ended before\n", tally.ended);
    const SearchedMachines machines(sweep, facts.machines);
    const std::size_t workloads = facts.machines.workloads.size();
    SweepProgress progress(std::min(options.search * workloads, sweep.points.size()), tally.ended, options.quiet);
    PointRunner runner(options, sweep, technology, folder);

    SearchProblem problem;
    for (std::size_t a = 0; a < facts.machines.axes.size(); ++a) problem.places.push_back(sweep.axes[a].places());
    problem.points = machines.places();
    problem.point = [&](const std::vector<std::size_t>& place) { return machines.at(place); };
    problem.bound = [&](std::size_t machine) {
        return machines.together(machine, [&](std::size_t w) -> std::optional<Objectives> {
            if (interrupted()) return std::nullopt;
            std::uint32_t clock_mhz = 0;
            const auto least = bound_of(sweep, *machines.points(machine)[w], technology, clock_mhz);
            return least && !machines.cannot_meet(w, *least, clock_mhz) ? least : std::nullopt;
        });
    };
    problem.run = [&](const std::vector<std::size_t>& list) -> std::optional<std::vector<std::optional<Objectives>>> {
        std::vector<std::size_t> points;
        for (const std::size_t machine : list)
            for (const auto& point : machines.points(machine))
                if (point) points.push_back(*point);
        std::size_t at = 0;
        const auto next = [&]() -> std::optional<std::size_t> {
            while (at < points.size() && known.contains(points[at])) ++at;
            return at < points.size() ? std::optional(points[at++]) : std::nullopt;
        };
        const bool all = !interrupted() && runner.run(next, [&](const KeptPoint& kept) {
            known[kept.point] = result_of(kept.row);
            tally.add(kept.status);
            progress.point(kept, tally.ended);
        });
        if (!all || interrupted()) return std::nullopt;
        std::vector<std::optional<Objectives>> results;
        results.reserve(list.size());
        for (const std::size_t machine : list)
            results.push_back(machines.together(machine, [&](std::size_t w) { return known.at(*machines.points(machine)[w]); }));
        return results;
    };
    const SearchOutcome outcome = search(problem, options.search, options.seed);
    if (outcome.interrupted || interrupted()) {
        const std::string csv = folder.write_tables(facts).string();
        say_error("dlasim: interrupted after {} points{}; --resume goes on from here\n", tally.ended,
                  csv.empty() ? "" : "; written " + printable(csv));
        return kInterrupted;
    }
    if (outcome.ran == 0) throw ConfigError(sweep.file, "no point of it can be; --list says why");
    folder.store().end();
    const std::string csv = folder.write_tables(facts).string();
    if (!options.quiet)
        say("{}; written {}\n", counted(outcome, machines.places().size(), workloads > 1 ? "machines" : "points"), printable(csv));
    return tally.status();
}

}  // namespace dlasim
