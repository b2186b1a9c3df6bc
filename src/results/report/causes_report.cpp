#include "report/causes_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/files/printable.h"

namespace dlasim {
namespace {

constexpr std::size_t kMaxLines = 5;

std::string line_of(bool first, Cycle cycles, Cycle all, const std::string& what)
{
    const double share = 100 * static_cast<double>(cycles) / static_cast<double>(std::max<Cycle>(all, 1));
    return fmt::format("  {:<12} {:>13} {:>6.2f} %  {}\n", first ? "causes" : "", grouped(cycles), share, what);
}

}  // namespace

std::string cause_text(ExactCause cause)
{
    const CauseName& name = name_of(cause.cause);
    std::string words = fmt::format("{}: {}", name.group, name.name);
    std::replace(words.begin(), words.end(), '_', ' ');
    if (cause.client < kClients) words += std::string(", ") + kClientNames[cause.client];
    return words;
}

nlohmann::ordered_json causes_json(const std::vector<CauseCycles>& causes)
{
    if (causes.empty()) return kAbsent;
    nlohmann::ordered_json tree;
    for (const CauseCycles& spent : causes) {
        const CauseName& name = name_of(spent.cause.cause);
        nlohmann::ordered_json& place = tree[std::string(name.group)][std::string(name.name)];
        (name.by_client ? place[client_of(spent.cause)] : place) = spent.cycles;
    }
    return tree;
}

std::string causes_text(const std::vector<CauseCycles>& causes)
{
    std::vector<CauseCycles> sorted = causes;
    std::stable_sort(sorted.begin(), sorted.end(), [](const CauseCycles& a, const CauseCycles& b) { return a.cycles > b.cycles; });
    const Cycle all = sum_of(sorted);
    const std::size_t shown = sorted.size() <= kMaxLines ? sorted.size() : kMaxLines - 1;
    std::string text;
    Cycle left = all;
    for (std::size_t i = 0; i < shown; ++i) {
        text += line_of(i == 0, sorted[i].cycles, all, cause_text(sorted[i].cause));
        left -= sorted[i].cycles;
    }
    if (shown < sorted.size()) text += line_of(false, left, all, fmt::format("{} others", sorted.size() - shown));
    return text;
}

}  // namespace dlasim
