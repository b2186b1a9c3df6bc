#include "app/commands/sweep_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <initializer_list>
#include <optional>
#include <thread>

#include "app/commands/onnx_run.h"
#include "app/interrupt.h"
#include "app/status.h"
#include "app/sweep/sweep_decision.h"
#include "app/sweep/sweep_folder.h"
#include "app/sweep/sweep_points.h"
#include "app/sweep/sweep_progress.h"
#include "app/sweep/sweep_row.h"
#include "app/sweep/sweep_search.h"
#include "app/sweep/sweep_slurm.h"
#include "base/error.h"
#include "base/files/console.h"
#include "base/files/input.h"
#include "sweep/answer.h"
#include "sweep/search.h"
#include "sweep/sweep_file.h"

namespace dlasim {
namespace {

/// Why the machine or the layer of a point cannot be; empty if they can.
std::string refusal(const Sweep& sweep, std::size_t index)
{
    try {
        PlanOptions options;
        options.outline = true;
        options.model_planner = plan_model;
        return with_planned(sweep_point(sweep, index), options, [](const auto&) { return std::string(); });
    } catch (const ConfigError& error) {
        return shortened(error.what());
    }
}

/// All points, those that cannot be with the rule that they break; none runs.
int list_points(const Sweep& sweep)
{
    Tally tally;
    for (std::size_t index = 0; index < sweep.points.size(); ++index) {
        const std::vector<Json> values = point_values(sweep, sweep.points[index]);
        std::string text;
        for (std::size_t a = 0; a < values.size(); ++a) text += fmt::format("  {}={}", sweep.axes[a].name, json_excerpt(values[a]));
        const std::string why = refusal(sweep, index);
        say("{:>4}{}{}\n", index, printable(text), why.empty() ? "" : "   rejected: " + printable(why));
        tally.add(why.empty() ? kDone : kBadInput);
        if (interrupted()) return kInterrupted;
    }
    say("{} points: {} can run, {} rejected\n", tally.ended, tally.results, tally.refused);
    return tally.status();
}

/// The table of the command line, or that of the sweep.
silicon::Technology technology_for(const SweepOptions& options, const Sweep& sweep)
{
    if (!options.technology.empty()) return silicon::read_technology(options.technology, "--technology", "");
    return silicon::read_technology(sweep.technology, at(sweep.file, "/technology"), sweep.folder);
}

std::vector<std::string> workload_names(const Sweep& sweep)
{
    std::vector<std::string> names;
    for (const SweepWorkload& workload : sweep.workloads) names.push_back(workload.name);
    return names;
}

/// All that decides the rows.
SweepIdentity identity(const SweepOptions& options, const Sweep& sweep)
{
    std::string text = options.timing_only ? "--timing-only" : "";
    std::error_code none;
    if (!options.technology.empty())
        text += " --technology " + (std::filesystem::exists(options.technology, none) ? read_text(options.technology) : options.technology);
    if (options.machine) text += fmt::format(" --machine {}", *options.machine);
    if (options.search != 0) text += fmt::format(" --search {} --seed {}", options.search, options.seed);
    if (options.search != 0)  // where it looks next
        for (const std::string& requirement : sweep.require) text += " require " + requirement;
    SweepIdentity identity = identity_of(sweep, text);
    // Which machines need not run follows from what is looked for.
    if (options.prove) identity.require += " --prove --best " + figure_named(options.best, "--best", workload_names(sweep));
    return identity;
}

/// What larger values of an axis give the machine.
SweptAxis::Gives gives(const SweepAxis& axis)
{
    using Gives = SweptAxis::Gives;
    if (axis.follows()) return Gives::Follows;
    const auto is_one_of = [&](std::initializer_list<const char*> names) {
        return std::any_of(names.begin(), names.end(), [&](const char* name) { return axis.name == name; });
    };
    if (axis.kind == SweepAxis::Kind::Hardware)
        return is_one_of({"clock_mhz", "memory.address_bits", "memory.secondary.bytes"}) ? Gives::Other : Gives::More;
    if (axis.kind != SweepAxis::Kind::MemoryOption) return Gives::Other;
    if (axis.name == "channels") return Gives::More;
    return axis.name.starts_with("timing.") || is_one_of({"latency", "interval", "write_latency", "command_interval", "write_interval"})
               ? Gives::Less
               : Gives::Other;
}

/// Its own, or of several workloads the frames a second that it requires: they share the machine.
double rate_of(const SweepWorkload& workload, const std::vector<Requirement>& require, bool several)
{
    if (workload.rate) return *workload.rate;
    double rate = 0;
    for (const Requirement& r : require)
        if (several && r.column == "frames_per_s" && !r.upper()) rate = std::max(rate, r.number);
    return rate;
}

MachineQuestion question_of(const Sweep& sweep, const silicon::Technology& technology)
{
    MachineQuestion question;
    for (const SweepAxis& axis : sweep.axes) question.axes.push_back(axis.name);
    if (!sweep.workloads.empty()) question.axes.pop_back();
    question.order = sweep.order == "priority"   ? FrameOrder::Priority
                     : sweep.order == "deadline" ? FrameOrder::Deadline
                                                 : FrameOrder::FirstCome;
    const std::vector<std::string> names = workload_names(sweep);
    for (std::size_t i = 0; i < sweep.workloads.size(); ++i) {
        const SweepWorkload& workload = sweep.workloads[i];
        const std::string where = at(sweep.file, fmt::format("/workloads/{}/require", i));
        AskedWorkload asked;
        asked.name = workload.name;
        asked.weight = workload.weight;
        asked.require = read_requirements(workload.require, where, names);
        asked.rate = rate_of(workload, asked.require, sweep.workloads.size() > 1);
        asked.deadline_ms = workload.deadline_ms;
        asked.priority = workload.priority;
        if (asked.deadline_ms && asked.rate <= 0)
            throw ConfigError(at(sweep.file, fmt::format("/workloads/{}/deadline_ms", i)),
                              "is of a workload without a rate, expected \"rate\" beside it");
        if (asked.deadline_ms) asked.deadline.push_back({workload.name + ".latency_ms", Requirement::Is::AtMost, *asked.deadline_ms});
        question.workloads.push_back(std::move(asked));
    }
    if (question.workloads.empty()) question.workloads.emplace_back();
    for (const std::string& text : sweep.require)
        for (Requirement& requirement : read_requirements(text, at(sweep.file, "/require"), names)) {
            // The power of a machine that several workloads share is that of the system at their rates.
            if (question.rated()) use_system_power(requirement, at(sweep.file, "/require"), names);
            question.require.push_back(std::move(requirement));
        }
    question.points = sweep.points;
    question.area_error = technology.area_error;
    question.power_error = technology.power_error;
    question.command = fmt::format("dlasim sweep {} --out verified --machine", shell_word(sweep.file));
    return question;
}

/// --sort, --best and --machine.
void say_answer(const SweepOptions& options, const Sweep& sweep, const silicon::Technology& technology, SweepStore& store)
{
    if (options.best.empty() && options.sort.empty() && (!options.machine || options.quiet)) return;
    const MachineQuestion question = question_of(sweep, technology);
    const std::vector<SweptMachine> machines = machines_of(store, question);
    if (!options.sort.empty()) say("{}", sorted_machines(machines, question, figure_named(options.sort, "--sort", workload_names(sweep))));
    if (!options.best.empty()) return say("{}", best_of(machines, question, figure_named(options.best, "--best", workload_names(sweep))));
    if (!options.machine || options.quiet) return;
    for (const SweptMachine& machine : machines)
        if (machine.whole) say("{}", machine_text(machine, question));
}

/// Of --machine: the points of that machine.
std::vector<bool> points_of_machine(const SweepOptions& options, const Sweep& sweep, const MachineQuestion& question)
{
    const std::size_t count = sweep.points.size();
    if (!options.machine) return std::vector<bool>(count, true);
    if (*options.machine >= count) throw ConfigError("--machine", fmt::format("found {}, expected a point of {}", *options.machine, count));
    std::vector<bool> own(count);
    const std::vector<std::size_t>& place = sweep.points[*options.machine];
    for (std::size_t i = 0; i < count; ++i)
        own[i] = std::equal(place.begin(), place.begin() + static_cast<std::ptrdiff_t>(question.axes.size()), sweep.points[i].begin());
    return own;
}

PageFacts page_facts(const SweepOptions& options, const Sweep& sweep, const silicon::Technology& technology)
{
    PageFacts facts{sweep.name.empty() ? std::filesystem::path(sweep.file).stem().string() : sweep.name,
                    {},
                    sweep.points.size(),
                    row_keys(),
                    {},
                    {},
                    {},
                    {},
                    {}};
    for (const SweepAxis& axis : sweep.axes) {
        facts.axes.push_back(axis.name);
        facts.swept.push_back({axis.name, gives(axis)});
    }
    facts.machines = question_of(sweep, technology);
    facts.machines.best = options.best.empty() ? default_best(facts.machines) : figure_named(options.best, "--best", workload_names(sweep));
    for (const PlacedKey& key : machine_row_keys()) facts.keys.push_back(key);
    facts.technology = silicon::technology_json(technology);
    facts.technology_name = technology.name;
    return facts;
}

/// The tables of all shards together. What is missing then can be run in the same folder by --resume.
int collect_points(const SweepOptions& options, const Sweep& sweep)
{
    const SweepIdentity all = identity(options, sweep);
    const silicon::Technology technology = technology_for(options, sweep);
    std::error_code none;
    for (const std::string& from : options.collect) {  // before anything is cleared
        claim_input_folder(from);
        if (std::filesystem::equivalent(from, options.out, none))
            throw ConfigError(from, "is the folder of --out, expected the folders of shards");
        SweepFolder::source(from, all);
    }
    SweepFolder folder(options.out, all, sweep.points.size(), {}, options.resume, options.restart);
    for (const std::string& from : options.collect) folder.take_from(from, all);
    Tally tally;
    for (const auto& [point, status] : folder.store().statuses()) tally.add(status);
    const std::string csv = folder.write_tables(page_facts(options, sweep, technology)).string();
    if (tally.ended < sweep.points.size())
        throw ConfigError(options.out,
                          fmt::format("has {} of {} points now, expected the folders of all shards; --resume runs the others here",
                                      tally.ended, sweep.points.size()));
    if (!options.quiet) say("{}; written {}\n", tally.text(sweep.points.size()), printable(csv));
    return tally.status();
}

int run_points(const SweepOptions& options, const Sweep& sweep)
{
    if (options.search != 0) require_search();
    const std::size_t count = sweep.points.size();
    const silicon::Technology technology = technology_for(options, sweep);
    const SweepShard shard{options.shard, options.shards};
    const MachineQuestion question = question_of(sweep, technology);
    const std::vector<bool> wanted = points_of_machine(options, sweep, question);
    const std::size_t own = options.machine ? static_cast<std::size_t>(std::ranges::count(wanted, true)) : shard.count(count);
    const SweepIdentity all_of_it = identity(options, sweep);
    SweepFolder folder(options.out, all_of_it, count, shard, options.resume, options.restart);
    if (options.slurm != 0) return slurm_points(options, sweep, all_of_it, folder, page_facts(options, sweep, technology));
    if (options.search != 0) {
        const int status = search_points(options, sweep, technology, folder, page_facts(options, sweep, technology));
        if (status != kInterrupted) say_answer(options, sweep, technology, folder.store());
        return status;
    }
    if (options.prove) {
        const int status = decide_points(options, sweep, technology, folder, page_facts(options, sweep, technology));
        if (status != kInterrupted) say_answer(options, sweep, technology, folder.store());
        return status;
    }
    SweepStore& store = folder.store();
    std::vector<bool> done(count);
    Tally tally;
    for (const auto& [point, status] : store.statuses()) {
        if (point >= count || !folder.keeps(point, status)) continue;
        done[point] = true;
        tally.add(status);
    }
    if (!options.quiet && tally.ended != 0) say("{} of {} points completed earlier\n", tally.ended, own);
    SweepProgress progress(own, tally.ended, options.quiet);
    PointRunner runner(options, sweep, technology, folder);
    if (!options.machine && (question.asked() || question.rated())) runner.skip_infeasible_machines(question);
    std::size_t at = 0;
    const auto next = [&]() -> std::optional<std::size_t> {
        while (at < count && (done[at] || !shard.has(at) || !wanted[at])) ++at;
        return at < count ? std::optional(at++) : std::nullopt;
    };
    const PageFacts facts = page_facts(options, sweep, technology);
    const bool all = runner.run(next, [&](const KeptPoint& kept) {
        tally.add(kept.status);
        progress.point(kept, tally.ended);
        if (tally.ended < own) folder.show_progress(facts);
    });
    if (!all) {
        const std::string csv = folder.write_tables(facts).string();
        say_error("dlasim: interrupted after {} of {} points{}; --resume continues\n", tally.ended, own,
                  csv.empty() ? "" : "; written " + printable(csv));
        return kInterrupted;
    }
    if (options.machine) store.end();
    const std::string csv = folder.write_tables(facts).string();
    if (!options.quiet) say("{}; written {}\n", tally.text(own), printable(csv));
    say_answer(options, sweep, technology, store);
    return tally.status();
}

}  // namespace

std::vector<PlacedKey> point_keys() { return row_keys(); }

int sweep_command(SweepOptions options)
{
    if (options.jobs == 0) options.jobs = options.slurm != 0 ? 1 : std::max(1U, std::thread::hardware_concurrency());
    const Sweep sweep = read_sweep_file(options.sweep);
    if (sweep.points.empty()) throw ConfigError(options.sweep, "every point is excluded, expected at least one");
    for (const SweepAxis& axis : sweep.axes)
        for (const PlacedKey& column : row_keys())
            if (axis.name == column.path)
                throw ConfigError(at(sweep.file, "/axes/" + axis.name), "is a figure of the table, expected an axis");
    if (!options.best.empty()) figure_named(options.best, "--best", workload_names(sweep));
    if (!options.sort.empty()) figure_named(options.sort, "--sort", workload_names(sweep));
    question_of(sweep, technology_for(options, sweep));  // what it requires is refused now
    watch_for_interrupt();
    if (options.list) return list_points(sweep);
    return options.collect.empty() ? run_points(options, sweep) : collect_points(options, sweep);
}

}  // namespace dlasim
