#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <utility>

#include "base/files/html_page.h"
#include "base/files/printable.h"
#include "compare/comparison.h"
#include "compare/page_bars.h"

namespace dlasim {
namespace {

constexpr std::size_t kMostStepRows = 200, kMostFacts = 40;
constexpr const char* kStyles = R"(
.swatch { display: inline-block; width: .8em; height: .8em; margin-right: .4em; border: 1px solid var(--line); }
tbody tr, thead th { cursor: auto; }
td.less { color: #17703a; } td.more { color: var(--bad); }
:root[data-theme="dark"] td.less { color: #6fd08c; }
td.wrap { white-space: normal; min-width: 8rem; }
@media (max-width: 640px) { td.less, td.more { white-space: normal; } }
@media print { td.wrap { min-width: 0; } }
)";

/// Names of all runs with what each has of them: the most of all runs first.
class SideBySide {
public:
    void add(std::size_t run, const std::string& name, std::int64_t value)
    {
        const auto [at, fresh] = places_.try_emplace(name, rows_.size());
        if (fresh) rows_.push_back({name, {}});
        std::vector<std::int64_t>& values = rows_[at->second].values;
        values.resize(std::max(values.size(), run + 1));
        values[run] += value;
    }
    struct Row {
        std::string name;
        std::vector<std::int64_t> values;
        std::int64_t of(std::size_t run) const { return run < values.size() ? values[run] : 0; }
        std::int64_t most() const { return values.empty() ? 0 : *std::ranges::max_element(values); }
    };
    /// In the order in which they came, or by the rank of each, the largest first.
    template <class Rank>
    std::vector<Row> ranked(Rank&& rank) const
    {
        std::vector<Row> rows = rows_;
        std::ranges::stable_sort(rows, [&](const Row& a, const Row& b) { return rank(a) > rank(b); });
        return rows;
    }

private:
    std::vector<Row> rows_;
    std::map<std::string, std::size_t> places_;
};

std::string change_cells(const SideBySide::Row& row, std::size_t runs)
{
    std::string cells;
    for (std::size_t r = 0; r < runs; ++r) {
        const std::int64_t change = row.of(r) - row.of(0);
        const std::string said = r == 0 || change == 0 ? "" : fmt::format(" ({}{})", change > 0 ? "+" : "", cycles_text(change));
        cells += fmt::format("<td{}>{}{}</td>",
                             r == 0 || change == 0 ? ""
                             : change > 0          ? " class=\"more\""
                                                   : " class=\"less\"",
                             cycles_text(row.of(r)), said);
    }
    return cells;
}

class Page {
public:
    explicit Page(const std::vector<const RecordedRun*>& runs) : runs_(runs)
    {
        for (const RecordedRun* run : runs) {
            longest_ = std::max(longest_, run->cycles);
            by_cause_ &= !run->causes.empty();
        }
        for (std::size_t r = 0; r < runs.size(); ++r) {
            for (const Amount& part : by_cause_ ? runs[r]->causes : runs[r]->phases) parts_.add(r, part.name, part.value);
            for (const RecordedStep& step : runs[r]->steps) steps_.add(r, step.name, step.cycles);
        }
    }
    static std::string letter(std::size_t r) { return r < 26 ? std::string(1, static_cast<char>('A' + r)) : fmt::format("{}", r + 1); }
    std::string label(std::size_t r) const
    {
        const RecordedRun& run = *runs_[r];
        return fmt::format("<b>{}</b> {} on {}{}", letter(r), html_text(printable(run.name)), html_text(printable(run.machine)),
                           run.memory_name.empty() ? "" : ", " + html_text(printable(run.memory_name)));
    }
    /// Which runs are on measured machines, and the nearest measured program of each.
    std::string exactness() const
    {
        std::string text = section("How exact");
        text +=
            "<div class=\"scroll\" tabindex=\"0\"><table><thead><tr><th class=\"words\">run</th><th>machine</th>"
            "<th class=\"words\">nearest measured program</th><th class=\"words\">for its operations</th><th>sizes within</th>"
            "<th>equal to the RTL</th></tr></thead><tbody>\n";
        for (std::size_t r = 0; r < runs_.size(); ++r) {
            const NearestMeasured& near = runs_[r]->nearest;
            text += fmt::format("<tr><td class=\"words wrap\">{}</td><td>{}</td>", label(r), measured_badge(*runs_[r]));
            if (near.program.empty()) text += "<td class=\"words\">not recorded</td><td></td><td></td><td></td></tr>\n";
            else
                text +=
                    fmt::format("<td class=\"words wrap\">{} on {}</td><td class=\"words wrap\">{}</td><td>{:.3g} x</td><td>{}</td></tr>\n",
                                html_text(printable(near.program)), html_text(printable(near.machine)), html_text(printable(near.modes)),
                                near.size_ratio,
                                near.differing == 0 ? fmt::format("all {} events", cycles_text(near.events))
                                                    : fmt::format("no: {} signals differ", cycles_text(near.differing)));
        }
        return text + kTableEnd;
    }
    std::string parts() const
    {
        const auto rows = parts_.ranked([](const SideBySide::Row& row) { return row.most(); });
        if (rows.empty()) return "";
        std::string text = section(by_cause_ ? "Cycles by cause" : "Cycles by phase of the array");
        for (std::size_t r = 0; r < runs_.size(); ++r) {
            std::string segments;
            for (std::size_t i = 0; i < rows.size(); ++i) segments += segment(rows[i].of(r), longest_, bar_colour(i), rows[i].name);
            text += bar(label(r), segments, cycles_text(runs_[r]->cycles));
        }
        text += table_head(by_cause_ ? "cause" : "phase");
        for (std::size_t i = 0; i < rows.size(); ++i)
            text += fmt::format("<tr><td class=\"words\"><span class=\"swatch\" style=\"background:{}\"></span>{}</td>{}</tr>\n",
                                bar_colour(i), html_text(printable(rows[i].name)), change_cells(rows[i], runs_.size()));
        return text + kTableEnd;
    }
    std::string timelines() const
    {
        if (std::ranges::all_of(runs_, [](const RecordedRun* run) { return run->steps.empty(); })) return "";
        std::string text = section("Steps in time");
        std::map<std::string, std::size_t> colours;  // a step has the same in every run
        for (std::size_t r = 0; r < runs_.size(); ++r) {
            std::string segments;
            for (const RecordedStep& step : runs_[r]->steps)
                segments +=
                    segment(step.cycles, longest_, bar_colour(colours.try_emplace(step.name, colours.size()).first->second), step.name);
            text += bar(label(r), segments, cycles_text(runs_[r]->cycles));
        }
        return text + "<p class=\"soft\">Each step with the cycles that it adds to the whole, all runs on one axis.</p></div></section>\n";
    }
    std::string steps() const
    {
        const auto moved = [](const SideBySide::Row& row) {
            std::int64_t most = 0;
            for (std::size_t r = 1; r < std::max<std::size_t>(2, row.values.size()); ++r)
                most = std::max(most, std::abs(row.of(r) - row.of(0)));
            return most;
        };
        const auto rows = steps_.ranked(moved);
        if (rows.empty()) return "";
        std::string text = section("Steps, the largest change first") + table_head("step");
        for (std::size_t i = 0; i < std::min(rows.size(), kMostStepRows); ++i)
            text += fmt::format("<tr><td class=\"words\">{}</td>{}</tr>\n", html_text(printable(rows[i].name)),
                                change_cells(rows[i], runs_.size()));
        if (rows.size() > kMostStepRows)
            text += fmt::format("<tr><td class=\"words\">and {} more that change less</td></tr>\n", rows.size() - kMostStepRows);
        return text + kTableEnd;
    }

private:
    static constexpr const char* kTableEnd = "</tbody></table></div></div></section>\n";
    static std::string section(const char* title) { return fmt::format("<section><div class=\"panel\"><h2>{}</h2>\n", title); }
    std::string table_head(const char* what) const
    {
        std::string text = fmt::format("<div class=\"scroll\" tabindex=\"0\"><table><thead><tr><th class=\"words\">{}</th>", what);
        for (std::size_t r = 0; r < runs_.size(); ++r) text += fmt::format("<th>{}</th>", letter(r));
        return text + "</tr></thead><tbody>\n";
    }
    const std::vector<const RecordedRun*>& runs_;
    std::int64_t longest_ = 1;
    bool by_cause_ = true;
    SideBySide parts_, steps_;
};

std::string facts(const std::vector<RunComparison>& comparisons)
{
    std::string rows;
    for (std::size_t i = 0; i < comparisons.size(); ++i)
        for (const auto& [what, list] : {std::pair{"work", &comparisons[i].work},
                                         {"hardware", &comparisons[i].hardware},
                                         {"memory", &comparisons[i].memory},
                                         {"plan", &comparisons[i].plan}})
            for (std::size_t f = 0; f < std::min(list->size(), kMostFacts); ++f) {
                const FactChange& fact = (*list)[f];
                rows += fmt::format("<tr><td class=\"words\">{}</td><td class=\"words\">{}: {}</td><td>{}</td><td>{}</td></tr>\n",
                                    html_text(printable(comparisons[i].b.file)), what, html_text(printable(fact.path)),
                                    html_text(json_excerpt(fact.a)), html_text(json_excerpt(fact.b)));
            }
    if (rows.empty()) return "";
    return "<section><div class=\"panel\"><h2>What differs from A</h2>\n<div class=\"scroll\" tabindex=\"0\"><table><thead><tr>"
           "<th class=\"words\">run</th><th class=\"words\">what</th><th>A</th><th>run</th></tr></thead><tbody>\n" +
           rows + "</tbody></table></div></div></section>\n";
}

}  // namespace

std::string comparison_page(const std::vector<RunComparison>& comparisons)
{
    std::vector<const RecordedRun*> runs{&comparisons.front().a};
    for (const RunComparison& comparison : comparisons) runs.push_back(&comparison.b);
    const Page page(runs);
    std::string text = page_begin("Comparison of runs", bar_styles() + kStyles) + "<header><h1>Comparison of runs</h1></header>\n<main>\n";
    text += "<section><div class=\"panel\"><h2>What changed</h2>\n";
    for (std::size_t i = 0; i < comparisons.size(); ++i)
        text += fmt::format("<p>{} {}: {}<br><span class=\"soft\">{}, with A from {}</span></p>\n", page.label(i + 1),
                            measured_badge(comparisons[i].b), html_text(comparisons[i].verdict(Page::letter(i + 1))),
                            html_text(printable(comparisons[i].b.file)), html_text(printable(comparisons[i].a.file)));
    text += "</div></section>\n" + page.parts() + page.timelines() + page.steps() + facts(comparisons) + page.exactness();
    return text + "</main>\n" + page_end();
}

}  // namespace dlasim
