#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/files/columns.h"
#include "base/files/printable.h"
#include "explain/trial.h"

namespace dlasim {
namespace {

struct Tried {
    const Trial* of;
    const Outcome* ended;
    const Outcome* without;
    std::int64_t gain() const { return without->cycles - ended->cycles; }
    double percent() const { return without->cycles == 0 ? 0 : 100.0 * static_cast<double>(gain()) / static_cast<double>(without->cycles); }
    bool ran() const { return ended->refused.empty(); }
};

std::vector<Tried> by_gain(const std::vector<Trial>& trials, const std::vector<Outcome>& outcomes, const Outcome& before)
{
    std::vector<Tried> list;
    list.reserve(trials.size());
    for (std::size_t i = 0; i < trials.size(); ++i) list.push_back({&trials[i], &outcomes[i], &before});
    std::stable_sort(list.begin(), list.end(),
                     [](const Tried& a, const Tried& b) { return a.ran() != b.ran() ? a.ran() : a.ran() && a.gain() > b.gain(); });
    return list;
}

std::string grouped_cycles(std::int64_t cycles) { return grouped(static_cast<std::uint64_t>(cycles)); }

/// "+12.3 %"; empty where nothing changed or is not known.
std::string change_text(double before, double after)
{
    if (before <= 0 || after <= 0 || before == after) return "";
    return fmt::format("{:+.1f} %", 100 * (after - before) / before);
}

constexpr std::array kTrialKeys{
    Key<Tried>{{"option", "text", "", "the option that makes the change"}, [](const Tried& t) -> OrderedJson { return t.of->option; }},
    Key<Tried>{{"of", "text", "", "software, hardware or memory: what changes"},
               [](const Tried& t) -> OrderedJson {
                   return t.of->software() ? "software" : t.of->change.of == Change::Of::Hardware ? "hardware" : "memory";
               }},
    Key<Tried>{{"against", "text", "", "the cause that it should reduce", "remedies"},
               [](const Tried& t) -> OrderedJson { return t.of->against ? OrderedJson(cause_words(*t.of->against)) : kAbsent; }},
    Key<Tried>{{"cycles", "integer", "cycles", "of the run with it", "it ran"},
               [](const Tried& t) -> OrderedJson { return t.ran() ? OrderedJson(t.ended->cycles) : kAbsent; }},
    Key<Tried>{{"gain", "integer", "cycles", "fewer than without it", "it ran"},
               [](const Tried& t) -> OrderedJson { return t.ran() ? OrderedJson(t.gain()) : kAbsent; }},
    Key<Tried>{{"gain_percent", "number", "%", "of the cycles without it", "it ran"},
               [](const Tried& t) -> OrderedJson { return t.ran() ? OrderedJson(t.percent()) : kAbsent; }},
    Key<Tried>{{"area_mm2", "number", "mm2", "of the machine", "it ran"},
               [](const Tried& t) -> OrderedJson { return t.ran() && t.ended->area_mm2 > 0 ? OrderedJson(t.ended->area_mm2) : kAbsent; }},
    Key<Tried>{{"energy_uj", "number", "uJ", "of the run", "it ran"},
               [](const Tried& t) -> OrderedJson { return t.ran() && t.ended->energy_uj > 0 ? OrderedJson(t.ended->energy_uj) : kAbsent; }},
    Key<Tried>{{"refused", "text", "", "why it was rejected", "it did not run"},
               [](const Tried& t) -> OrderedJson { return t.ran() ? kAbsent : OrderedJson(t.ended->refused); }},
};

}  // namespace

OrderedJson trials_json(const std::vector<Trial>& trials, const std::vector<Outcome>& outcomes, const Outcome& before)
{
    return written_list(kTrialKeys, by_gain(trials, outcomes, before));
}

std::vector<PlacedKey> trial_keys() { return placed(kTrialKeys, "remedies/[]/", kTrialKeys, repeated("sizes/[]/")); }

std::string remedies_text(const Explanation& explanation, const std::vector<Trial>& trials, const std::vector<Outcome>& outcomes,
                          const Outcome& before)
{
    if (trials.empty()) return "\nNo fix was tried: no cause is large enough, or nothing can be changed.\n";
    const std::vector<Tried> list = by_gain(trials, outcomes, before);
    std::string text = fmt::format("\nFixes, each simulated alone; without any: {} cycles\n", grouped_cycles(before.cycles));
    text += fmt::format("  {:>7} {:>13} {:>8} {:>8}  {}\n", "gain", "cycles", "area", "energy", "against");
    for (const Tried& tried : list) {
        if (!tried.ran()) continue;
        const double share = 100.0 * static_cast<double>(tried.of->charged) / static_cast<double>(explanation.run.cycles);
        text += fmt::format("  {:>5.1f} % {:>13} {:>8} {:>8}  {}\n", tried.percent(), grouped_cycles(tried.ended->cycles),
                            change_text(before.area_mm2, tried.ended->area_mm2), change_text(before.energy_uj, tried.ended->energy_uj),
                            tried.of->against ? fmt::format("{}, {:.1f} %", cause_words(*tried.of->against), share) : "");
        text += fmt::format("          {}\n", cut_to(tried.of->option, 68));
    }
    for (const Tried& tried : list)
        if (!tried.ran()) text += folded("  rejected: " + printable(tried.of->option) + ": " + printable(tried.ended->refused), 4);
    const Tried* software = nullptr;
    for (const Tried& tried : list)
        if (tried.ran() && tried.gain() > 0 && tried.of->software() && !software) software = &tried;
    text += '\n';
    if (software)
        text +=
            folded(fmt::format("On this machine {} takes {:.1f} % fewer cycles.", printable(software->of->option), software->percent()));
    else text += folded("No change of software alone gains anything on this machine.");
    return text;
}

std::string sizes_text(const std::vector<Trial>& trials, const std::vector<Outcome>& outcomes, const Outcome& before)
{
    std::string text = fmt::format("\nSizes, one step smaller and larger; unchanged: {} cycles\n", grouped_cycles(before.cycles));
    text += fmt::format("  {:<30} {:>8} {:>9} {:>8} {:>8}  {}\n", "", "down to", "cycles", "up to", "cycles", "area");
    struct Row {
        const Tried *down = nullptr, *up = nullptr;
    };
    std::vector<Tried> all;
    all.reserve(trials.size());
    std::vector<std::pair<std::string, Row>> rows;
    for (std::size_t i = 0; i < trials.size(); ++i) {
        all.push_back({&trials[i], &outcomes[i], &before});
        if (rows.empty() || rows.back().first != trials[i].path) rows.push_back({trials[i].path, {}});
        (trials[i].change.value == "/2" ? rows.back().second.down : rows.back().second.up) = &all.back();
    }
    const auto cycles = [&](const Tried* t) -> std::string {
        return !t ? "" : !t->ran() ? "rejected" : t->gain() == 0 ? "same" : fmt::format("{:+.1f} %", -t->percent());
    };
    const auto matters = [](const Tried* t) { return t && t->ran() && t->gain() != 0; };
    std::string others;
    for (const auto& [path, row] : rows) {
        if (!matters(row.down) && !matters(row.up)) {
            others += (others.empty() ? "" : ", ") + path;
            continue;
        }
        const std::string area = row.up && row.up->ran() ? change_text(before.area_mm2, row.up->ended->area_mm2) : "";
        text += fmt::format("  {:<30} {:>8} {:>9} {:>8} {:>8}{}{}\n", cut_to(path, 30), row.down ? row.down->of->value : "",
                            cycles(row.down), row.up ? row.up->of->value : "", cycles(row.up), area.empty() ? "" : "  ", area);
    }
    if (!others.empty()) text += folded("  No cycle changes, or no rule allows it: " + others + ".", 4);
    return text;
}

}  // namespace dlasim
