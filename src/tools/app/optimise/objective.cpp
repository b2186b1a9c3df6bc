#include "app/optimise/objective.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "base/error.h"
#include "sweep/figures.h"

namespace dlasim {
namespace {

constexpr double kMoreEnergy = 1.05;  // than the planner's own program
constexpr const char *kCycles = "cycles", *kEnergy = "total_uj";

bool of_energy(const std::string& column)
{
    return std::ranges::any_of(figures_in(column), [](const std::string& name) { return name.ends_with("_uj") || name.ends_with("_mw"); });
}

OrderedJson row_of(const TriedProgram& tried)
{
    OrderedJson row;
    for (std::size_t i = 0; i < tried.figures.size(); ++i)
        row[figure_names()[i]] = std::isnan(tried.figures[i]) ? OrderedJson() : OrderedJson(tried.figures[i]);
    return row;
}

}  // namespace

const std::vector<std::string>& figure_names()
{
    static const std::vector<std::string> names = [] {
        std::vector<std::string> list;
        for (const PlacedKey& key : figure_keys())
            if ((key.row.type.starts_with("number") || key.row.type.starts_with("integer")) && key.path.find('*') == std::string::npos)
                list.push_back(key.path);
        return list;
    }();
    return names;
}

std::vector<double> figures_in_order(const OrderedJson& row)
{
    std::vector<double> figures;
    for (const std::string& name : figure_names())
        figures.push_back(figure_of(row, name).value_or(std::numeric_limits<double>::quiet_NaN()));
    return figures;
}

double TriedProgram::figure(const std::string& name) const
{
    return figures[static_cast<std::size_t>(std::ranges::find(figure_names(), name) - figure_names().begin())];
}

Objective::Objective(const std::string& best, const std::string& require, const Network& network)
    : best_(!best.empty()                           ? figure_named(best, "--best")
            : network.minimise == Minimise::Traffic ? "dbb_read_bytes + dbb_write_bytes"
                                                    : kCycles),
      required_(read_requirements(require, "--require")),
      more_(more_is_better(best_)),
      limits_energy_(!of_energy(best_) && std::ranges::none_of(required_, of_energy, &Requirement::column))
{
}

std::string Objective::required() const
{
    std::string text;
    for (const Requirement& requirement : required_) text += (text.empty() ? "" : " && ") + requirement.text();
    return text;
}

void Objective::limit_energy(const TriedProgram& usual, const TriedProgram& start)
{
    const double energy = usual.figure(kEnergy), most = std::max(shown(kMoreEnergy * energy), start.figure(kEnergy));
    if (limits_energy_ && !std::isnan(most)) required_.push_back({kEnergy, Requirement::Is::AtMost, most});
    limits_energy_ = false;
}

std::string Objective::missed(const TriedProgram& tried) const
{
    std::string text;
    for (const Requirement& requirement : required_)
        if (const std::optional<double> value = figure_of(row_of(tried), requirement.column); value && !requirement.met(*value))
            text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", requirement.text(), *value);
    return text;
}

Objective::Score Objective::score(const TriedProgram& tried) const
{
    const OrderedJson row = row_of(tried);
    const auto of_port = [&](const char* read, const char* written) {
        return figure_of(row, read).value_or(0) + figure_of(row, written).value_or(0);
    };
    const std::optional<double> value = figure_of(row, best_);
    if (!value) throw ConfigError("--best", "found " + best_ + ", expected a figure that the network has on this machine");
    Score score{.cost = more_ ? -*value : *value,
                .dbb_bytes = of_port("dbb_read_bytes", "dbb_write_bytes"),
                .cvsram_bytes = of_port("cvsram_read_bytes", "cvsram_write_bytes"),
                .cycles = tried.figure(kCycles)};
    for (const Requirement& requirement : required_) {
        const std::optional<double> of = figure_of(row, requirement.column);
        if (!of) throw ConfigError("--require", "found " + requirement.text() + ", expected figures that the network has on this machine");
        if (!requirement.met(*of)) score.missed += std::max(-requirement.margin(*of), 1e-9);
    }
    return score;
}

std::size_t Objective::best_of(const std::vector<Score>& scores, double near)
{
    const double missed = std::ranges::min(scores, {}, &Score::missed).missed;
    double least = std::numeric_limits<double>::infinity();
    for (const Score& score : scores)
        if (score.missed == missed) least = std::min(least, score.cost);
    std::size_t best = scores.size();
    const auto rank = [&](std::size_t i) {
        return std::tuple(scores[i].dbb_bytes, scores[i].cvsram_bytes, scores[i].cost, scores[i].cycles);
    };
    for (std::size_t i = 0; i < scores.size(); ++i)
        if (scores[i].missed == missed && scores[i].cost <= least + near && (best == scores.size() || rank(i) < rank(best))) best = i;
    return best;
}

bool Objective::cannot_gain(std::uint64_t least_cycles, const Score& than, double near) const
{
    if (than.missed > 0) return false;
    const auto range = [&](const std::string& column) {
        return range_of(column, [&](const std::string& name) {
            return name == kCycles ? FigureRange{.least = static_cast<double>(least_cycles)} : FigureRange{};
        });
    };
    const FigureRange cost = range(best_);
    if ((more_ ? -cost.most : cost.least) >= than.cost + near) return true;
    return std::ranges::any_of(required_, [&](const Requirement& r) { return cannot_meet(r, range(r.column)); });
}

}  // namespace dlasim
