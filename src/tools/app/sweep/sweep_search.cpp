#include "app/sweep/sweep_search.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <set>

#include "app/interrupt.h"
#include "app/status.h"
#include "app/sweep/machine_points.h"
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

/// Cycles and energies of a mix, by weight; none if one has none.
std::optional<SearchResult> together(const std::vector<std::optional<std::size_t>>& points, const MachineQuestion& question,
                                     const std::function<std::optional<SearchResult>(std::size_t workload)>& of)
{
    SearchResult sum;
    for (std::size_t w = 0; w < points.size(); ++w) {
        const std::optional<SearchResult> one = points[w] ? of(w) : std::nullopt;
        if (!one) return std::nullopt;
        for (std::size_t i = 0; i < 2; ++i) sum.objectives[i] += question.workloads[w].weight * one->objectives[i];
        sum.objectives[2] = one->objectives[2];
        sum.missed += one->missed;
    }
    return sum;
}

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
    std::vector<Json> all{sweep.work};
    for (const SweepAxis& axis : sweep.axes)
        if (axis.kind == SweepAxis::Kind::Work) all.insert(all.end(), axis.values.begin(), axis.values.end());
    for (const Json& work : all)
        if (const WorkKind& kind = swept_kind(sweep.runs, work); !kind.bounded)
            throw ConfigError("--search", std::string("found a sweep of ") + kind.many +
                                              ", expected layers or networks: the others have no bounds before they run");
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
    if (!options.quiet && tally.ended != 0) say("{} points completed earlier\n", tally.ended);
    const MachinePoints machines(sweep, facts.machines);
    const std::size_t workloads = facts.machines.workloads.size();
    SweepProgress progress(std::min(options.search * workloads, sweep.points.size()), tally.ended, options.quiet);
    PointRunner runner(options, sweep, technology, folder);

    SearchProblem problem;
    for (std::size_t a = 0; a < facts.machines.axes.size(); ++a) problem.places.push_back(sweep.axes[a].places());
    problem.points = machines.places();
    problem.point = [&](const std::vector<std::size_t>& place) { return machines.at(place); };
    problem.bound = [&](std::size_t machine) -> std::optional<Objectives> {
        std::vector<KnownPoint> points(workloads);
        const auto sum = together(machines.points(machine), facts.machines, [&](std::size_t w) -> std::optional<SearchResult> {
            if (interrupted()) return std::nullopt;
            const std::optional<PointBounds> bounds = bounds_of(sweep, *machines.points(machine)[w], technology);
            if (bounds) points[w] = bounds->known();
            return bounds ? std::optional(SearchResult{bounds->least}) : std::nullopt;
        });
        return sum && KnownMachine(points, facts.machines).cannot_meet().empty() ? std::optional(sum->objectives) : std::nullopt;
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
            results.push_back(
                together(machines.points(machine), facts.machines, [&](std::size_t w) { return known.at(*machines.points(machine)[w]); }));
        return results;
    };
    const SearchOutcome outcome = search(problem, options.search, options.seed);
    if (outcome.interrupted || interrupted()) {
        const std::string csv = folder.write_tables(facts).string();
        say_error("dlasim: interrupted after {} points{}; --resume continues\n", tally.ended,
                  csv.empty() ? "" : "; written " + printable(csv));
        return kInterrupted;
    }
    if (outcome.ran == 0) throw ConfigError(sweep.file, "none of its points can run; --list names the rules");
    folder.store().end();
    const std::string csv = folder.write_tables(facts).string();
    if (!options.quiet)
        say("{}; written {}\n", counted(outcome, machines.places().size(), workloads > 1 ? "machines" : "points"), printable(csv));
    return tally.status();
}

}  // namespace dlasim
