#include "sweep/neighbours.h"

#include <fmt/format.h>

#include <algorithm>

namespace dlasim {
namespace {

using Gives = SweptAxis::Gives;
using OrderedJson = nlohmann::ordered_json;

struct PointFigures {
    std::size_t point = 0;
    double cycles = 0;
    double value = 0;  // on the axis, negative where less is more
};

/// A point and the one that it is slower than.
struct SlowerNeighbour {
    std::size_t point = 0, than = 0;
    std::size_t axis = 0;
    double ratio = 0;
};

bool counts(const SweptAxis& axis) { return axis.gives == Gives::More || axis.gives == Gives::Less; }

/// Every point with a result, beside those that differ from it in one axis only.
std::vector<SlowerNeighbour> find_slower(SweepStore& store, const std::vector<SweptAxis>& axes)
{
    // By axis, and by what all others are.
    std::vector<std::map<std::string, std::vector<PointFigures>>> lines(axes.size());
    store.each([&](const KeptPoint& kept) {
        const OrderedJson& row = kept.row;
        if (!row.contains("cycles") || !row["cycles"].is_number()) return;
        std::vector<std::string> texts;
        texts.reserve(axes.size());
        for (const SweptAxis& axis : axes) texts.push_back(axis.gives == Gives::Follows ? "" : row.value(axis.name, OrderedJson()).dump());
        for (std::size_t a = 0; a < axes.size(); ++a) {
            if (!counts(axes[a]) || !row.contains(axes[a].name) || !row[axes[a].name].is_number()) continue;
            std::string others;
            for (std::size_t b = 0; b < axes.size(); ++b) others += (b == a ? "" : texts[b]) + "\n";
            const double value = row[axes[a].name].get<double>();
            lines[a][others].push_back({kept.point, row["cycles"].get<double>(), axes[a].gives == Gives::More ? value : -value});
        }
    });
    std::map<std::size_t, SlowerNeighbour> worst;
    for (std::size_t a = 0; a < axes.size(); ++a)
        for (auto& [others, line] : lines[a]) {
            std::stable_sort(line.begin(), line.end(), [](const PointFigures& x, const PointFigures& y) { return x.value < y.value; });
            for (std::size_t i = 1; i < line.size(); ++i) {
                const double ratio = line[i].cycles / line[i - 1].cycles;
                SlowerNeighbour& known = worst[line[i].point];
                if (ratio > kSlower && ratio > known.ratio) known = {line[i].point, line[i - 1].point, a, ratio};
            }
        }
    std::vector<SlowerNeighbour> list;
    for (const auto& [point, slower] : worst)
        if (slower.ratio != 0) list.push_back(slower);
    return list;
}

/// The unit whose stall grew, by how many cycles, and its reason.
std::string longer_wait(const OrderedJson& row, const OrderedJson& there)
{
    std::string name;
    double most = 0;
    for (const auto& [column, share] : row.items()) {
        if (!share.is_number() || (!column.ends_with(".starved") && !column.ends_with(".blocked"))) continue;
        const double before =
            there.contains(column) && there[column].is_number() ? there[column].get<double>() * there["cycles"].get<double>() : 0;
        const double longer = share.get<double>() * row["cycles"].get<double>() - before;
        if (longer <= most) continue;
        most = longer;
        name = column;
    }
    return name.empty() ? "" : fmt::format("{} is {:.0f} cycles more", name, most);
}

std::string why(const OrderedJson& row, const OrderedJson& there)
{
    const OrderedJson plan = row.value("plan", OrderedJson()), before = there.value("plan", OrderedJson());
    if (plan.is_string() && before.is_string() && plan != before)
        return fmt::format("planned otherwise, {}; there {}", plan.get<std::string>(), before.get<std::string>());
    std::string text = plan.is_string() ? "the same plan" : "";
    const auto add = [&](const std::string& more) { text += (text.empty() || more.empty() ? "" : ", ") + more; };
    for (const char* port : {"dbb_read_bytes", "dbb_write_bytes"})
        if (row.contains(port) && there.contains(port) && row[port].is_number() && there[port].is_number() && row[port] > there[port])
            add(fmt::format("{} {} instead of {}", port, row[port].dump(), there[port].dump()));
    add(longer_wait(row, there));
    const OrderedJson bound = row.value("bound", OrderedJson());
    if (bound.is_string()) add("bound by " + bound.get<std::string>());
    return text;
}

}  // namespace

std::map<std::size_t, std::string> slower_points(SweepStore& store, const std::vector<SweptAxis>& axes)
{
    if (std::none_of(axes.begin(), axes.end(), counts)) return {};
    const std::vector<SlowerNeighbour> list = find_slower(store, axes);
    if (list.empty()) return {};
    std::map<std::size_t, OrderedJson> rows;
    for (const SlowerNeighbour& slower : list) rows[slower.point] = rows[slower.than] = {};
    store.each([&](KeptPoint&& kept) {
        if (const auto wanted = rows.find(kept.point); wanted != rows.end()) wanted->second = std::move(kept.row);
    });
    std::map<std::size_t, std::string> texts;
    for (const SlowerNeighbour& slower : list) {
        const OrderedJson &row = rows[slower.point], &there = rows[slower.than];
        const std::string& axis = axes[slower.axis].name;
        texts[slower.point] = fmt::format("{:.1f} % slower than point {} ({} {}): {}", 100 * (slower.ratio - 1), slower.than, axis,
                                          there.value(axis, OrderedJson()).dump(), why(row, there));
    }
    return texts;
}

}  // namespace dlasim
