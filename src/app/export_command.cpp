#include "app/export_command.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/interrupt.h"
#include "app/loadable_run.h"
#include "app/progress.h"
#include "app/status.h"
#include "base/error.h"
#include "config/descriptor.h"
#include "config/hardware.h"
#include "config/memory.h"
#include "config/network_reader.h"
#include "files/console.h"
#include "files/output.h"
#include "jobs/job.h"
#include "network/check.h"
#include "replay/events.h"
#include "replay/write_case.h"

namespace dlasim {
namespace {

namespace fs = std::filesystem;

/// A program that has run: what it started from, what it left, its events.
struct Exported {
    MeasuredCase measured;
    nlohmann::ordered_json expected;
};

struct MemoryRange {
    MemorySpace space = MemorySpace::Primary;
    std::uint64_t address = 0, bytes = 0;
};

MachineOptions machine_options()
{
    MachineOptions how;
    how.events = true;
    how.one_memory = true;  // as it will be replayed
    return how;
}

/// What a replay does not compute must not be needed by what it runs.
void check_host(const Program& program, const std::string& file, const std::function<bool(std::size_t)>& computes)
{
    bool running = false, computed = false;
    for (const ProgramEntry& entry : program) {
        if (std::holds_alternative<RegisterWrite>(entry)) {
            if (computed) throw ConfigError(file, "has a step of the host between those of the machine, which no trace can hold");
            running = true;
        }
        if (const auto* step = std::get_if<HostStep>(&entry); step && running && computes(step->number)) computed = true;
    }
}

std::vector<MemoryImage> images_of(const std::vector<MemoryRange>& ranges,
                                   const std::function<std::vector<std::uint8_t>(const MemoryRange& range)>& read)
{
    std::vector<MemoryImage> images;
    for (const MemoryRange& range : ranges) {
        MemoryImage image{range.space, range.address, read(range)};
        while (!image.bytes.empty() && image.bytes.back() == 0) image.bytes.pop_back();
        if (!image.bytes.empty()) images.push_back(std::move(image));
    }
    return images;
}

void check_ended(const RunResult& run, const std::string& file)
{
    if (run.hung) throw MachineError(fmt::format("{}: the machine hangs after {} cycles\n{}", printable(file), run.end, run.diagnosis));
}

Exported export_loadable(const LoadableOptions& options)
{
    const loadable::Plan plan = plan_of(options);
    check_host(plan.program, plan.loadable->file,
               [&](std::size_t number) { return plan.actions[number].kind == loadable::HostAction::Kind::Task; });
    LoadableRun machine(plan, machine_options());
    std::vector<MemoryRange> ranges;
    for (const loadable::Used& used : loadable::used_memory(plan)) ranges.push_back({space(used.place), used.place.address, used.bytes});
    Exported exported;
    MeasuredCase& measured = exported.measured;
    measured.hardware = plan.hardware;
    measured.memory = plan.memory;
    measured.recording.name = fmt::format("{}.{}", plan.hardware.name, fs::path(plan.loadable->file).stem().string());
    measured.recording.images = images_of(ranges, [&](const MemoryRange& range) {
        return machine.read({range.space == MemorySpace::Primary, range.address}, range.bytes);
    });
    measured.recording.program = plan.program;
    const RunResult& run = machine.run([](Cycle, std::size_t) { return !interrupted(); });
    check_ended(run, plan.loadable->file);
    WrittenRegions regions = regions_of(machine.written());
    exported.expected = events_json(run, regions.recording, regions.contents, plan.hardware.memory.has_secondary);
    measured.recording.outputs = std::move(regions.recording.outputs);
    return exported;
}

}  // namespace

int export_command(const ExportOptions& options)
{
    watch_for_interrupt();
    OutputFile file(options.to);
    const Exported exported = export_loadable(options.what);
    if (interrupted()) return kInterrupted;
    file.commit(case_json(exported.measured, exported.expected).dump() + "\n");
    if (!options.what.quiet) say("written {}\n", printable(options.to));
    return kDone;
}

}  // namespace dlasim
