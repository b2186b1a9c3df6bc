#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>

#include "base/files/columns.h"
#include "base/files/printable.h"
#include "compare/comparison.h"

namespace dlasim {
namespace {

constexpr std::size_t kMaxParts = 12, kMaxSteps = 10, kMaxFacts = 12;

/// In at most 13 letters.
std::string signed_number(std::int64_t value, bool with_sign = false)
{
    const char* sign = !with_sign || value == 0 ? "" : value < 0 ? "-" : "+";
    const std::string digits = grouped(static_cast<std::uint64_t>(std::abs(value)));
    return sign + (digits.size() > 12 ? fmt::format("{:.6g}", std::abs(static_cast<double>(value))) : digits);
}

/// "dbb.read_bytes_by_client.CDMA_WT" as "DBB read by CDMA_WT".
std::string traffic_name(const std::string& path)
{
    const std::size_t dot = std::min(path.find('.'), path.size());
    std::string name = path.starts_with("cvsram") ? "CVSRAM" : "DBB", rest = path.substr(std::min(dot + 1, path.size()));
    for (const auto& [key, word] : {std::pair{"read_bytes_by_client.", "read by "},
                                    {"write_bytes_by_client.", "written by "},
                                    {"read_bytes", "read"},
                                    {"write_bytes", "written"}})
        if (rest.starts_with(key)) return name + " " + word + rest.substr(std::string_view(key).size());
    return name + " " + rest;
}

std::string amount_line(const AmountChange& c)
{
    std::string share = percent_text(c.a, c.change());
    if (!share.empty()) share = fmt::format(" {:>8}", share);
    return fmt::format("  {:<27} {:>13} {:>13} {:>13}{}\n", cut_to(c.name, 27), signed_number(c.a), signed_number(c.b),
                       signed_number(c.change(), true), share);
}

std::string head_line(const char* title, const char* unit)
{
    return fmt::format("\n  {:<27} {:>13} {:>13} {:>13}\n", title, std::string("A, ") + unit, "B", "change");
}

/// The largest ones, and the sum of the others.
std::string amount_lines(const std::vector<AmountChange>& list, std::size_t most, const char* others,
                         const std::map<std::string, std::string>& why = {})
{
    std::string text;
    AmountChange rest;
    std::size_t shown = 0, left = 0;
    for (const AmountChange& c : list) {
        if (shown < most && (c.a != 0 || c.b != 0)) {
            text += amount_line(c);
            if (const auto said = why.find(c.name); said != why.end() && !said->second.empty())
                text += "    " + cut_to(said->second, kColumns - 4) + "\n";
            ++shown;
        } else if (c.a != 0 || c.b != 0) {
            rest.a += c.a;
            rest.b += c.b;
            ++left;
        }
    }
    if (left == 0) return text;
    rest.name = fmt::format("{} other {}", left, others);
    return text + amount_line(rest);
}

std::string value_text(const Json& value)
{
    return value.is_null() ? "-" : value.is_string() ? value.get<std::string>() : json_excerpt(value);
}

std::string fact_lines(const char* title, const std::vector<FactChange>& facts)
{
    if (facts.empty()) return "";
    std::string text = fmt::format("\n  {:<34} {:>20} {:>20}\n", title, "A", "B");
    const std::size_t shown = std::min(facts.size(), facts.size() == kMaxFacts + 1 ? facts.size() : kMaxFacts);
    for (std::size_t i = 0; i < shown; ++i)
        text += fmt::format("  {:<34} {:>20} {:>20}\n", cut_to(facts[i].path, 34), cut_to(value_text(facts[i].a), 20),
                            cut_to(value_text(facts[i].b), 20));
    if (shown < facts.size()) text += fmt::format("  and {} more: --json has all\n", facts.size() - shown);
    return text;
}

std::string run_line(const char* letter, const RecordedRun& run)
{
    const std::string on = run.machine + (run.memory_name.empty() ? "" : ", " + run.memory_name);
    const std::string checked = !run.verified ? "" : *run.verified ? ", verified" : ", VALUES DIFFER";
    return fmt::format("  {}  {}\n     {} on {}{}\n", letter, cut_to(run.file, 74), cut_to(run.name, 30), cut_to(on, 28), checked);
}

std::string step_lines(const RunComparison& c)
{
    std::vector<AmountChange> steps;
    std::map<std::string, std::string> why;
    for (const StepChange& step : c.steps) {
        steps.push_back(step.cycles);
        why[step.cycles.name] = main_part(step.causes, step.cycles.change());
    }
    for (const auto* alone : {&c.only_a, &c.only_b}) steps.insert(steps.end(), alone->begin(), alone->end());
    if (steps.empty()) return "";
    std::stable_sort(steps.begin(), steps.end(),
                     [](const AmountChange& x, const AmountChange& y) { return std::abs(x.change()) > std::abs(y.change()); });
    return head_line("by step", "cycles") + amount_lines(steps, kMaxSteps, "steps", why);
}

}  // namespace

std::string comparison_text(const RunComparison& c, std::optional<double> tolerance)
{
    std::string text = folded(c.verdict());
    if (tolerance)
        text += c.within(*tolerance) ? fmt::format("Within the tolerance of {:g} %.\n", *tolerance)
                                     : fmt::format("Beyond the tolerance of {:g} %.\n", *tolerance);
    text += '\n';
    text += run_line("A", c.a) + run_line("B", c.b);
    text += fact_lines("different work", c.work);
    text += head_line("", "cycles") + amount_line({"all", c.a.cycles, c.b.cycles});
    if (!c.parts.empty())
        text += head_line(c.by_cause ? "by cause" : "by phase of the array", "cycles") + amount_lines(c.parts, kMaxParts, "causes");
    text += step_lines(c);
    text +=
        fact_lines("changed in hardware", c.hardware) + fact_lines("changed in memory", c.memory) + fact_lines("changed in plan", c.plan);
    std::vector<AmountChange> traffic = c.traffic;
    for (AmountChange& bytes : traffic) bytes.name = traffic_name(bytes.name);
    if (!traffic.empty()) text += head_line("changed in traffic", "bytes") + amount_lines(traffic, kMaxParts, "clients");
    if (c.hardware.empty() && c.memory.empty() && c.plan.empty()) text += "\n  Hardware, memory and plan are the same.\n";
    return text;
}

}  // namespace dlasim
