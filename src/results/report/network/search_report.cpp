#include "report/network/search_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

#include "base/files/printable.h"

namespace dlasim {
namespace {

constexpr double kAtBound = 0.01;  // a step that is less than this above its bound is there
constexpr std::size_t kMostRows = 12;

bool is_whole(double value) { return value == std::floor(value) && std::abs(value) < 9e15; }

OrderedJson number(double value) { return is_whole(value) ? OrderedJson(static_cast<std::int64_t>(value)) : OrderedJson(value); }

std::string digits(double value)
{
    return is_whole(value) ? fmt::format("{}", static_cast<std::int64_t>(value)) : fmt::format("{:.6g}", value);
}

std::string percent(double before, double after) { return fmt::format("{:+.1f} %", before == 0 ? 0 : 100 * (after / before - 1)); }

OrderedJson if_any(double bytes) { return bytes == 0 ? kAbsent : number(bytes); }

constexpr std::array kKeptKeys{
    Key<KeptDecision>{{"step", "text", "", "of it; the network for all"}, value_of<&KeptDecision::step>},
    Key<KeptDecision>{{"decision", "text", "", "a key of `decide`, or partition"}, value_of<&KeptDecision::decision>},
    Key<KeptDecision>{{"was", "text", "", "in the program before"}, value_of<&KeptDecision::was>},
    Key<KeptDecision>{{"is", "text", "", "now"}, value_of<&KeptDecision::is>},
    Key<KeptDecision>{{"gained", "number", "of the objective", "by it"}, [](const KeptDecision& kept) { return number(kept.gained); }},
    Key<KeptDecision>{{"unit", "text", "", "the objective"}, value_of<&KeptDecision::unit>},
    Key<KeptDecision>{{"dbb_bytes", "integer", "bytes", "more over DBB", "other than 0"},
                      [](const KeptDecision& kept) { return if_any(kept.dbb_bytes); }},
    Key<KeptDecision>{{"cvsram_bytes", "integer", "bytes", "more over CVSRAM", "other than 0"},
                      [](const KeptDecision& kept) { return if_any(kept.cvsram_bytes); }},
    Key<KeptDecision>{{"with_next", "flag", "", "true: it was made together with the next one", "made together"},
                      [](const KeptDecision& kept) { return kept.with_next ? OrderedJson(true) : kAbsent; }},
};

constexpr std::string_view kSimulated = "another plan was simulated";
constexpr std::array kSearchedStepKeys{
    Key<SearchedStep>{{"name", "text", "", "of the step"}, value_of<&SearchedStep::name>},
    Key<SearchedStep>{{"before", "integer or null", "cycles", "in the program at the start; null if it had no such step"},
                      [](const SearchedStep& s) { return s.before ? OrderedJson(*s.before) : OrderedJson(); }},
    Key<SearchedStep>{{"after", "integer", "cycles", "in the program that was found"}, value_of<&SearchedStep::after>},
    Key<SearchedStep>{{"bound", "text", "", "its largest lower bound"}, value_of<&SearchedStep::bound>},
    Key<SearchedStep>{{"bound_cycles", "integer", "cycles", "no machine of these sizes can be faster"},
                      value_of<&SearchedStep::bound_cycles>},
    Key<SearchedStep>{{"above_bound", "number", "", "cycles above it, a share of it"}, value_of<&SearchedStep::above_bound>},
    Key<SearchedStep>{{"tried", "integer", "plans", "other plans of it alone that were simulated"}, value_of<&SearchedStep::tried>},
    Key<SearchedStep>{{"ruled_out", "integer", "plans", "not simulated: their bounds are not below the best program"},
                      value_of<&SearchedStep::ruled_out>},
    Key<SearchedStep>{{"impossible", "integer", "plans", "that the planner refuses"}, value_of<&SearchedStep::impossible>},
    Key<SearchedStep>{{"next", "text", "", "the best of those simulated", kSimulated},
                      [](const SearchedStep& s) { return s.next ? OrderedJson(s.next->text()) : kAbsent; }},
    Key<SearchedStep>{{"lost", "number", "of the objective", "with it", kSimulated},
                      [](const SearchedStep& s) { return s.next ? number(s.lost) : kAbsent; }},
    Key<SearchedStep>{{"misses", "flag", "", "it misses a requirement", kSimulated},
                      [](const SearchedStep& s) { return s.next ? OrderedJson(s.misses) : kAbsent; }},
    Key<SearchedStep>{{"why", "text", "", "why no other plan of it was taken"}, value_of<&SearchedStep::why>},
};

constexpr std::array kFigureKeys{
    Key<SearchReport::Figure>{{"name", "text", "", "a figure of sweeps; the objective first"}, value_of<&SearchReport::Figure::name>},
    Key<SearchReport::Figure>{{"before", "number", "", "of the program at the start"},
                              [](const SearchReport::Figure& f) { return number(f.before); }},
    Key<SearchReport::Figure>{{"after", "number", "", "of the one that was found"},
                              [](const SearchReport::Figure& f) { return number(f.after); }},
};

constexpr std::array kSearchKeys{
    Key<SearchReport>{{"best", "text", "", "the objective: of `--best`"}, value_of<&SearchReport::best>},
    Key<SearchReport>{{"required", "text", "", "of `--require`, and at most 5 % more energy; empty: nothing"},
                      value_of<&SearchReport::required>},
    Key<SearchReport>{{"missed", "text", "", "requirements not met; empty: none"}, value_of<&SearchReport::missed>},
    Key<SearchReport>{{"tries", "integer", "programs", "simulated"}, value_of<&SearchReport::tries>},
    Key<SearchReport>{{"known", "integer", "programs", "of earlier searches into the folder"}, value_of<&SearchReport::known>},
    Key<SearchReport>{{"all", "flag", "", "no other decision of a step, or of two neighbours, is better; false: time was over"},
                      value_of<&SearchReport::all>},
    Key<SearchReport>{{"figures", "list", "", "before and after"},
                      [](const SearchReport& r) { return written_list(kFigureKeys, r.figures); }},
    Key<SearchReport>{{"kept", "list", "", "decisions that changed, in this order"}, kept_json},
    Key<SearchReport>{{"steps", "list", "", "of the program that was found"},
                      [](const SearchReport& r) { return written_list(kSearchedStepKeys, r.steps); }},
};

std::string bytes_change(const KeptDecision& kept)
{
    std::string text;
    for (const auto& [bytes, port] : {std::pair(kept.dbb_bytes, "DBB"), std::pair(kept.cvsram_bytes, "CVSRAM")})
        if (bytes != 0) text += fmt::format(", {:+} bytes {}", bytes, port);
    return text;
}

/// The steps with most cycles above their bounds.
std::string steps_text(const SearchReport& report)
{
    std::vector<const SearchedStep*> steps;
    for (const SearchedStep& step : report.steps)
        if (step.above_bound() >= kAtBound) steps.push_back(&step);
    const auto above = [](const SearchedStep* step) { return step->after - static_cast<std::int64_t>(step->bound_cycles); };
    std::ranges::stable_sort(steps, std::greater{}, above);
    const std::size_t at_bound = report.steps.size() - steps.size();
    std::string text = fmt::format("    {:<24} {:>11} {:>8}  {}\n", "step", "cycles", "of bound", "why no other plan was taken");
    for (std::size_t i = 0; i < std::min(kMostRows, steps.size()); ++i)
        text += fmt::format("    {:<24} {:>11} {:>7.2f}x  {}\n", printable(steps[i]->name),
                            grouped(static_cast<std::uint64_t>(steps[i]->after)), 1 + steps[i]->above_bound(), printable(steps[i]->why()));
    if (steps.size() > kMostRows) text += fmt::format("    and {} steps with fewer cycles above their bounds\n", steps.size() - kMostRows);
    if (at_bound != 0) text += fmt::format("    {} of {} steps are within 1 % of their bounds\n", at_bound, report.steps.size());
    return text;
}

}  // namespace

double SearchedStep::above_bound() const
{
    return bound_cycles == 0 ? 0 : std::max(0.0, static_cast<double>(after) / static_cast<double>(bound_cycles) - 1);
}

std::string SearchedStep::why() const
{
    std::string counts;
    for (const auto& [plans, how] :
         {std::pair(tried, "tried"), std::pair(ruled_out, "ruled out by bounds"), std::pair(impossible, "impossible")})
        if (plans != 0) counts += fmt::format("{}{} {}", counts.empty() ? "" : ", ", plans, how);
    if (next)
        return fmt::format("{}; {}: {}", counts, next->decision == "partition" ? next->is : next->decision + " " + next->is,
                           misses     ? "misses a requirement"
                           : lost > 0 ? "loses " + digits(lost)
                           : lost < 0 ? fmt::format("gains {}, but moves more bytes", digits(-lost))
                                      : "gains nothing");
    if (!counts.empty()) return counts;
    return all ? "it has no other plan" : "time was over before it was tried";
}

std::string search_text(const SearchReport& r)
{
    const std::string unit = printable(r.best);
    std::string text;
    for (const SearchReport::Figure& figure : r.figures)
        text += &figure == r.figures.data()
                    ? fmt::format("  optimised    {} to {} {} ({}) by {} of {} tries{}{}\n", digits(figure.before), digits(figure.after),
                                  unit, percent(figure.before, figure.after), r.kept.size(), r.tries,
                                  r.known != 0 ? fmt::format(", {} more known", r.known) : "",
                                  r.all ? "; no other decision of a step or of two neighbours gains" : "; time is over")
                    : fmt::format("               {} to {} {} ({})\n", digits(figure.before), digits(figure.after), figure.name,
                                  percent(figure.before, figure.after));
    for (const KeptDecision& kept : r.kept)
        text += fmt::format("    {:<28} {:<32} gains {:>9} {}{}{}\n", printable(kept.step), printable(kept.text()), digits(kept.gained),
                            unit, bytes_change(kept), kept.with_next ? ", with the next one" : "");
    if (!r.missed.empty()) text += fmt::format("  missed       {}\n", printable(r.missed));
    return text + steps_text(r);
}

OrderedJson search_json(const SearchReport& report) { return written(kSearchKeys, report); }

std::vector<PlacedKey> search_keys()
{
    return placed(kSearchKeys, "search/", kFigureKeys, "search/figures/[]/", kKeptKeys, "search/kept/[]/", kSearchedStepKeys,
                  "search/steps/[]/");
}

OrderedJson kept_json(const SearchReport& report) { return written_list(kKeptKeys, report.kept); }

}  // namespace dlasim
