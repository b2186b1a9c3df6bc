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
td.less { color: #17703a; } td.more { color: var(--bad); }
:root[data-theme="dark"] td.less { color: #6fd08c; }
)";
constexpr std::int64_t kSmall = 200;  // causes below a 200th are summed up
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

std::string table_head(const char* last)
{
    return fmt::format(
        "<div class=\"scroll\" tabindex=\"0\"><table><thead><tr><th class=\"words\">option to add to the command</th><th>cycles</th>"
        "<th>area</th><th>energy</th><th class=\"words\">{}</th></tr></thead><tbody>\n",
        last);
}

constexpr const char* kTableEnd = "</tbody></table></div></div></section>\n";

std::string cells(const OrderedJson& row, const Outcome& before)
{
    return fmt::format("<tr><td class=\"words\"><code>{}</code></td>{}{}{}", text_of(row["option"].get<std::string>()),
                       change_cell(row, "cycles", static_cast<double>(before.cycles)), change_cell(row, "area_mm2", before.area_mm2),
                       change_cell(row, "energy_uj", before.energy_uj));
}

std::string causes(const Explanation& explanation)
{
    std::string text = section("Where the cycles went", fmt::format("{} cycles, each charged to what the end of the run waited for.",
                                                                    cycles_text(explanation.run.cycles)));
    std::int64_t others = 0;
    std::size_t small = 0;
    for (std::size_t i = 0; i < explanation.causes.size(); ++i) {
        const CauseTotal& total = explanation.causes[i];
        const std::string words = cause_words(total.cause);
        if (total.cycles * kSmall < explanation.run.cycles) {
            others += total.cycles;
            ++small;
        } else text += bar(text_of(words), segment(total.cycles, explanation.run.cycles, bar_colour(i), words), cycles_text(total.cycles));
    }
    if (small != 0) text += fmt::format("<p class=\"soft\">{} others, each below 0.5 %: {}</p>\n", small, cycles_text(others));
    return text + "</div></section>\n";
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
    text += table_head("against");
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
        return section("What can shrink", "Nothing: every smaller size costs more cycles, or a rule forbids it.") + "</div></section>\n";
    const OrderedJson* last = nullptr;
    std::string options;
    for (const OrderedJson& row : list)
        if (row.contains("together_cycles")) {
            last = &row;
            options += (options.empty() ? "" : " ") + row["option"].get<std::string>();
        }
    std::string text =
        section("What can shrink",
                fmt::format("Each size that is larger than this run needs, alone; the machine has {:.4g} mm2.", before.area_mm2));
    for (const OrderedJson& row : list) {
        const double saved = before.area_mm2 - row["area_mm2"].get<double>();
        if (saved <= 0) continue;
        text +=
            bar("<code>" + text_of(row["option"].get<std::string>()) + "</code>",
                segment(std::llround(1e6 * saved), std::llround(1e6 * before.area_mm2), kGain, "area"), fmt::format("-{:.3g} mm2", saved));
    }
    if (last)
        text += fmt::format("<p>Together {:.4g} mm2 and {} cycles: <code>{}</code></p>\n", (*last)["together_area_mm2"].get<double>(),
                            cycles_text((*last)["together_cycles"].get<std::int64_t>()), text_of(options));
    text += table_head("with those above it");
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
    text += causes(explanation) + tried;
    return text + "</main>\n" + page_end();
}

}  // namespace dlasim
