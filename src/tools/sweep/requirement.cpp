#include "sweep/requirement.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <functional>

#include "base/error.h"
#include "base/files/expression.h"
#include "base/files/printable.h"
#include "config/json_object.h"
#include "sweep/figures.h"

namespace dlasim {
namespace {

constexpr std::array<std::pair<std::string_view, Requirement::Is>, 4> kSigns{
    {{"<=", Requirement::Is::AtMost}, {">=", Requirement::Is::AtLeast}, {"<", Requirement::Is::Below}, {">", Requirement::Is::Above}}};

std::string_view sign_of(Requirement::Is is)
{
    return std::ranges::find(kSigns, is, &std::pair<std::string_view, Requirement::Is>::second)->first;
}

/// Of a machine with all its workloads at their rates.
constexpr std::array kOfMachine{"load", "system_mw", "memory_mw", "uj_per_frame"};
constexpr const char* kLatency = "latency_ms";

std::string trimmed(const std::string& text)
{
    const std::size_t from = text.find_first_not_of(" \t\n"), to = text.find_last_not_of(" \t\n");
    return from == std::string::npos ? "" : text.substr(from, to - from + 1);
}

bool is_expression(const std::string& text) { return text.find_first_of("+-*/%()!") != std::string::npos; }

/// From a place on: letters, digits, _ and points; of a number the digits with their point.
std::size_t end_of_word(const std::string& text, std::size_t from)
{
    const auto of_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.'; };
    while (from < text.size() && of_word(text[from])) ++from;
    return from;
}

/// The expression with each name replaced by name(it). max and min are functions, not names.
template <class Name>
std::string with_names(const std::string& text, Name&& name)
{
    std::string out;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = end_of_word(text, at);
        if (end == at) {
            out += text[at++];
            continue;
        }
        const std::string word = text.substr(at, end - at);
        const std::size_t next = text.find_first_not_of(' ', end);
        const bool function = (word == "max" || word == "min") && next != std::string::npos && text[next] == '(';
        out += function || std::isdigit(static_cast<unsigned char>(word.front())) ? word : name(word);
        at = end;
    }
    return out;
}

/// Value of an expression of figures; none where one of them is not known, or a division has no result.
std::optional<double> value_in(const std::string& text, const std::function<std::optional<double>(const std::string&)>& figure)
{
    bool known = true;
    try {
        const ExpressionValue value = expression(text, "", [&](const std::string& name) -> ExpressionValue {
            const std::optional<double> number = figure(name);
            known &= number.has_value();
            return number.value_or(1);
        });
        if (!known || std::holds_alternative<std::string>(value)) return std::nullopt;
        const std::int64_t* whole = std::get_if<std::int64_t>(&value);
        return whole ? static_cast<double>(*whole) : std::get<double>(value);
    } catch (const ConfigError&) {
        return std::nullopt;
    }
}

bool of_workload(const std::string& column, const std::vector<std::string>& workloads)
{
    return std::ranges::any_of(workloads, [&](const std::string& name) { return !name.empty() && column.starts_with(name + "."); });
}

/// A machine with several workloads has a figure of each, and its own ones once.
void refuse_mixed(const std::string& column, const std::string& where, const std::vector<std::string>& workloads)
{
    const std::vector<std::string> names = figures_in(column);
    const auto once = [&](const std::string& name) { return is_of_machine(name) || of_workload(name, workloads); };
    if (!std::ranges::any_of(names, once)) return;
    for (const std::string& name : names)
        if (!once(name) && name != "area_mm2")
            throw ConfigError(where,
                              fmt::format("\"{}\" is a figure of each workload next to one of the machine, expected a workload before "
                                          "it: {}.{}",
                                          name, workloads.front(), name));
}

std::optional<double> number_in(const std::string& text)
{
    double number = 0;
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, number);
    if (error == std::errc() && stop == end && !text.empty()) return number;
    return text.empty() || !figures_in(text).empty() ? std::nullopt : value_in(text, [](const std::string&) { return std::nullopt; });
}

/// Where a sign is outside of parentheses, from a place on.
std::size_t find_outside(const std::string& text, std::string_view sign, std::size_t from = 0)
{
    int depth = 0;
    for (std::size_t at = 0; at < text.size(); ++at) {
        if (text[at] == '(') ++depth;
        if (text[at] == ')') --depth;
        if (at >= from && depth == 0 && text.compare(at, sign.size(), sign) == 0) return at;
    }
    return std::string::npos;
}

/// Without parentheses around the whole.
std::string without_parentheses(const std::string& text)
{
    if (text.size() < 2 || text.front() != '(' || find_outside(text, ")") != text.size() - 1) return text;
    return trimmed(text.substr(1, text.size() - 2));
}

Requirement read_condition(const std::string& text, const std::string& where, const std::vector<std::string>& workloads)
{
    Requirement requirement{figure_named("(" + text + ")", where, workloads), Requirement::Is::AtLeast, 1, true};
    refuse_mixed(requirement.column, where, workloads);
    return requirement;
}

Requirement read_comparison(const std::string& text, const std::string& where, const std::vector<std::string>& workloads)
{
    if (text.starts_with('!') || text.find("||") != std::string::npos || text.find("&&") != std::string::npos ||
        text.find("==") != std::string::npos || text.find("!=") != std::string::npos)
        return read_condition(text, where, workloads);
    for (const auto& [sign, is] : kSigns) {
        const std::size_t at = find_outside(text, sign);
        if (at == std::string::npos) continue;
        const std::string right = trimmed(text.substr(at + sign.size()));
        Requirement requirement{figure_named(trimmed(text.substr(0, at)), where, workloads), is, 0};
        const std::string refused =
            "found \"" + printable(right) + "\" after " + std::string(sign) + ", expected a number from 0 on, or figures of the table";
        if (const std::optional<double> number = number_in(right)) {
            requirement.number = *number;
        } else {
            try {
                requirement.column = fmt::format("{} - ({})", requirement.column, figure_named(right, where, workloads));
            } catch (const ConfigError&) {
                throw ConfigError(where, refused);
            }
        }
        if (!(requirement.number >= 0 && requirement.number < 1e18)) throw ConfigError(where, refused);
        refuse_mixed(requirement.column, where, workloads);
        return requirement;
    }
    throw ConfigError(where, "found \"" + printable(text) + "\", expected a figure, <, <=, > or >=, and a number: \"frames_per_s >= 60\"");
}

/// A name of the table; none if there is no such.
std::optional<std::string> plain_figure(const std::string& name, const std::vector<std::string>& workloads, std::vector<std::string>& known)
{
    constexpr std::array<std::pair<std::string_view, std::string_view>, 2> kOtherNames{
        {{"fps", "frames_per_s"}, {"mac_utilization", "utilization"}}};
    const auto* other = std::ranges::find(kOtherNames, name, [](const auto& pair) { return pair.first; });
    const std::string column(other == kOtherNames.end() ? name : other->second);
    for (const PlacedKey& key : figure_keys())
        if (key.row.type.starts_with("number") || key.row.type.starts_with("integer")) known.push_back(key.path);
    if (!workloads.empty()) {
        if (is_of_machine(column)) return column;
        for (const std::string& workload : workloads)
            if (!workload.empty() && column.starts_with(workload + ".")) {
                const std::string figure = column.substr(workload.size() + 1);
                known.push_back(kLatency);
                if (figure == kLatency) return column;
                const std::optional<std::string> own = plain_figure(figure, {}, known);
                return own ? std::optional(workload + "." + *own) : std::nullopt;
            }
        for (const char* figure : kOfMachine) known.emplace_back(figure);
        for (const std::string& workload : workloads) known.push_back(workload + "." + kLatency);
    }
    return std::ranges::find(known, column) != known.end() ? std::optional(column) : std::nullopt;
}

}  // namespace

bool is_of_machine(const std::string& column) { return std::ranges::find(kOfMachine, column) != kOfMachine.end(); }

std::string_view Requirement::sign() const { return sign_of(is); }

std::string Requirement::text() const
{
    if (condition) return column.substr(1, column.size() - 2);
    return fmt::format("{} {} {}", column, sign_of(is), number);
}

bool Requirement::met(double value) const
{
    switch (is) {
        case Is::Below:
            return value < number;
        case Is::AtMost:
            return value <= number;
        case Is::Above:
            return value > number;
        case Is::AtLeast:
            return value >= number;
    }
    return false;
}

double Requirement::margin(double value) const
{
    if (condition) return met(value) ? 1 : -1;
    const double distance = upper() ? number - value : value - number;
    return number != 0 ? distance / number : distance;
}

std::vector<Requirement> read_requirements(const std::string& text, const std::string& where, const std::vector<std::string>& workloads)
{
    std::vector<Requirement> list;
    const std::string whole = without_parentheses(trimmed(text));
    if (whole.empty()) return list;
    if (whole != trimmed(text)) return read_requirements(whole, where, workloads);
    if (find_outside(whole, "||") != std::string::npos) return {read_condition(whole, where, workloads)};
    for (std::size_t start = 0; start <= whole.size();) {
        const std::size_t end = std::min(find_outside(whole, "&&", start), whole.size());
        const std::string part = trimmed(whole.substr(start, end - start));
        if (without_parentheses(part) == part) list.push_back(read_comparison(part, where, workloads));
        else
            for (const Requirement& one : read_requirements(part, where, workloads)) list.push_back(one);
        start = end + 2;
    }
    return list;
}

void use_system_power(Requirement& requirement, const std::string& where, const std::vector<std::string>& workloads)
{
    requirement.column = with_names(requirement.column, [](const std::string& name) { return name == "power_mw" ? "system_mw" : name; });
    refuse_mixed(requirement.column, where, workloads);
}

bool more_is_better(const std::string& column)
{
    constexpr std::array kMore{"frames_per_s",    "gops",        "utilization",       "array_occupancy",
                               "dram_efficiency", "bound_share", "dram_row_hit_rate", "dram_gb_per_s"};
    return std::ranges::find(kMore, column) != kMore.end();
}

std::string figure_named(const std::string& name, const std::string& where, const std::vector<std::string>& workloads)
{
    std::vector<std::string> known;
    if (std::optional<std::string> plain = plain_figure(name, workloads, known)) return *plain;
    if (!is_expression(name)) throw ConfigError(where, "\"" + printable(name) + "\" is no figure of the table" + suggest(name, known));
    std::string text = with_names(name, [&](const std::string& word) {
        std::vector<std::string> others;
        if (std::optional<std::string> plain = plain_figure(word, workloads, others)) return *plain;
        throw ConfigError(where, "\"" + printable(word) + "\" is no figure of the table" + suggest(word, others));
    });
    double any = 1;  // so that it is read once
    const ExpressionValue value = expression(text, where, [&](const std::string&) { return any *= 0.75; });
    if (std::holds_alternative<std::string>(value)) throw ConfigError(where, "\"" + printable(name) + "\" is a text, expected figures");
    return text;
}

std::optional<double> figure_of(const nlohmann::ordered_json& row, const std::string& column, const std::string& prefix)
{
    const auto plain = [&](const std::string& name) -> std::optional<double> {
        auto there = row.find(name);
        if (there == row.end() && !prefix.empty()) there = row.find(prefix + name);
        return there != row.end() && there->is_number() ? std::optional(there->get<double>()) : std::nullopt;
    };
    if (row.contains(column) || !is_expression(column)) return plain(column);
    return value_in(column, plain);
}

FigureRange range_of(const std::string& column, const std::function<FigureRange(const std::string&)>& figure)
{
    constexpr std::size_t kMostOpen = 12;  // names, each of which doubles the values that are looked at
    if (!is_expression(column)) return figure(column);
    if (column.find_first_of("%=|&!") != std::string::npos) return {};
    // Each operation is monotone in each operand, so with every name by itself the extremes are at ends of the ranges.
    std::vector<FigureRange> ranges;
    std::vector<std::size_t> open(1);  // the place of a name among those that are not exact
    for (const std::string& name : figures_in(column)) {
        ranges.push_back(figure(name));
        open.push_back(open.back() + (ranges.back().exact() ? 0 : 1));
    }
    if (open.back() > kMostOpen) return {};
    FigureRange whole{FigureRange::kMost, -FigureRange::kMost};
    for (std::size_t ends = 0; ends < std::size_t{1} << open.back(); ++ends) {
        std::size_t at = 0;
        const std::optional<double> value = value_in(column, [&](const std::string&) -> std::optional<double> {
            const bool upper = (ends >> open[at] & 1) != 0;
            const FigureRange& range = ranges[at++];
            return upper ? range.most : range.least;
        });
        if (!value) return {};
        whole.least = std::min(whole.least, *value);
        whole.most = std::max(whole.most, *value);
    }
    return whole;
}

bool cannot_meet(const Requirement& requirement, const FigureRange& range)
{
    constexpr double kRounding = 1e-5;
    const double end = requirement.upper() ? range.least : range.most;
    const double slack = range.exact() ? 0 : kRounding * std::abs(end);
    return !requirement.met(requirement.upper() ? end - slack : end + slack);
}

std::vector<std::string> figures_in(const std::string& column)
{
    if (!is_expression(column)) return {column};
    std::vector<std::string> names;
    with_names(column, [&](const std::string& word) {
        names.push_back(word);
        return word;
    });
    return names;
}

}  // namespace dlasim
