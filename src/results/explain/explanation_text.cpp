#include <fmt/format.h>

#include <array>
#include <cmath>

#include "base/files/columns.h"
#include "base/files/printable.h"
#include "explain/explanation.h"

namespace dlasim {
namespace {

constexpr std::size_t kMaxCauses = 8, kExplained = 4, kMaxLosses = 6, kBar = 24;

std::string number(std::int64_t value) { return grouped(static_cast<std::uint64_t>(value)); }
double percent(std::int64_t part, std::int64_t whole)
{
    return whole == 0 ? 0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

std::string headline(const Explanation& e)
{
    std::string text = fmt::format("{} on {}{}{} takes {} cycles", printable(e.run.name), printable(e.run.machine),
                                   e.run.measured == false ? " (unmeasured)" : "",
                                   e.run.memory_name.empty() ? "" : " with " + printable(e.run.memory_name), number(e.run.cycles));
    if (e.run.seconds > 0) text += fmt::format(", {:.4g} ms", 1e3 * e.run.seconds);
    text += '.';
    if (e.least > 0 && e.least <= e.run.cycles)
        text += fmt::format(" Its largest lower bound, {}, is {} cycles: {:.1f} % of the cycles are beyond it.", printable(e.bound),
                            number(e.least), percent(e.run.cycles - e.least, e.run.cycles));
    if (!e.cut.empty()) text += " " + printable(e.cut);
    return folded(text);
}

std::string cause_table(const Explanation& e)
{
    std::string text = "\nWhere the cycles went\n";
    const std::size_t shown = std::min(e.causes.size(), e.causes.size() == kMaxCauses + 1 ? e.causes.size() : kMaxCauses);
    const auto line = [&](std::int64_t cycles, const std::string& words) {
        const double share = percent(cycles, e.run.cycles);
        const auto bar = static_cast<std::size_t>(std::lround(share / 100 * kBar));
        text += fmt::format("  {:>13}  {:>5.1f} %  {:<{}} {}\n", number(cycles), share, std::string(bar, '#'), kBar, cut_to(words, 28));
    };
    std::int64_t rest = e.run.cycles;
    for (std::size_t i = 0; i < shown; ++i) {
        line(e.causes[i].cycles, cause_words(e.causes[i].cause));
        rest -= e.causes[i].cycles;
    }
    if (shown < e.causes.size()) line(rest, fmt::format("{} others", e.causes.size() - shown));
    return text;
}

std::string largest(const Amounts& amounts, std::size_t most)
{
    std::string text;
    for (std::size_t i = 0; i < amounts.size() && i < most; ++i)
        text += fmt::format("{}{} {}", i == 0 ? "" : ", ", printable(amounts[i].name), number(amounts[i].value));
    return text;
}

std::string meanings(const Explanation& e)
{
    std::string text = "\nWhat they mean, and what helps\n";
    std::size_t told = 0;
    for (const CauseTotal& total : e.causes) {
        if (told == kExplained || total.cycles * 50 < e.run.cycles) break;
        ++told;
        const std::string words = cause_words(total.cause);
        std::string said = fmt::format("  {}: {}. {}", words, name_of(total.cause).text, advice_on(total.cause).words);
        if (!total.clients.empty()) said += " By client: " + largest(total.clients, 3) + ".";
        if (!total.steps.empty()) said += " Most of it: " + largest(total.steps, 3) + ".";
        text += folded(said, 4);
    }
    return text;
}

std::string loss_table(const Explanation& e)
{
    if (e.losses.size() < 2) return e.losses.empty() || e.losses[0].why.empty() ? "" : "\n" + folded("  " + e.losses[0].why, 2);
    std::string text = fmt::format("\n{:<34} {:>11} {:>21} {:>11}\n", "Steps that lose most", "cycles", "bound", "lost");
    for (std::size_t i = 0; i < e.losses.size() && i < kMaxLosses && e.losses[i].lost() > 0; ++i) {
        const StepLoss& loss = e.losses[i];
        text += fmt::format("  {:<32} {:>11} {:>21} {:>11}\n", cut_to(loss.name, 32), number(loss.cycles),
                            cut_to(loss.bound, 9) + " " + number(loss.least), number(loss.lost()));
        if (!loss.why.empty()) text += folded("    " + loss.why, 4);
    }
    return text;
}

std::string part_table(const Explanation& e)
{
    if (e.parts.size() < 2) return "";
    std::string text = "\nOver the run\n";
    for (const RunPart& part : e.parts) {
        std::string causes;
        for (std::size_t i = 0; i < part.causes.size() && i < 2; ++i)
            causes += fmt::format("{}{} {:.0f} %", i == 0 ? "" : ", ", cause_words(part.causes[i].cause),
                                  percent(part.causes[i].cycles, part.to - part.from));
        text += fmt::format("  {:>13}  {}\n", number(part.to),
                            cut_to(part.first == part.last ? part.first : part.first + " to " + part.last, 62));
        text += fmt::format("  {:>13}    {}\n", "", cut_to(causes, 60));
    }
    return text;
}

constexpr std::array kTotalKeys{
    Key<CauseTotal>{
        {"cause", "text", "", "as in `causes` of the result"},
        [](const CauseTotal& t) -> OrderedJson { return std::string(name_of(t.cause).group) + ": " + std::string(name_of(t.cause).name); }},
    Key<CauseTotal>{{"cycles", "integer", "cycles", "of all clients"}, value_of<&CauseTotal::cycles>},
    Key<CauseTotal>{{"meaning", "text", "", "what it is"}, [](const CauseTotal& t) -> OrderedJson { return name_of(t.cause).text; }},
    Key<CauseTotal>{{"remedy", "text", "", "what helps"}, [](const CauseTotal& t) -> OrderedJson { return advice_on(t.cause).words; }},
};
constexpr std::array kLossKeys{
    Key<StepLoss>{{"step", "text", "", "its name"}, value_of<&StepLoss::name>},
    Key<StepLoss>{{"cycles", "integer", "cycles", "its share of the cycles of the run"}, value_of<&StepLoss::cycles>},
    Key<StepLoss>{{"bound", "text", "", "its largest lower bound"}, value_of<&StepLoss::bound>},
    Key<StepLoss>{{"bound_cycles", "integer", "cycles", "of that bound"}, value_of<&StepLoss::least>},
    Key<StepLoss>{{"lost", "integer", "cycles", "beyond the bound"}, value_of<&StepLoss::lost>},
    Key<StepLoss>{{"why", "text", "", "a sentence"}, value_of<&StepLoss::why>},
};
constexpr std::array kPartKeys{
    Key<RunPart>{{"from", "integer", "cycles", "starts after this cycle"}, value_of<&RunPart::from>},
    Key<RunPart>{{"to", "integer", "cycles", "its last cycle"}, value_of<&RunPart::to>},
    Key<RunPart>{{"first", "text", "", "its first step"}, value_of<&RunPart::first>},
    Key<RunPart>{{"last", "text", "", "its last step"}, value_of<&RunPart::last>},
    Key<RunPart>{{"causes", "list", "", "largest first, as above"},
                 [](const RunPart& s) -> OrderedJson { return written_list(kTotalKeys, s.causes); }},
};
constexpr std::array kExplanationKeys{
    Key<Explanation>{{"schema", "text", "", "dlasim.explanation/1"},
                     [](const Explanation&) -> OrderedJson { return "dlasim.explanation/1"; }},
    Key<Explanation>{{"file", "text", "", "the result"}, value_of<&Explanation::run, &RecordedRun::file>},
    Key<Explanation>{{"name", "text", "", "what ran"}, value_of<&Explanation::run, &RecordedRun::name>},
    Key<Explanation>{{"cycles", "integer", "cycles", "of the run"}, value_of<&Explanation::run, &RecordedRun::cycles>},
    Key<Explanation>{{"bound", "text", "", "its largest lower bound", "the result has bounds"},
                     [](const Explanation& e) -> OrderedJson { return e.bound.empty() ? kAbsent : OrderedJson(e.bound); }},
    Key<Explanation>{{"bound_cycles", "integer", "cycles", "of that bound", "the result has bounds"},
                     [](const Explanation& e) -> OrderedJson { return e.bound.empty() ? kAbsent : OrderedJson(e.least); }},
    Key<Explanation>{{"cut", "text", "", "how the layer is tiled, and what is read more than once", "a tiled layer"},
                     [](const Explanation& e) -> OrderedJson { return e.cut.empty() ? kAbsent : OrderedJson(e.cut); }},
    Key<Explanation>{{"causes", "list", "", "where the cycles went, largest first; they add up to `cycles`"},
                     [](const Explanation& e) -> OrderedJson { return written_list(kTotalKeys, e.causes); }},
    Key<Explanation>{{"losses", "list", "", "steps with a bound, the largest loss first"},
                     [](const Explanation& e) -> OrderedJson { return written_list(kLossKeys, e.losses); }},
    Key<Explanation>{{"parts", "list", "", "consecutive steps, about a tenth of the run each", "runs with steps"},
                     [](const Explanation& e) -> OrderedJson { return e.parts.empty() ? kAbsent : written_list(kPartKeys, e.parts); }},
};

}  // namespace

OrderedJson explanation_json(const Explanation& explanation) { return written(kExplanationKeys, explanation); }

std::vector<PlacedKey> explanation_keys()
{
    return placed(kExplanationKeys, "", kTotalKeys, "causes/[]/", kLossKeys, "losses/[]/", kPartKeys, "parts/[]/");
}

std::string explanation_text(const Explanation& e) { return headline(e) + cause_table(e) + meanings(e) + loss_table(e) + part_table(e); }

}  // namespace dlasim
