#include "sweep/machines.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "sweep/checked_figures.h"
#include "sweep/figures.h"
#include "sweep/shared_machine.h"

namespace dlasim {
namespace {

/// Figures of a workload that a machine's row has.
constexpr std::array kOfMachines{"cycles",   "time_us",  "frames_per_s",  "energy_uj",    "total_uj",
                                 "power_mw", "area_mm2", "dram_gb_per_s", "dbb_gb_per_s", "utilization"};
/// Sums over the frames of a mix: their mean by weight is that of a frame. All others are means over its time.
constexpr std::array kOfFrames{"cycles", "time_us", "energy_uj", "total_uj"};

constexpr std::array kMachineRows{
    KeyRow{"machine", "integer", "", "number of its first point"},
    KeyRow{"area_mm2", "number or null", "mm2", "of the accelerator"},
    KeyRow{"measured", "flag or null", "", "the reference was measured with this machine; null where a workload has no result"},
    KeyRow{"load", "number or null", "", "share of the time in which the machine works: rate x time of a frame, over all workloads",
           "workloads with a rate"},
    KeyRow{"system_mw", "number or null", "mW",
           "accelerator and memory at the rates: energy of the frames, and for the rest of the time idle_mw and memory_idle_mw",
           "workloads with a rate"},
    KeyRow{"memory_mw", "number or null", "mW", "of these, the memory", "workloads with a rate"},
    KeyRow{"uj_per_frame", "number or null", "uJ", "system_mw over the frames per second of all workloads", "workloads with a rate"},
    KeyRow{"*.latency_ms", "number or null", "ms",
           "of a workload: from the release of a frame to its end, at worst in a hyperperiod of all; null where the load is above 1",
           "workloads with a rate"},
    KeyRow{"*", "any", "",
           "a column for each axis but that of the workloads; each figure of each workload, resnet50.frames_per_s; mean.power_mw and the "
           "others: of a "
           "frame of the workloads by weight, or over their time; worst.frames_per_s and the others: the least where more is better, else "
           "the most"},
    KeyRow{"meets", "flag or null", "", "every requirement is met; null where a workload has no result"},
    KeyRow{"fails", "text", "", "requirements that are not met, with the values found; why it was not simulated"},
};

using Rows = std::map<std::size_t, nlohmann::ordered_json>;

bool of_frames(const std::string& column) { return std::ranges::find(kOfFrames, column) != kOfFrames.end(); }

nlohmann::ordered_json number(const std::optional<double>& value) { return value ? nlohmann::ordered_json(shown(*value)) : nullptr; }

/// By weight of the workloads: of a frame, or over the time of all.
std::optional<double> mean_of(const std::string& column, const std::vector<const nlohmann::ordered_json*>& rows,
                              const MachineQuestion& question)
{
    double sum = 0, weights = 0, time = 0;
    const bool rate = column == "frames_per_s";
    for (std::size_t w = 0; w < rows.size(); ++w) {
        const auto value = figure_of(*rows[w], column), us = figure_of(*rows[w], "time_us");
        if (!value || !us) return std::nullopt;
        const double weight = question.workloads[w].weight;
        weights += weight;
        time += weight * *us;
        sum += rate ? weight / *value : weight * *value * (of_frames(column) ? 1 : *us);
    }
    if (rate) return sum > 0 ? std::optional(weights / sum) : std::nullopt;
    const double over = of_frames(column) ? weights : time;
    return over > 0 ? std::optional(sum / over) : std::nullopt;
}

std::optional<double> worst_of(const std::string& column, const std::vector<const nlohmann::ordered_json*>& rows)
{
    std::optional<double> worst;
    for (const nlohmann::ordered_json* row : rows) {
        const auto value = figure_of(*row, column);
        if (!value) return std::nullopt;
        if (!worst || (more_is_better(column) ? *value < *worst : *value > *worst)) worst = value;
    }
    return worst;
}

bool is_measured(const nlohmann::ordered_json* row) { return row->value("measured", nlohmann::ordered_json()) == true; }

void fill_row(SweptMachine& machine, const std::vector<const nlohmann::ordered_json*>& rows, const MachineQuestion& question)
{
    nlohmann::ordered_json& row = machine.row;
    row["machine"] = machine.point;
    for (const std::string& axis : question.axes) row[axis] = rows.front()->value(axis, nlohmann::ordered_json());
    row["area_mm2"] = number(figure_of(*rows.front(), "area_mm2"));
    row["measured"] = machine.whole ? nlohmann::ordered_json(std::ranges::all_of(rows, &is_measured)) : nlohmann::ordered_json();
    if (question.rated()) machine.works = add_shared_figures(row, rows, question);
    for (const char* column : kOfMachines)
        if (column != std::string("area_mm2"))
            row[std::string("mean.") + column] = number(machine.whole ? mean_of(column, rows, question) : std::nullopt);
    for (const char* column : kOfMachines)
        if (column != std::string("area_mm2"))
            row[std::string("worst.") + column] = number(machine.whole ? worst_of(column, rows) : std::nullopt);
    std::vector<std::string> columns(kOfMachines.begin(), kOfMachines.end());
    for (const AskedWorkload& workload : question.workloads)
        for (const std::vector<Requirement>* list : {&question.require, &workload.require})
            for (const Requirement& r : *list)
                if (std::ranges::find(columns, r.column) == columns.end() && !question.is_of_machine(r.column)) columns.push_back(r.column);
    for (std::size_t w = 0; w < rows.size(); ++w) {
        const std::string& name = question.workloads[w].name;
        for (const std::string& column : columns)
            if (column != "area_mm2") {  // as in the row of the point: cycles in whole
                const auto of_point = rows[w]->find(column);
                row[name.empty() ? column : name + "." + column] =
                    of_point != rows[w]->end() && of_point->is_number_integer() ? *of_point : number(figure_of(*rows[w], column));
            }
    }
    for (std::size_t w = 0; w < rows.size(); ++w)
        row[(question.workloads[w].name.empty() ? "" : question.workloads[w].name + ".") + "host_us"] =
            number(figure_of(*rows[w], "host_us"));
    std::string fails;
    for (std::size_t w = 0; !machine.whole && fails.empty() && w < rows.size(); ++w) fails = rows[w]->value("reason", "");
    for (const CheckedFigure& check : checked(machine, question))
        if (machine.whole && !check.met()) fails += (fails.empty() ? "" : "; ") + check.text();
    machine.meets = machine.whole && fails.empty();
    row["meets"] = machine.whole ? nlohmann::ordered_json(machine.meets) : nlohmann::ordered_json();
    row["fails"] = fails;
}

}  // namespace

double MachineQuestion::error_of(const std::string& column) const
{
    double error = 0;
    for (const std::string& name : figures_in(column)) {
        const std::string figure = name.substr(name.rfind('.') + 1);
        if (figure == "area_mm2") error = std::max(error, area_error);
        if (figure == "energy_uj" || figure == "power_mw" || figure == "system_mw" || figure == "uj_per_frame")
            error = std::max(error, power_error);
    }
    return error;
}

bool MachineQuestion::rated() const
{
    return std::ranges::any_of(workloads, [](const AskedWorkload& w) { return w.rate > 0; });
}

bool MachineQuestion::is_of_machine(const std::string& column) const
{
    const auto once = [&](const std::string& name) {
        return dlasim::is_of_machine(name) ||
               std::ranges::any_of(workloads, [&](const AskedWorkload& w) { return !w.name.empty() && name.starts_with(w.name + "."); });
    };
    return std::ranges::any_of(figures_in(column), once);
}

bool MachineQuestion::asked() const
{
    return workloads.size() > 1 || !require.empty() ||
           std::ranges::any_of(workloads, [](const AskedWorkload& w) { return !w.name.empty() || !w.require.empty(); });
}

SweptMachine machine_of(const std::vector<const nlohmann::ordered_json*>& rows, const MachineQuestion& question,
                        const std::vector<std::size_t>& place, std::size_t point)
{
    SweptMachine machine{place, point, nlohmann::ordered_json::object(), {}, true, false};
    for (const nlohmann::ordered_json* row : rows) machine.whole &= figure_of(*row, "cycles").has_value();
    fill_row(machine, rows, question);
    return machine;
}

std::vector<SweptMachine> machines_of(SweepStore& store, const MachineQuestion& question)
{
    Rows rows;
    store.each([&](KeptPoint&& kept) { rows[kept.point] = std::move(kept.row); });
    std::map<std::vector<std::size_t>, std::map<std::size_t, std::size_t>> points;  // place of the machine -> workload -> point
    for (std::size_t i = 0; i < question.points.size(); ++i) {
        const std::vector<std::size_t>& place = question.points[i];
        const std::vector<std::size_t> of_machine(place.begin(), place.begin() + static_cast<std::ptrdiff_t>(question.axes.size()));
        points[of_machine][place.size() > question.axes.size() ? place.back() : 0] = i;
    }
    static const nlohmann::ordered_json kNone = nlohmann::ordered_json::object();
    std::vector<SweptMachine> machines;
    for (const auto& [place, works] : points) {
        std::vector<const nlohmann::ordered_json*> of;
        bool ran = false;
        for (std::size_t w = 0; w < question.workloads.size(); ++w) {
            const auto point = works.find(w);
            const auto row = point == works.end() ? rows.end() : rows.find(point->second);
            ran |= row != rows.end();
            of.push_back(row == rows.end() ? &kNone : &row->second);
        }
        if (ran) machines.push_back(machine_of(of, question, place, works.begin()->second));  // not all do, of a search
    }
    return machines;
}

KnownMachine::KnownMachine(const std::vector<KnownPoint>& points, const MachineQuestion& question) : question_(question)
{
    std::vector<const nlohmann::ordered_json*> least, most;
    for (const KnownPoint& point : points) {
        least.push_back(&point.least);
        most.push_back(&point.most);
        ran_ &= point.ran;
    }
    least_ = machine_of(least, question, {}, 0);
    most_ = machine_of(most, question, {}, 0);
    if (ran_ || !question.rated()) return;
    // A frame takes its own time at least; how long it waits for others is not known before, as shorter steps may make it wait longer.
    for (std::size_t w = 0; w < points.size(); ++w)
        if (question.workloads[w].rate > 0) {
            const auto own = figure_of(*least[w], "time_us");
            least_.row[question.workloads[w].name + ".latency_ms"] = number(own ? std::optional(1e-3 * *own) : std::nullopt);
        }
}

FigureRange KnownMachine::plain(const std::string& name) const
{
    constexpr std::string_view kMean = "mean.";
    const std::string figure = name.substr(name.rfind('.') + 1);
    // A mean over the time of all is in no order with that time.
    if (!ran_ && name.starts_with(kMean) && !of_frames(figure) && figure != "frames_per_s") return {};
    const auto least = figure_of(least_.row, name), most = figure_of(most_.row, name);
    return {least.value_or(-FigureRange::kMost), most.value_or(FigureRange::kMost)};
}

FigureRange KnownMachine::range(const std::string& column, const std::string& prefix) const
{
    return range_of(column,
                    [&](const std::string& name) { return plain(least_.row.contains(name) || prefix.empty() ? name : prefix + name); });
}

std::string KnownMachine::cannot_meet(std::span<const std::string_view> of) const
{
    std::vector<CheckedFigure> checks = checked(least_, question_);
    // What is asked of a workload says more than the load of all.
    std::ranges::stable_partition(checks, [](const CheckedFigure& check) { return check.requirement->column != "load"; });
    for (const CheckedFigure& check : checks) {
        const Requirement& r = *check.requirement;
        if (!of.empty() && std::ranges::find(of, r.column) == of.end()) continue;
        const FigureRange known = range(r.column, check.workload.empty() ? "" : check.workload + ".");
        if (dlasim::cannot_meet(r, known))
            return fmt::format("{}{} {:.4g}{}, expected {}", check.workload.empty() ? "" : check.workload + ": ", r.column,
                               r.upper() ? known.least : known.most,
                               known.exact() ? ""
                               : r.upper()   ? " at least"
                                             : " at most",
                               r.text());
    }
    return "";
}

std::vector<PlacedKey> machine_row_keys() { return placed(kMachineRows, ""); }

}  // namespace dlasim
