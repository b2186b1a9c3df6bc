#include "sweep/decision.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>
#include <utility>

namespace dlasim {
namespace {

constexpr std::size_t kFewest = 2, kMost = 8;  // points that run side by side
constexpr std::size_t kShare = 64;             // of the machines that are left
constexpr double kRounding = 1e-5;             // figures have six digits, and what bounds say together may be off by as much

using Point = DecisionProblem::Point;

class Decider {
public:
    Decider(const DecisionProblem& problem, const MachineQuestion& question) : problem_(problem), question_(question) {}
    Decision decide();

private:
    /// The order of machines: the best that may be first.
    struct Rank {
        double least = 0, energy = 0;
        bool exact = false;
        std::size_t machine = 0;
        bool operator<(const Rank& other) const
        {
            return std::tie(least, energy, machine) < std::tie(other.least, other.energy, other.machine);
        }
    };
    Rank rank_of(const KnownMachine& known, std::size_t machine) const;
    bool worse(const Rank& rank) const;
    void look_at(std::size_t machine);
    bool plan(std::size_t machine);
    bool whole(std::size_t machine) const { return std::ranges::all_of(decision_.machines[machine].points, &KnownPoint::ran); }
    std::size_t next_workload(std::size_t machine) const;
    std::vector<Point> next_points();
    bool run(const std::vector<Point>& points);
    void lose_the_rest();

    const DecisionProblem& problem_;
    const MachineQuestion& question_;
    Decision decision_;
    std::set<Rank> open_;
    std::vector<bool> planned_;
    std::optional<Rank> best_;
};

Decider::Rank Decider::rank_of(const KnownMachine& known, std::size_t machine) const
{
    const FigureRange range = known.range(question_.best);
    const bool more = more_is_better(question_.best);
    return {more ? -range.most : range.least, known.range("total_uj").least, range.exact(), machine};
}

/// The best one that ran stays better, or comes first of equal ones.
bool Decider::worse(const Rank& rank) const
{
    if (!best_) return false;
    if (!rank.exact) return rank.least - kRounding * std::abs(rank.least) > best_->least;
    if (rank.least != best_->least) return rank.least > best_->least;
    return rank.energy * (1 - kRounding) > best_->energy;
}

/// Puts a machine back into the order after more is known of it.
void Decider::look_at(std::size_t machine)
{
    DecidedMachine& decided = decision_.machines[machine];
    const KnownMachine known(decided.points, question_);
    const Rank rank = rank_of(known, machine);
    if (whole(machine)) {
        std::vector<const nlohmann::ordered_json*> rows;
        for (const KnownPoint& point : decided.points) rows.push_back(&point.least);
        if (machine_of(rows, question_, {}, 0).meets && rank.exact && (!best_ || rank < *best_)) best_ = rank;
        return;
    }
    decided.lost = known.cannot_meet();
    decided.cannot_meet = !decided.lost.empty();
    if (decided.cannot_meet) ++decision_.cannot_meet;
    else open_.insert(rank);
}

/// False if a point of it cannot be.
bool Decider::plan(std::size_t machine)
{
    planned_[machine] = true;
    ++decision_.planned;
    std::vector<KnownPoint>& points = decision_.machines[machine].points;
    for (std::size_t w = 0; w < points.size(); ++w) {
        std::optional<KnownPoint> bound = problem_.bound({machine, w});
        if (!bound) {
            problem_.run({{machine, w}});  // says why
            return false;
        }
        points[w] = std::move(*bound);
    }
    return true;
}

/// The one that takes most of the machine.
std::size_t Decider::next_workload(std::size_t machine) const
{
    const std::vector<KnownPoint>& points = decision_.machines[machine].points;
    std::size_t next = 0;
    double most = -1;
    for (std::size_t w = 0; w < points.size(); ++w) {
        const AskedWorkload& asked = question_.workloads[w];
        const double share = figure_of(points[w].least, "time_us").value_or(0) * (asked.rate > 0 ? asked.rate : asked.weight);
        if (points[w].ran || share <= most) continue;
        most = share;
        next = w;
    }
    return next;
}

/// Of the machines that may be the best, a point each.
std::vector<Point> Decider::next_points()
{
    const std::size_t count = std::clamp(open_.size() / kShare, kFewest, kMost);
    std::vector<Point> points;
    while (points.size() < count && !open_.empty() && !worse(*open_.begin())) {
        const Rank first = *open_.begin();
        open_.erase(open_.begin());
        if (planned_[first.machine]) {
            points.push_back({first.machine, next_workload(first.machine)});
        } else if (plan(first.machine)) {
            look_at(first.machine);
        }
    }
    return points;
}

bool Decider::run(const std::vector<Point>& points)
{
    auto rows = problem_.run(points);
    if (!rows) return false;
    for (std::size_t i = 0; i < points.size(); ++i) {
        nlohmann::ordered_json& row = (*rows)[i];
        if (!figure_of(row, "cycles")) continue;  // no result: it says why
        decision_.machines[points[i].machine].points[points[i].workload] = {row, row, true};
        look_at(points[i].machine);
    }
    return true;
}

void Decider::lose_the_rest()
{
    for (const Rank& rank : open_) {
        const bool more = more_is_better(question_.best);
        decision_.machines[rank.machine].lost = fmt::format("{} {:.4g}{}, found {:.4g}", question_.best, more ? -rank.least : rank.least,
                                                            rank.exact ? ""
                                                            : more     ? " at most"
                                                                       : " at least",
                                                            more ? -best_->least : best_->least);
        ++decision_.worse;
    }
}

Decision Decider::decide()
{
    decision_.machines.resize(problem_.machines);
    planned_.resize(problem_.machines);
    for (std::size_t machine = 0; machine < problem_.machines; ++machine) {
        for (std::size_t w = 0; w < question_.workloads.size(); ++w)
            decision_.machines[machine].points.push_back(problem_.outline({machine, w}));
        look_at(machine);
    }
    for (std::vector<Point> points = next_points(); !points.empty(); points = next_points())
        if (!run(points)) {
            decision_.interrupted = true;
            return std::move(decision_);
        }
    lose_the_rest();
    return std::move(decision_);
}

}  // namespace

Decision decide(const DecisionProblem& problem, const MachineQuestion& question) { return Decider(problem, question).decide(); }

}  // namespace dlasim
