#include "app/execution.h"

#include <fmt/format.h>

#include "app/file_names.h"
#include "app/interrupt.h"
#include "app/progress.h"
#include "app/status.h"
#include "base/error.h"
#include "files/console.h"
#include "files/printable.h"
#include "replay/hazard_report.h"
#include "replay/simulation_time.h"

namespace dlasim {
namespace {

RunResult simulate_shown(const Workload& workload, Host& host, const CommonOptions& options)
{
    Progress progress(workload.name, workload.work.unit, workload.work.amount, options.quiet);
    SimulateOptions how;
    how.timing_only = options.timing_only;
    how.stepping = options.stepping;
    how.check_dram = options.check_dram;
    how.events = !options.events.empty();
    how.hazards = options.hazards;
    how.keep_going = [&](Cycle now, std::uint64_t done) {
        progress.show(now, done);
        return !interrupted();
    };
    return simulate(workload, host, how);
}

}  // namespace

RunFiles::RunFiles(const CommonOptions& options, bool result)
{
    if (result) folder.emplace(options.out, options.sync);
    if (options.report) report = &folder->file(kReportFile);
}

void RunFiles::open_events(const std::string& file)
{
    if (!file.empty()) events = folder ? &folder->elsewhere(file) : &events_alone_.emplace(file);
}

int execute(const Workload& workload, Host& host, const CommonOptions& options, RunFiles& files,
            const std::function<Reported(RunResult& run)>& report)
{
    files.open_events(options.events);
    RunResult run = simulate_shown(workload, host, options);
    if (run.interrupted || interrupted()) {
        say_error("dlasim: interrupted in cycle {}, nothing written\n", run.end);
        return kInterrupted;
    }
    if (run.hung)
        throw MachineError(fmt::format("{}: the machine hangs after {} cycles\n{}", printable(workload.name), run.end, run.diagnosis));
    const Reported said = report(run);
    if (files.events) {
        const WrittenRegions& regions = said.regions;
        files.events->settle(
            json_file_text(events_json(run, regions.recording, regions.contents, workload.hardware.memory.has_secondary, said.runs), 1));
    }
    if (files.report) files.report->settle(said.table);
    if (files.folder) files.folder->settle_result(said.result);
    if (options.on_result) options.on_result(said.result);
    if (files.folder) files.folder->appear(interrupted);
    else if (files.events) files.events->commit();
    if (!options.quiet) say("{}", said.table);
    if (!options.quiet && files.folder) say("\n  written      {}\n", printable((files.folder->path() / "result.json").string()));
    if (options.times) say_cpu_seconds(run);
    for (const std::string& violation : run.dbb_memory.violations) say_error("{}: DRAM: {}\n", printable(workload.name), violation);
    return said.right && run.dbb_memory.violations.empty() && !hazardous(run) ? kDone : kMismatch;
}

}  // namespace dlasim
