#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/files/html_page.h"
#include "base/files/printable.h"
#include "compare/page_bars.h"
#include "explain/trial.h"

namespace dlasim {
namespace {

constexpr const char* kPageStyles = R"(
tbody tr, thead th { cursor: auto; }
code { overflow-wrap: anywhere; user-select: all; }
td code, .run code { padding: 3px 6px; font-size: .85rem; }
table.wrapped td.words { white-space: normal; max-width: none; }
@media (max-width: 640px) { td code { min-width: 8rem; } table.wrapped { font-size: .85rem; } table.wrapped td.words:last-child { min-width: 9rem; } }
td.less { color: #17703a; } td.more { color: var(--bad); }
:root[data-theme="dark"] td.less { color: #6fd08c; }
)";
constexpr std::int64_t kSmall = 200;  // of causes and areas: what is below a 200th has no bar
constexpr const char *kGain = "#8fd19e", *kLoss = "#e59a9a";

std::string text_of(const std::string& text) { return html_text(printable(text)); }

std::string section(const char* title, const std::string& lead)
{
    return fmt::format("<section><div class=\"panel\"><h2>{}</h2>\n<p>{}</p>\n", title, lead);
}

/// Percent of change; green where it is less. Empty where one of both is not known.
std::string change_cell(const OrderedJson& row, const char* key, double before)
{
    const auto there = row.find(key);
    if (there == row.end() || before <= 0) return "<td></td>";
    const double percent = 100 * (there->get<double>() - before) / before;
    if (std::abs(percent) < 0.05) return "<td>same</td>";
    return fmt::format("<td class=\"{}\">{:+.1f} %</td>", percent < 0 ? "less" : "more", percent);
}

std::string table_head(const char* changed, const char* last)
{
    return fmt::format(
        "<div class=\"scroll\" tabindex=\"0\"><table><thead><tr><th class=\"words\">option to add to the command</th><th>{}</th>"
        "<th>area</th><th>energy</th><th class=\"words\">{}</th></tr></thead><tbody>\n",
        changed, last);
}

constexpr const char* kTableEnd = "</tbody></table></div></div></section>\n";

std::string cells(const OrderedJson& row, const Outcome& before)
{
    return fmt::format("<tr><td class=\"words\"><code>{}</code></td>{}{}{}", text_of(row["option"].get<std::string>()),
                       row.contains("time_us") ? change_cell(row, "time_us", before.time_us)
                                               : change_cell(row, "cycles", static_cast<double>(before.cycles)),
                       change_cell(row, "area_mm2", before.area_mm2), change_cell(row, "energy_uj", before.energy_uj));
}

double share_of(std::int64_t part, std::int64_t whole)
{
    return whole == 0 ? 0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

/// Cycles, the lower bound and the two largest causes beside work, in sentences.
std::string verdict(const Explanation& e)
{
    std::string text = fmt::format("{} cycles", cycles_text(e.run.cycles));
    if (e.run.seconds > 0) text += fmt::format(", {:.4g} ms", 1e3 * e.run.seconds);
    std::int64_t works = 0;
    std::string waits;
    int named = 0;
    for (const CauseTotal& total : e.causes)
        if (name_of(total.cause).group == "array") works += total.cycles;
        else if (named++ < 2)
            waits += fmt::format("{}{} ({:.1f}\u00a0%)", named == 1 ? "" : " and ", cause_words(total.cause),
                                 share_of(total.cycles, e.run.cycles));
    text += fmt::format(". The array works in {:.1f}\u00a0% of them.", share_of(works, e.run.cycles));
    if (!waits.empty()) text += " Most of the rest goes to " + waits + ".";
    if (e.least > 0 && e.least <= e.run.cycles)
        text += fmt::format(" The largest lower bound, {}, is {} cycles.", printable(e.bound), cycles_text(e.least));
    return "<section><p id=\"verdict\">" + html_text(text) + "</p></section>\n";
}

std::string causes(const Explanation& explanation)
{
    std::string text = section("Where the cycles went", "Each cycle is charged to what the end of the run waited for.");
    std::string rows;
    std::int64_t others = 0;
    std::size_t small = 0;
    for (std::size_t i = 0; i < explanation.causes.size(); ++i) {
        const CauseTotal& total = explanation.causes[i];
        const std::string words = cause_words(total.cause);
        if (total.cycles * kSmall < explanation.run.cycles) {
            others += total.cycles;
            ++small;
            continue;
        }
        const double share = share_of(total.cycles, explanation.run.cycles);
        text += bar(text_of(words), segment(total.cycles, explanation.run.cycles, bar_colour(i), ""), fmt::format("{:.1f} %", share));
        std::string most;
        for (std::size_t s = 0; s < std::min<std::size_t>(3, total.steps.size()); ++s)
            most += (s == 0 ? " Most of it: " : ", ") + total.steps[s].name + " " + cycles_text(total.steps[s].value);
        rows += fmt::format("<tr><td class=\"words\">{}</td><td>{}</td><td>{:.1f} %</td><td class=\"words\">{}. {}{}</td></tr>\n",
                            text_of(words), cycles_text(total.cycles), share, html_text(name_of(total.cause).text),
                            html_text(advice_on(total.cause).words), text_of(most.empty() ? most : most + "."));
    }
    if (small != 0)
        rows += fmt::format(
            "<tr><td class=\"words\">{} others</td><td>{}</td><td>{:.1f} %</td><td class=\"words\">each below 0.5 %</td></tr>\n", small,
            cycles_text(others), share_of(others, explanation.run.cycles));
    return text +
           "<div class=\"scroll\" tabindex=\"0\"><table class=\"wrapped\"><thead><tr><th "
           "class=\"words\">cause</th><th>cycles</th><th>share</th>"
           "<th class=\"words\">what it means, and what helps</th></tr></thead><tbody>\n" +
           rows + kTableEnd;
}

std::string remedies(const OrderedJson& list, const Outcome& before)
{
    if (list.empty()) return section("What would help", "No cause is large enough, or nothing is left to change.") + "</div></section>\n";
    std::string text = section("What would help", "Each change was simulated by itself: the cycles that it gains.");
    std::int64_t most = 1;
    for (const OrderedJson& row : list) most = std::max(most, std::abs(row.value("gain", std::int64_t{0})));
    for (const OrderedJson& row : list) {
        const std::int64_t gain = row.value("gain", std::int64_t{0});
        if (gain == 0) continue;
        text += bar("<code>" + text_of(row["option"].get<std::string>()) + "</code>",
                    segment(std::abs(gain), most, gain > 0 ? kGain : kLoss, gain > 0 ? "fewer" : "more"),
                    fmt::format("{:+.1f} %", -row["gain_percent"].get<double>()));
    }
    text += table_head("cycles", "against");
    for (const OrderedJson& row : list) {
        const std::string refused = row.value("refused", "");
        text += fmt::format("{}<td class=\"words\">{}</td></tr>\n", cells(row, before),
                            refused.empty() ? text_of(row.value("against", "")) : "refused: " + text_of(refused));
    }
    return text + kTableEnd;
}

std::string slack(const OrderedJson& list, const Outcome& before)
{
    if (list.empty())
        return section("What can shrink", "Nothing: every smaller size costs more time, or a rule forbids it.") + "</div></section>\n";
    const OrderedJson* last = nullptr;
    std::string options;
    for (const OrderedJson& row : list)
        if (row.contains("together_cycles")) {
            last = &row;
            options += (options.empty() ? "" : " ") + row["option"].get<std::string>();
        }
    std::string text = section("What can shrink", fmt::format("Each size that is larger, and the clock if it is faster, than this run "
                                                              "needs, alone, largest first; the machine has {:.4g} mm2.",
                                                              before.area_mm2));
    for (const OrderedJson& row : list) {
        const double saved = before.area_mm2 - row["area_mm2"].get<double>();
        if (saved * kSmall <= before.area_mm2) continue;
        text += bar("<code>" + text_of(row["option"].get<std::string>()) + "</code>",
                    segment(std::llround(1e6 * saved), std::llround(1e6 * before.area_mm2), kGain, ""), fmt::format("-{:.3g} mm2", saved));
    }
    if (last)
        text += fmt::format("<p>Together {:.4g} mm2 and {} cycles: <code>{}</code></p>\n", (*last)["together_area_mm2"].get<double>(),
                            cycles_text((*last)["together_cycles"].get<std::int64_t>()), text_of(options));
    text += table_head("time", "with those above it");
    for (const OrderedJson& row : list)
        text += fmt::format("{}<td class=\"words\">{}</td></tr>\n", cells(row, before),
                            row.contains("together_cycles") ? "kept" : "beyond the limit");
    return text + kTableEnd;
}

}  // namespace

std::string tried_html(const OrderedJson& tried, const Outcome& before)
{
    std::string text;
    if (tried.contains("remedies")) text += remedies(tried["remedies"], before);
    if (tried.contains("slack")) text += slack(tried["slack"], before);
    return text;
}

std::string tried_styles() { return bar_styles() + kPageStyles; }

std::string explanation_page(const Explanation& explanation, const std::string& tried)
{
    const RecordedRun& run = explanation.run;
    const std::string title = "Why " + printable(run.name) + " takes its cycles";
    std::string text = page_begin(title, tried_styles());
    text += fmt::format("<header><h1>{}</h1><p class=\"soft\">on {}{}, {}</p>{}</header>\n<main>\n", html_text(title), text_of(run.machine),
                        run.memory_name.empty() ? "" : ", " + text_of(run.memory_name), text_of(run.file), measured_badge(run));
    text += verdict(explanation) + causes(explanation) + tried;
    return text + "</main>\n" + page_end();
}

}  // namespace dlasim
