// What --optimise looks for: the best figure, or expression of figures, of a network that meets its requirements. Figures, expressions and
// requirements are those of sweeps (sweep/requirement.h).
//
//   --best total_uj --require "cycles <= 500000"
//
// Without --best: the fewest cycles; the fewest bytes of a network that minimises traffic. Unless --best or --require is of energy or
// power, the program takes at most 5 % more energy than the planner's own.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "config/json_object.h"
#include "config/model/network.h"
#include "sweep/requirement.h"

namespace dlasim {

/// A program that was simulated.
struct TriedProgram {
    std::vector<double> figures;      // those of figure_names(); NaN: it has none
    std::vector<std::int64_t> steps;  // cycles of each, of the CPU 0

    double figure(const std::string& name) const;
};

/// Of the numbers in the table of a sweep, in its order.
const std::vector<std::string>& figure_names();
std::vector<double> figures_in_order(const OrderedJson& row);

class Objective {
public:
    /// Throws ConfigError if one of the texts cannot be read.
    Objective(const std::string& best, const std::string& require, const Network& network);

    /// The figure or expression.
    const std::string& best() const { return best_; }
    /// What the program must meet, joined by &&; empty without requirements.
    std::string required() const;
    /// `usual`: the planner's own program. The one at the start may take more.
    void limit_energy(const TriedProgram& usual, const TriedProgram& start);
    /// Requirements that the program misses, with what it has; empty if it meets all.
    std::string missed(const TriedProgram& tried) const;

    /// In the order in which they decide, less is better.
    struct Score {
        double missed = 0;  // how far requirements are missed, a share
        double cost = 0;    // the figure, negative if more is better
        double dbb_bytes = 0, cvsram_bytes = 0, cycles = 0;
    };
    Score score(const TriedProgram& tried) const;
    /// The best, by its place; scores that cost at most `near` more than the least decide by their bytes. pre: !scores.empty()
    static std::size_t best_of(const std::vector<Score>& scores, double near);
    /// A program of at least these cycles cannot be better than the score by more than `near`.
    bool cannot_gain(std::uint64_t least_cycles, const Score& than, double near) const;
    double value_of(double cost) const { return more_ ? -cost : cost; }

private:
    std::string best_;
    std::vector<Requirement> required_;
    bool more_ = false;          // of it is better
    bool limits_energy_ = true;  // unless --best or --require is of it
};

}  // namespace dlasim
