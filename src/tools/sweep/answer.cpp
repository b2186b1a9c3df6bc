#include "sweep/answer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <utility>

#include "base/files/columns.h"
#include "base/files/html_page.h"
#include "sweep/checked_figures.h"
#include "sweep/figures.h"

namespace dlasim {
namespace {

std::optional<double> mean_in(const SweptMachine& machine, const std::string& column) { return figure_of(machine.row, column, "mean."); }

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

/// A machine with one value more or less on an axis.
struct NeighbourStep {
    std::size_t axis = 0;
    const SweptMachine* other = nullptr;
    std::vector<std::pair<std::string, double>> changes;  // shares, by figure
};

std::vector<NeighbourStep> steps_from(const std::vector<SweptMachine>& machines, const SweptMachine& best, const MachineQuestion& question)
{
    std::vector<std::string> columns{"area_mm2", "frames_per_s", "power_mw", "total_uj"};
    if (question.rated()) columns.insert(columns.end(), {"load", "system_mw"});
    std::vector<NeighbourStep> steps;
    for (std::size_t a = 0; a < best.place.size(); ++a)
        for (const int step : {1, -1}) {
            std::vector<std::size_t> place = best.place;
            if (step < 0 && place[a] == 0) continue;
            place[a] += static_cast<std::size_t>(step);
            const auto other = std::ranges::find(machines, place, &SweptMachine::place);
            if (other == machines.end()) continue;
            steps.push_back({a, &*other, {}});
            for (const std::string& column : columns) {
                const auto was = mean_in(best, column), is = mean_in(*other, column);
                if (was && is && *was > 0) steps.back().changes.emplace_back(column, *is / *was - 1);
            }
        }
    return steps;
}

std::string steps_of(const std::vector<SweptMachine>& machines, const SweptMachine& best, const MachineQuestion& question)
{
    std::string text;
    for (const NeighbourStep& step : steps_from(machines, best, question)) {
        text += fmt::format("  {} {}:", question.axes[step.axis], step.other->row[question.axes[step.axis]].dump());
        for (const auto& [column, share] : step.changes) text += fmt::format(" {} {:+.1f} %", column, 100 * share);
        text += step.other->meets ? "\n" : fmt::format(", but {}\n", step.other->row["fails"].get<std::string>());
    }
    return text + ends_of(machines, best, question);
}

std::string unmeasured_text(const SweptMachine& machine)
{
    return machine.row.value("measured", nlohmann::ordered_json()) == false ? measured_words(false).sentence + "\n" : "";
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
            latencies += fmt::format("{}{} {:.3f} ms", latencies.empty() ? "; worst-case latency " : ", ", workload.name, *ms);
    }
    const auto figure = [&](const char* name) { return figure_of(machine.row, name).value_or(0); };
    return fmt::format("With {} together: load {:.1f} %, system {:.4g} mW, {:.4g} mW of it the memory, {:.4g} uJ a frame{}.\n", rates,
                       100 * figure("load"), figure("system_mw"), figure("memory_mw"), figure("uj_per_frame"), latencies);
}

/// The machine that misses least of what is required, as a share; none where no machine has a result of every workload.
const SweptMachine* nearest_of(const std::vector<SweptMachine>& machines, const MachineQuestion& question)
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
    return nearest;
}

std::string nearest_miss_text(const std::vector<SweptMachine>& machines, const MachineQuestion& question)
{
    const SweptMachine* nearest = nearest_of(machines, question);
    if (!nearest)
        return fmt::format("None of {} machines has a result of every workload{}.\n", machines.size(),
                           machines.empty() ? "" : "; the first: " + machines.front().row["fails"].get<std::string>());
    return fmt::format("None of {} machines meets everything; the nearest is {}: {}.\n", machines.size(), described(*nearest, question),
                       nearest->row["fails"].get<std::string>());
}

/// Machines that have a figure, the best first; of equal ones that with less energy.
std::vector<const SweptMachine*> in_order(const std::vector<SweptMachine>& machines, const std::string& column)
{
    std::vector<const SweptMachine*> sorted;
    for (const SweptMachine& machine : machines)
        if (mean_in(machine, column)) sorted.push_back(&machine);
    const bool more = more_is_better(column);
    std::ranges::stable_sort(sorted, [&](const SweptMachine* a, const SweptMachine* b) {
        const double x = *mean_in(*a, column), y = *mean_in(*b, column);
        if (x != y) return more ? x > y : x < y;
        return mean_in(*a, "total_uj").value_or(0) < mean_in(*b, "total_uj").value_or(0);
    });
    return sorted;
}

/// Those that meet everything.
std::vector<const SweptMachine*> meeting_of(const std::vector<SweptMachine>& machines, const std::string& column)
{
    std::vector<const SweptMachine*> meeting = in_order(machines, column);
    std::erase_if(meeting, [](const SweptMachine* machine) { return !machine->meets; });
    return meeting;
}

std::string verdict(const std::vector<SweptMachine>& machines, const std::vector<const SweptMachine*>& meeting,
                    const MachineQuestion& question, const std::string& column)
{
    const SweptMachine& best = *meeting.front();
    const double error = question.error_of(column);
    const auto spared =
        std::ranges::count_if(machines, [](const SweptMachine& m) { return m.row.value("fails", "").starts_with(kCannotWin); });
    // Of machines that cannot be better nobody knows whether they meet everything.
    const std::string of = spared == 0 ? fmt::format("{} of {} machines", meeting.size(), machines.size())
                                       : fmt::format("those of {} machines", machines.size());
    return fmt::format("{} has the {} {} of {} that meet everything: {:.4g}{}{}", described(best, question),
                       more_is_better(column) ? "most" : "least", column, of, *mean_in(best, column),
                       error > 0 ? fmt::format(" +- {:.0f} %", 100 * error) : "",
                       spared == 0 ? "" : fmt::format("; bounds show that {} of them are no better", spared));
}

std::vector<CheckedFigure> tightest_first(const SweptMachine& machine, const MachineQuestion& question)
{
    std::vector<CheckedFigure> checks = checked(machine, question);
    std::ranges::stable_sort(checks, {}, &CheckedFigure::margin);
    return checks;
}

/// The first second of the machine's frames, or as much of it as a drawing can show: [workload, frame, start, end in microseconds].
void add_frames(nlohmann::ordered_json& answer, const SweptMachine& machine, const MachineQuestion& question)
{
    constexpr double kSecond = 1e6;
    constexpr std::size_t kMost = 2000;  // intervals of the drawing
    nlohmann::ordered_json& list = answer["frames"] = nlohmann::ordered_json::array();
    answer["frames_us"] = kSecond;
    std::vector<FrameInterval> intervals;
    if (machine.works.empty() || !simulate_frames(machine.works, question.order, &intervals)) return;
    for (const FrameInterval& interval : intervals) {
        if (interval.start_us >= kSecond) return;
        if (list.size() == kMost) {
            answer["frames_us"] = shown(interval.start_us);
            return;
        }
        list.push_back({interval.work, interval.frame, shown(interval.start_us), shown(interval.end_us)});
    }
}

}  // namespace

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
    const std::vector<CheckedFigure> checks = tightest_first(machine, question);
    for (const CheckedFigure& check : checks) text += (&check == &checks.front() ? ": " : "; ") + check.text();
    return text + ".\n" + shared_text(machine, question) + without_host(machine, question) + unmeasured_text(machine);
}

std::string best_of(const std::vector<SweptMachine>& machines, const MachineQuestion& question, const std::string& column)
{
    const std::vector<const SweptMachine*> meeting = meeting_of(machines, column);
    if (meeting.empty()) return nearest_miss_text(machines, question);
    const SweptMachine& best = *meeting.front();
    const double error = question.error_of(column), value = *mean_in(best, column);
    std::string text = verdict(machines, meeting, question, column);
    const std::vector<CheckedFigure> checks = tightest_first(best, question);
    for (std::size_t i = 0; i < checks.size(); ++i) text += (i == 0 ? "; tightest: " : "; ") + checks[i].text();
    text += ".\n";
    if (meeting.size() > 1) {
        const double second = *mean_in(*meeting[1], column);
        text += fmt::format("The runner-up is {} with {:.4g}", described(*meeting[1], question), second);
        if (second == value) text += ", and takes more energy";
        else if (error > 0 && std::abs(second / value - 1) < error)
            text += ": within the error of the model, so either may be the better one";
        text += ".\n";
        const auto near =
            std::ranges::count_if(meeting, [&](const SweptMachine* m) { return std::abs(*mean_in(*m, column) / value - 1) < error; });
        if (near > 2) text += fmt::format("{} machines are within that error of the first.\n", near - 1);
    }
    text += shared_text(best, question) + without_host(best, question) + unmeasured_text(best);
    const std::string steps = steps_of(machines, best, question);
    if (!steps.empty()) text += "One step on an axis:\n" + steps;
    return text + fmt::format("To check it with values: {} {}\n", question.command, best.point);
}

std::string sorted_machines(const std::vector<SweptMachine>& machines, const MachineQuestion& question, const std::string& column)
{
    constexpr std::size_t kMost = 20;
    const std::vector<const SweptMachine*> sorted = in_order(machines, column);
    std::string text = fmt::format("{} of {} machines by {}{}\n", sorted.size(), machines.size(), column,
                                   sorted.size() > kMost ? fmt::format(", the first {}", kMost) : "");
    for (const SweptMachine* machine : std::span(sorted).first(std::min(sorted.size(), kMost))) {
        const std::string fails = machine->row.value("fails", "");
        text += fmt::format("  {:>10.4g}  {}\n", *mean_in(*machine, column), cut_to(described(*machine, question), 66));
        if (!fails.empty()) text += folded("              misses " + fails, 14);
    }
    return text;
}

std::string default_best(const MachineQuestion& question) { return question.rated() ? "system_mw" : "area_mm2"; }

nlohmann::ordered_json answer_json(const std::vector<SweptMachine>& machines, const MachineQuestion& question)
{
    const std::vector<const SweptMachine*> meeting = meeting_of(machines, question.best);
    const SweptMachine* machine = meeting.empty() ? nearest_of(machines, question) : meeting.front();
    if (!machine) return nullptr;
    nlohmann::ordered_json answer{
        {"machine", machine->point},
        {"meets", machine->meets},
        {"best", question.best},
        {"name", described(*machine, question)},
        {"verdict", meeting.empty() ? nearest_miss_text(machines, question) : verdict(machines, meeting, question, question.best)},
        {"shared", shared_text(*machine, question) + without_host(*machine, question) + unmeasured_text(*machine)},
        {"untried", ends_of(machines, *machine, question)},
        {"command", fmt::format("{} {}", question.command, machine->point)}};
    nlohmann::ordered_json& limits = answer["limits"] = nlohmann::ordered_json::array();
    for (const CheckedFigure& check : tightest_first(*machine, question))
        limits.push_back({{"text", check.requirement->condition ? check.text() : ""},
                          {"column", check.column()},
                          {"sign", check.requirement->sign()},
                          {"limit", check.requirement->number},
                          {"value", check.value ? nlohmann::ordered_json(shown(*check.value)) : nlohmann::ordered_json()},
                          {"margin", check.value ? nlohmann::ordered_json(shown(check.margin())) : nlohmann::ordered_json()},
                          {"met", check.met()},
                          {"error", check.error}});
    nlohmann::ordered_json& steps = answer["steps"] = nlohmann::ordered_json::array();
    for (const NeighbourStep& step : steps_from(machines, *machine, question)) {
        nlohmann::ordered_json changes = nlohmann::ordered_json::object();
        for (const auto& [column, share] : step.changes) changes[column] = shown(share);
        const std::string& axis = question.axes[step.axis];
        steps.push_back({{"axis", axis},
                         {"from", machine->row[axis]},
                         {"to", step.other->row[axis]},
                         {"machine", step.other->point},
                         {"changes", changes},
                         {"fails", step.other->row["fails"]}});
    }
    add_frames(answer, *machine, question);
    return answer;
}

}  // namespace dlasim
