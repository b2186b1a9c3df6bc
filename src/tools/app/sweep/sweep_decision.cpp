#include "app/sweep/sweep_decision.h"

#include <fmt/format.h>

#include <map>

#include "app/interrupt.h"
#include "app/status.h"
#include "app/sweep/machine_points.h"
#include "app/sweep/sweep_bounds.h"
#include "app/sweep/sweep_points.h"
#include "app/sweep/sweep_progress.h"
#include "app/sweep/sweep_row.h"
#include "base/error.h"
#include "base/files/console.h"
#include "sweep/decision.h"

namespace dlasim {
namespace {

bool is_spared(const KeptPoint& kept)
{
    const std::string reason = kept.row.value("reason", "");
    return reason.starts_with(kCannotMeet) || reason.starts_with(kCannotWin);
}

class DecidedSweep {
public:
    DecidedSweep(const SweepOptions& options, const Sweep& sweep, const silicon::Technology& technology, SweepFolder& folder,
                 const MachineQuestion& question)
        : options_(options),
          sweep_(sweep),
          technology_(technology),
          folder_(folder),
          question_(question),
          machines_(sweep, question),
          runner_(options, sweep, technology, folder)
    {
        folder.store().each([&](const KeptPoint& kept) {
            if (kept.point >= sweep.points.size() || is_spared(kept) || !folder.keeps(kept.point, kept.status)) return;
            known_[kept.point] = kept.row;
            tally_.add(kept.status);
        });
        if (!options.quiet && tally_.ended != 0) say("{} points have ended before\n", tally_.ended);
    }
    Decision decide()
    {
        DecisionProblem problem;
        problem.machines = machines_.places().size();
        problem.outline = [&](const DecisionProblem::Point& point) { return outline(point); };
        problem.bound = [&](const DecisionProblem::Point& point) { return bound(point); };
        problem.run = [&](const std::vector<DecisionProblem::Point>& points) { return run(points); };
        return dlasim::decide(problem, question_);
    }
    const Tally& tally() const { return tally_; }
    std::size_t machines() const { return machines_.places().size(); }
    /// Rows of the points that need not run.
    void keep_spared(const Decision& decision)
    {
        std::vector<KeptPoint> rows;
        for (std::size_t m = 0; m < decision.machines.size(); ++m) {
            const DecidedMachine& machine = decision.machines[m];
            for (std::size_t w = 0; w < machine.points.size(); ++w) {
                const std::optional<std::size_t>& point = machines_.points(m)[w];
                if (point && !known_.contains(*point)) rows.push_back(spared(*point, machine, machine.points[w]));
            }
        }
        folder_.store().keep(rows);
    }

private:
    std::optional<std::size_t> number(const DecisionProblem::Point& point) const { return machines_.points(point.machine)[point.workload]; }
    KnownPoint outline(const DecisionProblem::Point& point) const
    {
        const auto index = number(point);
        return index ? outline_of_point(sweep_, *index, technology_).value_or(KnownPoint{}) : KnownPoint{};
    }
    std::optional<KnownPoint> bound(const DecisionProblem::Point& point) const
    {
        const auto index = number(point);
        const auto bounds = index ? bounds_of(sweep_, *index, technology_) : std::nullopt;
        return bounds ? std::optional(bounds->known()) : std::nullopt;
    }
    std::optional<std::vector<nlohmann::ordered_json>> run(const std::vector<DecisionProblem::Point>& points)
    {
        std::size_t at = 0;
        const auto next = [&]() -> std::optional<std::size_t> {
            while (at < points.size() && (!number(points[at]) || known_.contains(*number(points[at])))) ++at;
            return at < points.size() ? number(points[at++]) : std::nullopt;
        };
        const bool all = !interrupted() && runner_.run(next, [&](const KeptPoint& kept) {
            known_[kept.point] = kept.row;
            tally_.add(kept.status);
            progress_.point(kept, tally_.ended);
        });
        if (!all || interrupted()) return std::nullopt;
        std::vector<nlohmann::ordered_json> rows;
        for (const DecisionProblem::Point& point : points)
            rows.push_back(number(point) ? known_.at(*number(point)) : nlohmann::ordered_json::object());
        return rows;
    }
    KeptPoint spared(std::size_t index, const DecidedMachine& machine, const KnownPoint& known) const
    {
        const bool lost = !machine.lost.empty();
        return row_without_run(sweep_, index, known.least.value("area_mm2", OrderedJson()),
                               fmt::format("{}{}: it need not run", lost && !machine.cannot_meet ? kCannotWin : kCannotMeet,
                                           lost ? machine.lost : "another workload of this machine has no result"));
    }

    const SweepOptions& options_;
    const Sweep& sweep_;
    const silicon::Technology& technology_;
    SweepFolder& folder_;
    const MachineQuestion& question_;
    MachinePoints machines_;
    PointRunner runner_;
    std::map<std::size_t, nlohmann::ordered_json> known_;
    Tally tally_;
    SweepProgress progress_{sweep_.points.size(), 0, options_.quiet};
};

}  // namespace

int decide_points(const SweepOptions& options, const Sweep& sweep, const silicon::Technology& technology, SweepFolder& folder,
                  const PageFacts& facts)
{
    DecidedSweep decided(options, sweep, technology, folder, facts.machines);
    const Decision decision = decided.decide();
    const Tally& tally = decided.tally();
    if (decision.interrupted || interrupted()) {
        const std::string csv = folder.write_tables(facts).string();
        say_error("dlasim: interrupted after {} points{}; --resume goes on from here\n", tally.ended,
                  csv.empty() ? "" : "; written " + printable(csv));
        return kInterrupted;
    }
    decided.keep_spared(decision);
    folder.store().end();
    const std::string csv = folder.write_tables(facts).string();
    if (!options.quiet)
        say("decided among {} machines with {} of {} points run: {} cannot meet what is required, {} can be no better; written {}\n",
            grouped(decided.machines()), tally.ended, grouped(sweep.points.size()), grouped(decision.cannot_meet), grouped(decision.worse),
            printable(csv));
    return tally.broke != 0 || tally.differ != 0 || tally.no_memory != 0 || tally.results == 0 ? tally.status() : kDone;
}

}  // namespace dlasim
