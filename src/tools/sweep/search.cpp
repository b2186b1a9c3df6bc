#include "sweep/search.h"

#include <tbb/global_control.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <pagmo/algorithms/nsga2.hpp>
#include <pagmo/bfe.hpp>
#include <pagmo/population.hpp>
#include <pagmo/problem.hpp>
#include <pagmo/utils/multi_objective.hpp>
#include <random>

namespace dlasim {
namespace {

using Place = std::vector<std::size_t>;
using pagmo::vector_double;

constexpr std::size_t kMaxBounded = 4096;  // points of which the bounds are looked at before the first one runs
constexpr int kMaxStalled = 10;            // generations in which nothing new was chosen
constexpr double kWorst = 1e3;             // logarithm of what cannot be
constexpr double kMissed = 20;             // and what is added to that of what misses a requirement: more than points differ by

struct Interrupted {};

bool as_good(const Objectives& a, const Objectives& b) { return a[0] <= b[0] && a[1] <= b[1] && a[2] <= b[2]; }

/// Ratios count, whatever the unit.
vector_double fitness_of(const Objectives& objectives, double missed = 0)
{
    const double more = missed > 0 ? kMissed * (1 + std::min(missed, 10.0)) : 0;
    return {std::log(objectives[0]) + more, std::log(objectives[1]) + more, std::log(objectives[2]) + more};
}

class Search {
public:
    Search(const SearchProblem& problem, std::size_t most, std::uint32_t seed) : problem_(problem), most_(most), seed_(seed), random_(seed)
    {
        for (std::size_t a = 0; a < problem.places.size(); ++a)
            if (problem.places[a] > 1) axes_.push_back(a);
    }
    SearchOutcome outcome();
    void run();
    /// Of places one after another, three numbers each. Runs what is new.
    vector_double fitness(const vector_double& places);
    const SearchProblem& problem() const { return problem_; }
    const std::vector<std::size_t>& axes() const { return axes_; }

private:
    const std::optional<Objectives>& bound(std::size_t point);
    bool beaten(const Objectives& bound) const;
    bool open(std::size_t point);
    std::vector<std::size_t> best_open(std::size_t count);
    void run_points(const std::vector<std::size_t>& points);
    vector_double fitness_of_point(std::size_t point);
    bool enough() const { return known_.size() >= most_; }
    std::size_t family() const { return std::clamp<std::size_t>(most_ / 32 * 4, 8, 100); }

    const SearchProblem& problem_;
    std::size_t most_;
    std::uint32_t seed_;
    std::mt19937_64 random_;
    std::vector<std::size_t> axes_;  // with more than one place
    std::vector<std::size_t> looked_at_;
    std::map<std::size_t, std::optional<Objectives>> bounds_;
    std::map<std::size_t, std::optional<SearchResult>> known_;
};

/// The space as pagmo sees it: a whole number an axis that has a choice.
struct Space {
    Search* search = nullptr;

    vector_double fitness(const vector_double& place) const { return search->fitness(place); }
    std::pair<vector_double, vector_double> get_bounds() const
    {
        vector_double low, high;
        for (const std::size_t axis : search->axes()) {
            low.push_back(0);
            high.push_back(static_cast<double>(search->problem().places[axis] - 1));
        }
        return {low, high};
    }
    vector_double::size_type get_nobj() const { return 3; }
    vector_double::size_type get_nix() const { return search->axes().size(); }
};

/// A whole generation, so that its points run in parallel.
struct Generation {
    Search* search = nullptr;
    vector_double operator()(const pagmo::problem&, const vector_double& places) const { return search->fitness(places); }
};

const std::optional<Objectives>& Search::bound(std::size_t point)
{
    const auto there = bounds_.find(point);
    return there != bounds_.end() ? there->second : bounds_.emplace(point, problem_.bound(point)).first->second;
}

bool Search::beaten(const Objectives& bound) const
{
    return std::any_of(known_.begin(), known_.end(), [&](const auto& known) {
        return known.second && known.second->missed == 0 && as_good(known.second->objectives, bound);
    });
}

/// It may be better than all that is known.
bool Search::open(std::size_t point) { return !known_.contains(point) && bound(point) && !beaten(*bound(point)); }

/// Of the points whose bounds were looked at, those with the best bounds.
std::vector<std::size_t> Search::best_open(std::size_t count)
{
    std::vector<std::size_t> points;
    std::vector<vector_double> bounds;
    for (const std::size_t point : looked_at_)
        if (open(point)) {
            points.push_back(point);
            bounds.push_back(fitness_of(*bound(point)));
        }
    if (points.size() <= count) return points;
    std::vector<std::size_t> best;
    for (const auto place : pagmo::select_best_N_mo(bounds, count)) best.push_back(points[place]);
    return best;
}

void Search::run_points(const std::vector<std::size_t>& points)
{
    if (points.empty()) return;
    const auto results = problem_.run(points);
    if (!results) throw Interrupted();
    for (std::size_t i = 0; i < points.size(); ++i) known_[points[i]] = (*results)[i];
}

vector_double Search::fitness_of_point(std::size_t point)
{
    const auto known = known_.find(point);
    if (known != known_.end() && known->second) return fitness_of(known->second->objectives, known->second->missed);
    if (known == known_.end() && bound(point)) return fitness_of(*bound(point));
    return vector_double(3, kWorst);
}

vector_double Search::fitness(const vector_double& places)
{
    std::vector<std::optional<std::size_t>> points;
    std::vector<std::size_t> fresh;
    for (std::size_t start = 0; start < places.size(); start += axes_.size()) {
        Place place(problem_.places.size());
        for (std::size_t a = 0; a < axes_.size(); ++a) place[axes_[a]] = static_cast<std::size_t>(places[start + a]);
        points.push_back(problem_.point(place));
        if (!points.back() || known_.size() + fresh.size() >= most_ || !open(*points.back())) continue;
        if (std::find(fresh.begin(), fresh.end(), *points.back()) == fresh.end()) fresh.push_back(*points.back());
    }
    run_points(fresh);
    vector_double fitness;
    for (const std::optional<std::size_t>& point : points) {
        const vector_double own = point ? fitness_of_point(*point) : vector_double(3, kWorst);
        fitness.insert(fitness.end(), own.begin(), own.end());
    }
    return fitness;
}

void Search::run()
{
    // The points run in children of this process: a thread of pagmo's could hold a lock when one begins.
    const tbb::global_control one_thread(tbb::global_control::max_allowed_parallelism, 1);
    const std::size_t all = problem_.points.size();
    for (std::size_t i = 0; i < std::min(all, kMaxBounded); ++i) looked_at_.push_back(all <= kMaxBounded ? i : random_() % all);
    std::sort(looked_at_.begin(), looked_at_.end());
    looked_at_.erase(std::unique(looked_at_.begin(), looked_at_.end()), looked_at_.end());

    if (axes_.empty()) return run_points(best_open(1));
    pagmo::nsga2 choose(1, 0.95, 10, 1.0 / static_cast<double>(axes_.size()), 10, seed_);
    choose.set_bfe(pagmo::bfe(Generation{this}));
    pagmo::population family(pagmo::problem(Space{this}), 0, seed_);
    for (int stalled = kMaxStalled; !enough();) {
        if (stalled >= kMaxStalled) {
            // The best that is known goes on with what has the best bounds of the rest.
            std::vector<std::size_t> next = best_open(this->family());
            if (next.empty()) return;
            next.resize(std::min(next.size(), most_ - known_.size()));
            run_points(next);
            std::vector<std::size_t> members;
            std::vector<vector_double> fitnesses;
            for (const auto& [point, result] : known_) {
                members.push_back(point);
                fitnesses.push_back(fitness_of_point(point));
            }
            family = pagmo::population(pagmo::problem(Space{this}), 0, seed_);
            const auto best = fitnesses.size() > 1 ? pagmo::select_best_N_mo(fitnesses, std::min(fitnesses.size(), this->family()))
                                                   : std::vector<pagmo::pop_size_t>{0};
            for (std::size_t i = 0; i < this->family(); ++i) {
                const auto one = best[i % best.size()];
                vector_double place;
                for (const std::size_t axis : axes_) place.push_back(static_cast<double>(problem_.points[members[one]][axis]));
                family.push_back(place, fitnesses[one]);
            }
            stalled = 0;
        }
        const std::size_t before = known_.size();
        family = choose.evolve(family);
        stalled = known_.size() == before ? stalled + 1 : 0;
    }
}

SearchOutcome Search::outcome()
{
    SearchOutcome outcome;
    outcome.ran = known_.size();
    std::vector<Objectives> meeting;
    for (const auto& known : known_)
        if (known.second && known.second->missed == 0) meeting.push_back(known.second->objectives);
    outcome.front = static_cast<std::size_t>(std::ranges::count_if(meeting, [&](const Objectives& one) {
        return std::ranges::none_of(meeting, [&](const Objectives& other) { return as_good(other, one) && other != one; });
    }));
    outcome.left = problem_.points.size() - known_.size();
    for (const auto& [point, bound] : bounds_) {
        if (known_.contains(point)) continue;
        outcome.refused += !bound;
        outcome.beaten += bound && beaten(*bound);
    }
    outcome.left -= outcome.refused + outcome.beaten;
    return outcome;
}

}  // namespace

void require_search() {}

SearchOutcome search(const SearchProblem& problem, std::size_t most, std::uint32_t seed)
{
    Search search(problem, most, seed);
    bool interrupted = false;
    try {
        search.run();
    } catch (const Interrupted&) {
        interrupted = true;
    }
    SearchOutcome outcome = search.outcome();
    outcome.interrupted = interrupted;
    return outcome;
}

}  // namespace dlasim
