#include "app/execution.h"

#include <fmt/format.h>

#include "app/file_names.h"
#include "app/interrupt.h"
#include "app/progress.h"
#include "app/status.h"
#include "base/error.h"
#include "base/files/about/version.h"
#include "base/files/console.h"
#include "base/files/printable.h"
#include "explain/explanation.h"
#include "lint/lint.h"
#include "replay/hazard_report.h"
#include "replay/rule_report.h"
#include "replay/simulation_time.h"
#include "report/neighbour_tables.h"
#include "report/run_page.h"
#include "report/timeline/accesses.h"
#include "report/timeline/pipeline.h"
#include "report/timeline/power_profile.h"
#include "report/timeline/waves.h"
#include "silicon/silicon_keys.h"
#include "sweep/sweep_file.h"

namespace dlasim {
namespace {

/// What the table says of area, energy and power; nothing where nothing is known.
std::string silicon_line(const OrderedJson& result)
{
    if (!result["energy_uj"].is_number()) return "";
    std::string text = fmt::format("  silicon      {:.3g} mm2, {:.4g} uJ, {:.4g} mW; memory {:.4g} uJ ({})",
                                   result["area_mm2"].get<double>(), result["energy_uj"].get<double>(), result["power_mw"].get<double>(),
                                   result["memory_uj"].get<double>(), printable(result["energy"]["technology"].get<std::string>()));
    if (result.contains("power") && result["power"]["peak_mw"].is_number())
        text +=
            fmt::format("\n  peak         {:.4g} mW from cycle {} on, in windows of {} cycles", result["power"]["peak_mw"].get<double>(),
                        result["power"]["peak_cycle"].get<Cycle>(), result["power"]["window_cycles"].get<Cycle>());
    return text + "\n";
}

/// Which program made the result, and how it was called. The command names folders, so a reproducible result goes without it.
void add_made_by(OrderedJson& result, const RunOptions& options)
{
    result["made_by"] = {{"version", version()}};
    if (!options.reproducible && !options.command.empty()) result["made_by"]["command"] = options.command;
}

/// What software has played.
const Program& played(const Workload& workload, const RunResult& run) { return workload.source ? run.played : workload.program; }

/// Of a machine that hangs: the programming rules that the program breaks, which are the likely reason.
std::string broken_rules(const Workload& workload, const RunResult& run)
{
    const RuleReport report = lint::check(workload.hardware, played(workload, run), run);
    return report.found == 0 ? "" : rules_text(report);
}

/// As `dlasim explain --json` has it; null where causes were not looked for.
OrderedJson explanation_of(const OrderedJson& result)
{
    if (!result.contains("causes") || !result["causes"].is_object()) return nullptr;
    return explanation_json(explain(Json::parse(result.dump()), "result.json"));
}

std::string events_text(const RunResult& run, const Workload& workload, const WrittenRegions& regions, std::size_t runs)
{
    return json_file_text(events_json(run, regions.recording, regions.contents, workload.hardware.memory.has_secondary, runs), 1);
}

RunResult simulate_shown(const Workload& workload, Host& host, const RunOptions& options, PowerProfile& profile, OverTime& over_time)
{
    Progress progress(workload.name, workload.work.unit, workload.work.amount, workload.work.steps, options.quiet);
    SimulateOptions how;
    how.timing_only = !options.values;
    how.stepping = options.stepping;
    how.check_dram = options.check_dram;
    const bool sampled = !options.timeline.empty() || !options.html.empty() || options.page;
    how.events = options.records_events || sampled || !options.events.empty() || !options.waves.empty() || !options.pipeline.empty();
    how.all_commands = !options.trace.empty();
    how.accesses = !options.accesses.empty();
    if (sampled) how.even_samples = OverTime::kMaxParts;
    how.operations = options.operations;
    how.hazards = options.hazards;
    how.sample_every = options.power_window;
    how.on_sample = [&](const Sample& sample) {
        profile.sample(sample.cycle, sample.units, sample.dram_pj);
        if (how.even_samples != 0) over_time.sample(sample);
    };
    how.causes = options.causes;
    how.sum_up_every = options.sum_up_every;
    how.keep_going = [&](Cycle now, std::uint64_t done, std::size_t stamps) {
        progress.show(now, done, stamps);
        return !interrupted();
    };
    return simulate(workload, host, how);
}

}  // namespace

RunFiles::RunFiles(const RunOptions& options)
{
    if (!options.out.empty()) folder.emplace(options.out, options.sync);
    if (options.report) report = &folder->file(kReportFile);
    if (options.page) html = &folder->file(kPageFile);
    if (!options.scale_sim) return;
    compute = &folder->file(kComputeReport);
    bandwidth = &folder->file(kBandwidthReport);
}

OutputFile* RunFiles::open_record(const std::string& file)
{
    if (file.empty()) return nullptr;
    return folder ? &folder->elsewhere(file) : &records_.emplace_back(file);
}

void RunFiles::open_records(const RunOptions& options)
{
    events = open_record(options.events);
    if (!options.timeline.empty()) require_timelines();
    timeline = open_record(options.timeline);
    waves = open_record(options.waves);
    if (!options.html.empty()) html = open_record(options.html);
    pipeline = open_record(options.pipeline);
    trace = open_record(options.trace);
    accesses = open_record(options.accesses);
    diff = open_record(options.diff);
    if (waves) waves_layout = open_record(options.waves + ".gtkw");
}

void RunFiles::commit_records()
{
    for (OutputFile& record : records_) record.commit();
}

std::shared_ptr<const silicon::Technology> technology_of(const RunOptions& options)
{
    if (!options.technology.empty() || !options.point)
        return std::make_shared<const silicon::Technology>(
            silicon::read_technology(options.technology.empty() ? silicon::kDefaultTechnology : options.technology, "--technology", ""));
    const Sweep sweep = read_sweep_file(options.file);
    return std::make_shared<const silicon::Technology>(
        silicon::read_technology(sweep.technology, at(options.file, "/technology"), sweep.folder));
}

int execute(const Workload& workload, Host& host, const RunOptions& options, RunFiles& files,
            const std::function<CommandReport(RunResult& run)>& report, const std::function<WrittenRegions(const RunResult& run)>& left)
{
    files.open_records(options);
    const auto table = options.silicon ? options.silicon : technology_of(options);
    const silicon::Technology& technology = *table;
    PowerProfile profile(technology, workload.hardware, options.power_window);
    OverTime over_time;
    RunResult run = simulate_shown(workload, host, options, profile, over_time);
    if (run.interrupted || interrupted()) {
        say_error("dlasim: interrupted in cycle {}, nothing written\n", run.end);
        return kInterrupted;
    }
    if (run.hung) {
        const WrittenRegions regions = left ? left(run) : WrittenRegions{};
        if (files.events) files.events->commit(events_text(run, workload, regions, kRecordedRuns));
        throw MachineError(fmt::format("{}: the machine hangs after {} cycles\n{}{}", printable(workload.name), run.end, run.diagnosis,
                                       broken_rules(workload, run)));
    }
    if (run.hazards) run.hazards->rules = lint::check(workload.hardware, played(workload, run), run);
    if (options.reproducible) run.wall_seconds = 0;
    CommandReport said = report(run);
    const std::optional<silicon::MeasuredRun> spent = silicon::add_silicon(said.result, technology);
    if (spent) profile.add_to(said.result, *spent);
    if (options.reproducible)
        for (const KeyRow& key : {kWallSecondsKey, kCyclesPerSecondKey}) said.result.erase(std::string(key.name));
    add_made_by(said.result, options);
    said.table += silicon_line(said.result);
    if (files.events) files.events->finish(events_text(run, workload, said.regions, said.runs));
    if (said.spans.empty()) said.spans = {{workload.name, 0, static_cast<std::int64_t>(run.cycles)}};
    OverTime::Parts parts;
    if (files.timeline || files.html)
        parts = over_time.parts(
            run,
            [&](Cycle cycle) {
                return spent ? profile.picojoules(cycle, *spent) : std::pair{0.0, 0.0};
            },
            workload.hardware.clock_mhz);
    if (files.timeline) files.timeline->finish(timeline_bytes(run, workload.name, said.spans, parts, options.shown));
    if (files.pipeline) files.pipeline->finish(pipeline_text(run, options.shown));
    if (files.waves) {
        files.waves->finish(waves_text(run, workload.name, options.shown));
        files.waves_layout->finish(waves_layout(run, options.waves));
    }
    if (files.html)
        files.html->finish(run_page(run, {workload.name, options.command, said.result, explanation_of(said.result), said.spans, parts,
                                          options.tried.styles, options.tried.html}));
    if (files.trace) files.trace->finish(address_trace(run, workload.hardware, options.trace_client));
    if (files.accesses) files.accesses->finish(accesses_text(run));
    if (files.compute) {
        files.compute->finish(compute_report(said.result));
        files.bandwidth->finish(bandwidth_report(said.result));
    }
    if (files.report) files.report->finish(said.table);
    if (files.folder) files.folder->write_result(said.result);
    if (options.on_result) options.on_result(said.result);
    if (files.folder) files.folder->publish(interrupted);
    else files.commit_records();
    if (!options.quiet) say("{}", said.table);
    if (!options.quiet && files.folder) say("\n  written      {}\n", printable((files.folder->path() / "result.json").string()));
    if (options.times) say_cpu_seconds(run);
    for (const std::string& violation : run.dbb_memory.violations) say_error("{}: DRAM: {}\n", printable(workload.name), violation);
    return said.right && run.dbb_memory.violations.empty() && !hazardous(run) ? kDone : kMismatch;
}

}  // namespace dlasim
