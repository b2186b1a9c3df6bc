#include "explain/slack.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/files/columns.h"
#include "base/files/printable.h"

namespace dlasim {
namespace {

struct Row {
    const Slack* slack;
    const Outcome* before;
};

double percent(double before, double after) { return before > 0 ? 100 * (after - before) / before : 0; }

double more_cycles(const Outcome& outcome, const Outcome& before)
{
    return percent(static_cast<double>(before.cycles), static_cast<double>(outcome.cycles));
}

constexpr std::array kSlackKeys{
    Key<Row>{{"option", "text", "", "the option that makes the change"}, [](const Row& r) -> OrderedJson { return r.slack->trial.option; }},
    Key<Row>{{"cycles", "integer", "cycles", "of the run with this change alone"},
             [](const Row& r) -> OrderedJson { return r.slack->alone.cycles; }},
    Key<Row>{{"cycles_percent", "number", "%", "more than without it"},
             [](const Row& r) -> OrderedJson { return more_cycles(r.slack->alone, *r.before); }},
    Key<Row>{{"time_us", "number", "us", "of that run at the clock of its machine"},
             [](const Row& r) -> OrderedJson { return r.slack->alone.time_us; }},
    Key<Row>{{"area_mm2", "number", "mm2", "of the machine with this change alone"},
             [](const Row& r) -> OrderedJson { return r.slack->alone.area_mm2; }},
    Key<Row>{{"energy_uj", "number", "uJ", "of the run with this change alone", "it was computed"},
             [](const Row& r) -> OrderedJson { return r.slack->alone.energy_uj > 0 ? OrderedJson(r.slack->alone.energy_uj) : kAbsent; }},
    Key<Row>{{"together_cycles", "integer", "cycles", "of the run with this change and those before it", "they keep the limit together"},
             [](const Row& r) -> OrderedJson { return r.slack->together ? OrderedJson(r.slack->together->cycles) : kAbsent; }},
    Key<Row>{{"together_time_us", "number", "us", "of that run", "they keep the limit together"},
             [](const Row& r) -> OrderedJson { return r.slack->together ? OrderedJson(r.slack->together->time_us) : kAbsent; }},
    Key<Row>{{"together_area_mm2", "number", "mm2", "of that machine", "they keep the limit together"},
             [](const Row& r) -> OrderedJson { return r.slack->together ? OrderedJson(r.slack->together->area_mm2) : kAbsent; }},
    Key<Row>{{"together_energy_uj", "number", "uJ", "of that run", "they keep the limit together"},
             [](const Row& r) -> OrderedJson { return r.slack->together ? OrderedJson(r.slack->together->energy_uj) : kAbsent; }},
};

/// Empty where one of both is not known.
std::string change_or_same(double before, double after)
{
    if (before <= 0 || after <= 0) return "";
    const double change = percent(before, after);
    return std::abs(change) < 0.05 ? "same" : fmt::format("{:+.1f} %", change);
}

std::string line_of(const Outcome& outcome, const Outcome& before, const std::string& words)
{
    return fmt::format("  {:>8} {:>8} {:>8}  {}\n", change_or_same(before.area_mm2, outcome.area_mm2),
                       change_or_same(before.time_us, outcome.time_us), change_or_same(before.energy_uj, outcome.energy_uj), words);
}

/// As a command takes them, none cut in two.
std::string options_in_lines(const std::vector<std::string>& options)
{
    constexpr std::size_t kWidth = 78;
    std::string text, line;
    for (const std::string& option : options) {
        if (!line.empty() && line.size() + 1 + option.size() + 2 > kWidth) {
            text += line + " \\\n";
            line.clear();
        }
        line += (line.empty() ? "  " : " ") + option;
    }
    return text + line + "\n";
}

}  // namespace

bool within(const Outcome& outcome, const Outcome& before, double share)
{
    return outcome.refused.empty() && outcome.time_us <= before.time_us * (1 + share);
}

std::vector<Slack> largest_slack(const std::vector<Trial>& trials, const std::vector<Outcome>& outcomes, const Outcome& before,
                                 double share)
{
    std::vector<Slack> list;
    for (std::size_t i = 0; i < trials.size(); ++i) {
        const bool of_area = trials[i].change.of == Change::Of::Hardware && !trials[i].of_clock();
        if (!within(outcomes[i], before, share) || (of_area && !(outcomes[i].area_mm2 < before.area_mm2))) continue;
        const auto same = std::ranges::find(list, trials[i].path, [](const Slack& slack) { return slack.trial.path; });
        if (same == list.end()) list.push_back({trials[i], outcomes[i], std::nullopt});
        else *same = {trials[i], outcomes[i], std::nullopt};  // the trials of a size go from large to small
    }
    std::ranges::stable_sort(list, {}, [](const Slack& slack) { return slack.alone.area_mm2; });
    return list;
}

OrderedJson slack_json(const std::vector<Slack>& list, const Outcome& before)
{
    return written_list(kSlackKeys, list, [&](const Slack& slack) { return Row{&slack, &before}; });
}

std::vector<PlacedKey> slack_keys() { return placed(kSlackKeys, "slack/[]/"); }

std::string slack_text(const std::vector<Slack>& list, const Outcome& before, double share)
{
    std::string text = fmt::format("\nSlack, each tried alone, at most {:.4g} % more time; unchanged: {} cycles,\n{:.4g} mm2\n",
                                   100 * share, grouped(static_cast<std::uint64_t>(before.cycles)), before.area_mm2);
    if (list.empty()) return text + "  Nothing can shrink: every smaller size costs more time, or a rule forbids it.\n";
    text += fmt::format("  {:>8} {:>8} {:>8}  {}\n", "area", "time", "energy", "change");
    for (const Slack& slack : list) text += line_of(slack.alone, before, slack.trial.option);
    const Outcome* last = nullptr;
    std::vector<std::string> together;
    std::string others;
    for (const Slack& slack : list) {
        if (slack.together) last = &*slack.together;
        if (slack.together) together.push_back(slack.trial.option);
        else others += (others.empty() ? "" : ", ") + slack.trial.option;
    }
    if (!last) return text;
    text += "\nTogether\n" + line_of(*last, before, fmt::format("{:.4g} mm2", last->area_mm2)) + options_in_lines(together);
    if (!others.empty()) text += folded("  Beyond the limit together with these: " + others + ".", 2);
    return text;
}

}  // namespace dlasim
