#include "sweep/requirement.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "base/error.h"
#include "config/json_object.h"
#include "files/printable.h"
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

Requirement read_comparison(const std::string& text, const std::string& where, const std::vector<std::string>& workloads)
{
    const std::string expected = ", expected a figure, <, <=, > or >=, and a number: \"frames_per_s >= 60\"";
    for (const auto& [sign, is] : kSigns) {
        const std::size_t at = text.find(sign);
        if (at == std::string::npos) continue;
        const std::string number = trimmed(text.substr(at + sign.size()));
        Requirement requirement{figure_named(trimmed(text.substr(0, at)), where, workloads), is, 0};
        const char* end = number.data() + number.size();
        const auto [stop, error] = std::from_chars(number.data(), end, requirement.number);
        if (error != std::errc() || stop != end || number.empty() || !(requirement.number >= 0 && requirement.number < 1e18))
            throw ConfigError(where, "found \"" + printable(number) + "\" after " + std::string(sign) + ", expected a number from 0 on");
        return requirement;
    }
    throw ConfigError(where, "found \"" + printable(text) + "\"" + expected);
}

}  // namespace

bool is_of_machine(const std::string& column) { return std::ranges::find(kOfMachine, column) != kOfMachine.end(); }

std::string_view Requirement::sign() const { return sign_of(is); }

std::string Requirement::text() const { return fmt::format("{} {} {}", column, sign_of(is), number); }

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
    const double distance = upper() ? number - value : value - number;
    return number != 0 ? distance / number : distance;
}

std::vector<Requirement> read_requirements(const std::string& text, const std::string& where, const std::vector<std::string>& workloads)
{
    std::vector<Requirement> list;
    if (trimmed(text).empty()) return list;
    for (std::size_t start = 0; start <= text.size();) {
        const std::size_t end = std::min(text.find("&&", start), text.size());
        list.push_back(read_comparison(trimmed(text.substr(start, end - start)), where, workloads));
        start = end + 2;
    }
    return list;
}

bool more_is_better(const std::string& column)
{
    constexpr std::array kMore{"frames_per_s",    "gops",        "utilization",       "array_occupancy",
                               "dram_efficiency", "bound_share", "dram_row_hit_rate", "dram_gb_per_s"};
    return std::ranges::find(kMore, column) != kMore.end();
}

std::string figure_named(const std::string& name, const std::string& where, const std::vector<std::string>& workloads)
{
    constexpr std::array<std::pair<std::string_view, std::string_view>, 2> kOtherNames{
        {{"fps", "frames_per_s"}, {"mac_utilization", "utilization"}}};
    const auto* other = std::ranges::find(kOtherNames, name, [](const auto& pair) { return pair.first; });
    std::string column(other == kOtherNames.end() ? name : other->second);
    std::vector<std::string> known;
    for (const PlacedKey& key : figure_keys())
        if (key.row.type.starts_with("number") || key.row.type.starts_with("integer")) known.push_back(key.path);
    if (!workloads.empty()) {
        if (is_of_machine(column)) return column;
        for (const std::string& workload : workloads)
            if (!workload.empty() && column.starts_with(workload + ".")) {
                const std::string figure = column.substr(workload.size() + 1);
                return workload + "." + (figure == kLatency ? figure : figure_named(figure, where));
            }
        for (const char* figure : kOfMachine) known.emplace_back(figure);
        for (const std::string& workload : workloads) known.push_back(workload + "." + kLatency);
    }
    if (std::ranges::find(known, column) == known.end())
        throw ConfigError(where, "\"" + printable(name) + "\" is no figure of the table" + suggest(column, known));
    return column;
}

std::optional<double> figure_of(const nlohmann::ordered_json& row, const std::string& column)
{
    const auto there = row.find(column);
    return there != row.end() && there->is_number() ? std::optional(there->get<double>()) : std::nullopt;
}

}  // namespace dlasim
