#include "sweep/shared_machine.h"

#include <algorithm>
#include <sstream>

#include "sweep/figures.h"
#include "sweep/schedule.h"

namespace dlasim {
namespace {

/// Cycles of the steps, as the column step_cycles has them, in microseconds; with what the CPU does for a frame as the last one.
std::vector<double> step_times(const nlohmann::ordered_json& row)
{
    const auto cycles = figure_of(row, "cycles"), time_us = figure_of(row, "time_us");
    if (!cycles || !time_us || *cycles <= 0) return {};
    std::vector<double> times;
    if (const auto steps = row.find("step_cycles"); steps != row.end() && steps->is_string()) {
        std::istringstream text(steps->get<std::string>());
        for (double step = 0; text >> step;) times.push_back(step * *time_us / *cycles);
    }
    if (times.empty()) times.push_back(*time_us);
    if (const auto host = figure_of(row, "host_us"); host && *host > 0) times.push_back(*host);
    return times;
}

struct Powers {
    double active_mw = 0, active_memory_mw = 0, idle_mw = 0, idle_memory_mw = 0, frames = 0;
};

std::optional<Powers> powers_of(const std::vector<const nlohmann::ordered_json*>& rows, const MachineQuestion& question)
{
    Powers powers;
    for (std::size_t w = 0; w < rows.size(); ++w) {
        const double rate = question.workloads[w].rate;
        if (rate <= 0) continue;
        const auto all = figure_of(*rows[w], "total_uj"), memory = figure_of(*rows[w], "memory_uj");
        const auto idle = figure_of(*rows[w], "idle_mw"), idle_memory = figure_of(*rows[w], "memory_idle_mw");
        if (!all || !memory || !idle || !idle_memory) return std::nullopt;
        powers.active_mw += 1e-3 * rate * *all;
        powers.active_memory_mw += 1e-3 * rate * *memory;
        powers.idle_mw = *idle;
        // Refresh and standby are of the device; runs that saw a cheaper state know it better.
        powers.idle_memory_mw = powers.frames > 0 ? std::min(powers.idle_memory_mw, *idle_memory) : *idle_memory;
        powers.frames += rate;
    }
    return powers;
}

}  // namespace

std::vector<PeriodicWork> add_shared_figures(nlohmann::ordered_json& row, const std::vector<const nlohmann::ordered_json*>& rows,
                                             const MachineQuestion& question)
{
    std::vector<PeriodicWork> works;
    bool complete = true;
    for (std::size_t w = 0; w < rows.size(); ++w) {
        const AskedWorkload& asked = question.workloads[w];
        const double deadline_us = asked.deadline_ms ? 1e3 * *asked.deadline_ms : asked.rate > 0 ? 1e6 / asked.rate : 0;
        works.push_back({asked.rate, deadline_us, asked.priority, step_times(*rows[w])});
        complete &= asked.rate <= 0 || !works.back().step_us.empty();
    }
    const double load = load_of(works);
    const std::optional<Powers> powers = complete ? powers_of(rows, question) : std::nullopt;
    const auto number = [](bool known, double value) { return known ? nlohmann::ordered_json(shown(value)) : nlohmann::ordered_json(); };
    const double idle = std::max(0.0, 1 - load);
    const Powers p = powers.value_or(Powers{});
    const double system = p.active_mw + idle * (p.idle_mw + p.idle_memory_mw);
    row["load"] = number(complete, load);
    row["system_mw"] = number(powers.has_value(), system);
    row["memory_mw"] = number(powers.has_value(), p.active_memory_mw + idle * p.idle_memory_mw);
    row["uj_per_frame"] = number(powers.has_value() && p.frames > 0, 1e3 * system / std::max(p.frames, 1e-9));
    const auto latencies = complete ? simulate_frames(works, question.order) : std::nullopt;
    for (std::size_t w = 0; w < rows.size(); ++w)
        if (works[w].rate > 0)
            row[question.workloads[w].name + ".latency_ms"] =
                number(latencies.has_value(), latencies ? 1e-3 * (*latencies)[w].worst_us : 0);
    return works;
}

const std::vector<Requirement>& load_requirement()
{
    static const std::vector<Requirement> kLoad{{"load", Requirement::Is::AtMost, 1}};
    return kLoad;
}

}  // namespace dlasim
