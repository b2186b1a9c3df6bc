#include "sweep/machines.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

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
    KeyRow{"load", "number or null", "", "share of the time in which the machine works: rate x time of a frame, over all workloads",
           "workloads with a rate"},
    KeyRow{"system_mw", "number or null", "mW",
           "accelerator and memory at the rates: energy of the frames, and for the rest of the time idle_mw and memory_idle_mw",
           "workloads with a rate"},
    KeyRow{"memory_mw", "number or null", "mW", "of these, the memory", "workloads with a rate"},
    KeyRow{"uj_per_frame", "number or null", "uJ", "system_mw over the frames a second of all workloads", "workloads with a rate"},
    KeyRow{"*.latency_ms", "number or null", "ms",
           "of a workload: from the release of a frame to its end, at worst in a hyperperiod of all; null where the load is above 1",
           "workloads with a rate"},
    KeyRow{"*", "any", "",
           "a column for each axis but that of the workloads; each figure of each workload, resnet50.frames_per_s; mean.power_mw and the "
           "others: of a "
           "frame of the workloads by weight, or over their time; worst.frames_per_s and the others: the least where more is better, else "
           "the most"},
    KeyRow{"meets", "flag or null", "", "every requirement is met; null where a workload has no result"},
    KeyRow{"fails", "text", "", "requirements that are not met, with what was found; why it need not run or cannot be"},
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

/// A requirement of a workload, what was found, and how far it is met.
struct CheckedFigure {
    std::string workload;
    const Requirement* requirement;
    std::optional<double> value;
    double error = 0;  // share by which the value may be wrong
    bool met() const { return value && requirement->met(*value); }
    double margin() const { return value ? requirement->margin(*value) : -std::numeric_limits<double>::infinity(); }
    std::string text() const
    {
        const std::string of = workload.empty() ? "" : workload + ": ";
        if (!value) return fmt::format("{}{} is not known", of, requirement->column);
        const double share = std::abs(100 * margin());
        return fmt::format("{}{} {:.4g}, {:.3g} % {} {:g}{}", of, requirement->column, *value, share,
                           (margin() >= 0) == requirement->upper() ? "below" : "above", requirement->number,
                           std::abs(margin()) < error ? fmt::format(", inside the model's error of {:.0f} %", 100 * error) : "");
    }
};

std::vector<CheckedFigure> checked(const SweptMachine& machine, const MachineQuestion& question)
{
    std::vector<CheckedFigure> list;
    for (const AskedWorkload& workload : question.workloads) {
        const std::string prefix = workload.name.empty() ? "" : workload.name + ".";
        const auto look = [&](const Requirement& r) {
            // Area and what else a machine has once is checked once.
            const bool once = r.column == "area_mm2" || question.is_of_machine(r.column);
            if (once && &workload != &question.workloads.front()) return;
            list.push_back(
                {once ? "" : workload.name, &r, figure_of(machine.row, once ? r.column : prefix + r.column), question.error_of(r.column)});
        };
        for (const Requirement& r : question.require) look(r);
        if (question.rated())
            for (const Requirement& r : load_requirement()) look(r);
        for (const Requirement& r : workload.deadline) look(r);
        for (const Requirement& r : workload.require) look(r);
    }
    return list;
}

void fill_row(SweptMachine& machine, const std::vector<const nlohmann::ordered_json*>& rows, const MachineQuestion& question)
{
    nlohmann::ordered_json& row = machine.row;
    row["machine"] = machine.point;
    for (const std::string& axis : question.axes) row[axis] = rows.front()->value(axis, nlohmann::ordered_json());
    row["area_mm2"] = number(figure_of(*rows.front(), "area_mm2"));
    if (question.rated()) add_shared_figures(row, rows, question);
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

std::optional<double> mean_in(const SweptMachine& machine, const std::string& column)
{
    return figure_of(machine.row, column == "area_mm2" || machine.row.contains(column) ? column : "mean." + column);
}

std::string described(const SweptMachine& machine, const MachineQuestion& question)
{
    std::string text;
    for (const std::string& axis : question.axes) {
        const nlohmann::ordered_json& value = machine.row[axis];
        text += fmt::format("{}{} {}", text.empty() ? "" : ", ", axis, value.is_string() ? value.get<std::string>() : value.dump());
    }
    return text;
}

/// Axes on which no smaller value was tried than the best machine has.
std::string ends_of(const std::vector<SweptMachine>& machines, const SweptMachine& best, const MachineQuestion& question)
{
    std::string text;
    for (const std::string& axis : question.axes) {
        const std::optional<double> own = figure_of(best.row, axis);
        bool smaller = false, larger = false;
        for (const SweptMachine& machine : machines) {
            const std::optional<double> other = figure_of(machine.row, axis);
            smaller |= own && other && *other < *own;
            larger |= own && other && *other > *own;
        }
        if (larger && !smaller) text += fmt::format("{}{}", text.empty() ? "" : ", ", axis);
    }
    return text.empty() ? "" : fmt::format("No smaller value was tried of {}.\n", text);
}

/// What a machine with one value more or less on an axis has otherwise.
std::string steps_of(const std::vector<SweptMachine>& machines, const SweptMachine& best, const MachineQuestion& question)
{
    std::string text;
    for (std::size_t a = 0; a < best.place.size(); ++a)
        for (const int step : {1, -1}) {
            std::vector<std::size_t> place = best.place;
            if (step < 0 && place[a] == 0) continue;
            place[a] += static_cast<std::size_t>(step);
            const auto other = std::ranges::find(machines, place, &SweptMachine::place);
            if (other == machines.end()) continue;
            text += fmt::format("  {} {}:", question.axes[a], other->row[question.axes[a]].dump());
            for (const char* column : {"area_mm2", "frames_per_s", "power_mw", "total_uj"}) {
                const auto was = mean_in(best, column), is = mean_in(*other, column);
                if (was && is && *was > 0) text += fmt::format(" {} {:+.1f} %", column, 100 * (*is / *was - 1));
            }
            text += other->meets ? "\n" : fmt::format(", but {}\n", other->row["fails"].get<std::string>());
        }
    return text + ends_of(machines, best, question);
}

/// Rates without what the host does.
std::string without_host(const SweptMachine& machine, const MachineQuestion& question)
{
    std::string names;
    for (const AskedWorkload& workload : question.workloads) {
        const std::string column = (workload.name.empty() ? "" : workload.name + ".") + "host_us";
        if (machine.row.contains(column) && machine.row[column].is_null() && machine.whole)
            names += (names.empty() ? "" : ", ") + (workload.name.empty() ? "the network" : workload.name);
    }
    return names.empty() ? "" : fmt::format("The frame rate of {} excludes CPU fallback; set base/host_ns to include it.\n", names);
}

/// What the machine is like with all workloads at their rates.
std::string shared_text(const SweptMachine& machine, const MachineQuestion& question)
{
    if (!question.rated()) return "";
    std::string rates, latencies;
    for (const AskedWorkload& workload : question.workloads) {
        if (workload.rate <= 0) continue;
        rates += fmt::format("{}{} at {:g} frames/s", rates.empty() ? "" : ", ", workload.name, workload.rate);
        if (const auto ms = figure_of(machine.row, workload.name + ".latency_ms"))
            latencies += fmt::format("{}{} {:.3f} ms", latencies.empty() ? "; latency at worst " : ", ", workload.name, *ms);
    }
    const auto figure = [&](const char* name) { return figure_of(machine.row, name).value_or(0); };
    return fmt::format("With {} together: load {:.1f} %, system {:.4g} mW, {:.4g} mW of it the memory, {:.4g} uJ a frame{}.\n", rates,
                       100 * figure("load"), figure("system_mw"), figure("memory_mw"), figure("uj_per_frame"), latencies);
}

std::string none_meets(const std::vector<SweptMachine>& machines, const MachineQuestion& question)
{
    const SweptMachine* nearest = nullptr;
    double least = -std::numeric_limits<double>::infinity();
    for (const SweptMachine& machine : machines) {
        if (!machine.whole) continue;
        double margin = 0;
        for (const CheckedFigure& check : checked(machine, question)) margin = std::min(margin, check.margin());
        if (nearest && margin <= least) continue;
        least = margin;
        nearest = &machine;
    }
    if (!nearest)
        return fmt::format("None of {} machines has a result of every workload{}.\n", machines.size(),
                           machines.empty() ? "" : "; the first: " + machines.front().row["fails"].get<std::string>());
    return fmt::format("None of {} machines meets everything; nearest comes {}: {}.\n", machines.size(), described(*nearest, question),
                       nearest->row["fails"].get<std::string>());
}

}  // namespace

double MachineQuestion::error_of(const std::string& column) const
{
    if (column == "area_mm2") return area_error;
    return column == "energy_uj" || column == "power_mw" || column == "system_mw" || column == "uj_per_frame" ? power_error : 0;
}

bool MachineQuestion::rated() const
{
    return std::ranges::any_of(workloads, [](const AskedWorkload& w) { return w.rate > 0; });
}

bool MachineQuestion::is_of_machine(const std::string& column) const
{
    return dlasim::is_of_machine(column) ||
           std::ranges::any_of(workloads, [&](const AskedWorkload& w) { return !w.name.empty() && column.starts_with(w.name + "."); });
}

bool MachineQuestion::asked() const
{
    return workloads.size() > 1 || !require.empty() ||
           std::ranges::any_of(workloads, [](const AskedWorkload& w) { return !w.name.empty() || !w.require.empty(); });
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
        SweptMachine machine{place, works.begin()->second, nlohmann::ordered_json::object(), true, false};
        std::vector<const nlohmann::ordered_json*> of;
        bool ran = false;
        for (std::size_t w = 0; w < question.workloads.size(); ++w) {
            const auto point = works.find(w);
            const auto row = point == works.end() ? rows.end() : rows.find(point->second);
            ran |= row != rows.end();
            of.push_back(row == rows.end() ? &kNone : &row->second);
            machine.whole &= figure_of(*of.back(), "cycles").has_value();
        }
        if (!ran) continue;  // of a search
        fill_row(machine, of, question);
        machines.push_back(std::move(machine));
    }
    return machines;
}

std::vector<PlacedKey> machine_row_keys()
{
    std::vector<PlacedKey> keys;
    place_keys(keys, kMachineRows);
    return keys;
}

std::string machine_text(const SweptMachine& machine, const MachineQuestion& question)
{
    std::string text = fmt::format("{}, {:.4g} mm2 +- {:.0f} %\n", described(machine, question),
                                   figure_of(machine.row, "area_mm2").value_or(0), 100 * question.area_error);
    for (const AskedWorkload& workload : question.workloads) {
        const std::string prefix = workload.name.empty() ? "" : workload.name + ".";
        const auto figure = [&](const char* column) { return figure_of(machine.row, prefix + column).value_or(0); };
        text +=
            fmt::format("  {:<24} {:>12.0f} cycles {:>10.3f} ms {:>10.2f} frames/s {:>8.1f} mW {:>10.1f} uJ with memory\n", workload.name,
                        figure("cycles"), 1e-3 * figure("time_us"), figure("frames_per_s"), figure("power_mw"), figure("total_uj"));
    }
    text += machine.meets ? "It meets everything" : "It does not meet everything";
    std::vector<CheckedFigure> checks = checked(machine, question);
    std::ranges::stable_sort(checks, {}, &CheckedFigure::margin);
    for (const CheckedFigure& check : checks) text += (&check == &checks.front() ? ": " : "; ") + check.text();
    return text + ".\n" + shared_text(machine, question) + without_host(machine, question);
}

std::string best_of(const std::vector<SweptMachine>& machines, const MachineQuestion& question, const std::string& column)
{
    std::vector<const SweptMachine*> meeting;
    for (const SweptMachine& machine : machines)
        if (machine.meets && mean_in(machine, column)) meeting.push_back(&machine);
    if (meeting.empty()) return none_meets(machines, question);
    const bool more = more_is_better(column);
    std::ranges::stable_sort(meeting, [&](const SweptMachine* a, const SweptMachine* b) {
        const double x = *mean_in(*a, column), y = *mean_in(*b, column);
        if (x != y) return more ? x > y : x < y;
        return mean_in(*a, "total_uj").value_or(0) < mean_in(*b, "total_uj").value_or(0);
    });
    const SweptMachine& best = *meeting.front();
    const double error = question.error_of(column), value = *mean_in(best, column);
    std::string text = fmt::format("{} has the {} {} of {} of {} machines that meet everything: {:.4g}{}", described(best, question),
                                   more ? "most" : "least", column, meeting.size(), machines.size(), value,
                                   error > 0 ? fmt::format(" +- {:.0f} %", 100 * error) : "");
    std::vector<CheckedFigure> checks = checked(best, question);
    std::ranges::stable_sort(checks, {}, &CheckedFigure::margin);
    for (std::size_t i = 0; i < checks.size(); ++i) text += (i == 0 ? "; tightest: " : "; ") + checks[i].text();
    text += ".\n";
    if (meeting.size() > 1) {
        const double second = *mean_in(*meeting[1], column);
        text += fmt::format("Next comes {} with {:.4g}", described(*meeting[1], question), second);
        if (second == value) text += ", and takes more energy";
        else if (error > 0 && std::abs(second / value - 1) < error)
            text += ": within the error of the model, so either may be the better one";
        text += ".\n";
        const auto near =
            std::ranges::count_if(meeting, [&](const SweptMachine* m) { return std::abs(*mean_in(*m, column) / value - 1) < error; });
        if (near > 2) text += fmt::format("{} machines lie within that error of the first.\n", near - 1);
    }
    text += shared_text(best, question) + without_host(best, question);
    const std::string steps = steps_of(machines, best, question);
    if (!steps.empty()) text += "One step on an axis:\n" + steps;
    return text + fmt::format("To see it with its values: {} {}\n", question.command, best.point);
}

}  // namespace dlasim
