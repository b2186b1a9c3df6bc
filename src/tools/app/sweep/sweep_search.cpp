#include "app/sweep/sweep_search.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <set>

#include "app/interrupt.h"
#include "app/status.h"
#include "app/sweep/sweep_bounds.h"
#include "app/sweep/sweep_points.h"
#include "app/sweep/sweep_progress.h"
#include "base/error.h"
#include "base/files/console.h"
#include "sweep/requirement.h"
#include "sweep/search.h"

namespace dlasim {
namespace {

/// Of a point with this workload.
std::optional<SearchResult> result_of(const nlohmann::ordered_json& row, const MachineQuestion& question, std::size_t workload)
{
    SearchResult result;
    const char* columns[] = {"cycles", "total_uj", "area_mm2"};
    for (std::size_t i = 0; i < result.objectives.size(); ++i) {
        const std::optional<double> value = figure_of(row, columns[i]);
        if (!value) return std::nullopt;
        result.objectives[i] = std::max(1e-9, *value);
    }
    for (const std::vector<Requirement>* list : {&question.require, &question.workloads[workload].require})
        for (const Requirement& r : *list) {
            const std::optional<double> value = figure_of(row, r.column);
            if (!value || !r.met(*value)) result.missed += value ? std::max(1e-9, -r.margin(*value)) : 1;
        }
    return result;
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
    std::optional<SearchResult> together(std::size_t machine,
                                         const std::function<std::optional<SearchResult>(std::size_t workload)>& of) const
    {
        SearchResult sum;
        for (std::size_t w = 0; w < points_[machine].size(); ++w) {
            const std::optional<SearchResult> one = points_[machine][w] ? of(w) : std::nullopt;
            if (!one) return std::nullopt;
            for (std::size_t i = 0; i < 2; ++i) sum.objectives[i] += question_.workloads[w].weight * one->objectives[i];
            sum.objectives[2] = one->objectives[2];
            sum.missed += one->missed;
        }
        return sum;
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
    const auto workload_of = [&](std::size_t point) { return sweep.workloads.empty() ? 0 : sweep.points[point].back(); };
    std::map<std::size_t, std::optional<SearchResult>> known;
    const auto keep_result = [&](const KeptPoint& kept) {
        known[kept.point] = result_of(kept.row, facts.machines, workload_of(kept.point));
    };
    Tally tally;
    folder.store().each([&](const KeptPoint& kept) {
        if (kept.point >= sweep.points.size() || !folder.keeps(kept.point, kept.status)) return;
        keep_result(kept);
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
        const auto together = machines.together(machine, [&](std::size_t w) -> std::optional<SearchResult> {
            if (interrupted()) return std::nullopt;
            const std::optional<PointBounds> bounds = bounds_of(sweep, *machines.points(machine)[w], technology);
            return bounds && cannot_meet(*bounds, facts.machines, w).empty() ? std::optional(SearchResult{bounds->least}) : std::nullopt;
        });
        return together ? std::optional(together->objectives) : std::nullopt;
    };
    problem.run = [&](const std::vector<std::size_t>& list) -> std::optional<std::vector<std::optional<SearchResult>>> {
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
            keep_result(kept);
            tally.add(kept.status);
            progress.point(kept, tally.ended);
        });
        if (!all || interrupted()) return std::nullopt;
        std::vector<std::optional<SearchResult>> results;
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
