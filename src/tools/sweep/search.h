// Finds the Pareto front of a space in cycles, energy and area without running all points.
//
//   bounds of points ──► the best of them ──► generations: NSGA-II chooses ──► run ──► results ──┐
//                                                 ▲   points that a result beats are skipped ◄──┘
//
// The points that run are decided by the seed and by results alone, so that a search that was interrupted goes the same way again.
//
// Source  Deb et al., A fast and elitist multiobjective genetic algorithm: NSGA-II, 2002, as pagmo has it.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace dlasim {

/// Less is better in each; above 0.
using Objectives = std::array<double, 3>;

struct SearchResult {
    Objectives objectives{};
    double missed = 0;  // by how much it misses what is required, in shares of it; 0: it meets everything
};

struct SearchProblem {
    std::vector<std::size_t> places;                                                         // on each axis
    std::function<std::optional<std::size_t>(const std::vector<std::size_t>& place)> point;  // none: excluded
    std::vector<std::vector<std::size_t>> points;                                            // all of them, by number
    std::function<std::optional<Objectives>(std::size_t point)> bound;                       // none: it cannot be
    /// Runs these points and gives their results, none where there is none. Nothing after an interrupt.
    std::function<std::optional<std::vector<std::optional<SearchResult>>>(const std::vector<std::size_t>& points)> run;
};

struct SearchOutcome {
    bool interrupted = false;
    std::size_t ran = 0;
    std::size_t front = 0;    // points that meet everything and no other such one beats
    std::size_t left = 0;     // points of which nothing is known but that no result beats their bound
    std::size_t beaten = 0;   // that need not run: a result is at least as good as their bound
    std::size_t refused = 0;  // that cannot be
};

/// Refuses --search in a build without it.
void require_search();

/// Runs `most` points at most, fewer if no other point can be better than what is known.
SearchOutcome search(const SearchProblem& problem, std::size_t most, std::uint32_t seed);

}  // namespace dlasim
