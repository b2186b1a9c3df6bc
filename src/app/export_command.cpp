#include "app/export_command.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/interrupt.h"
#include "app/loadable_run.h"
#include "app/status.h"
#include "base/error.h"
#include "config/descriptor.h"
#include "config/file_kind.h"
#include "config/hardware.h"
#include "config/memory.h"
#include "config/network_reader.h"
#include "files/console.h"
#include "files/json_text.h"
#include "files/output.h"
#include "jobs/job.h"
#include "network/check.h"
#include "replay/events.h"
#include "replay/write_c.h"
#include "replay/write_case.h"
#include "replay/write_trace.h"

namespace dlasim {
namespace {

namespace fs = std::filesystem;
using Bytes = std::vector<std::uint8_t>;

constexpr auto kReplace = nlohmann::ordered_json::error_handler_t::replace;
constexpr std::string_view kCase = kExportForms[0], kTxn = kExportForms[1], kC = kExportForms[3];

/// A program that has run: what it started from, what it left, its events.
struct Exported {
    MeasuredCase measured;
    RunResult run;
};

/// A range of memory that the program uses.
struct UsedRange {
    MemorySpace space = MemorySpace::Primary;
    Address address;
    std::uint64_t bytes = 0;
};

MachineOptions machine_options(const ExportOptions& options)
{
    MachineOptions how;
    how.events = true;
    how.one_memory = options.form == kCase;  // as it will be replayed
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

/// In a case both ports see one memory: ranges behind them must be apart.
void check_apart(const std::vector<UsedRange>& ranges, const std::string& file)
{
    for (const UsedRange& a : ranges)
        for (const UsedRange& b : ranges)
            if (a.space != b.space && a.address < b.address + b.bytes && b.address < a.address + a.bytes)
                throw ConfigError(file, fmt::format("uses address {:#x} of both memories, which a case with one memory cannot hold",
                                                    std::max(a.address, b.address).byte()));
}

/// Without the zeros at the end.
void trim(Bytes& bytes)
{
    while (!bytes.empty() && bytes.back() == 0) bytes.pop_back();
}

void check_ended(const RunResult& run, const std::string& file)
{
    if (run.hung) throw MachineError(fmt::format("{}: the machine hangs after {} cycles\n{}", printable(file), run.end, run.diagnosis));
}

void add_output(Recording& recording, const UsedRange& range, Bytes content)
{
    OutputRegion region;
    region.space = range.space;
    region.address = range.address;
    region.bytes = range.bytes;
    region.content = std::move(content);
    recording.outputs.push_back(std::move(region));
}

Exported export_loadable(const ExportOptions& options)
{
    const loadable::Plan plan = plan_of(options.what);
    check_host(plan.program, plan.loadable->file,
               [&](std::size_t number) { return plan.actions[number].kind == loadable::HostAction::Kind::Task; });
    LoadableRun machine(plan, machine_options(options), false);
    Exported exported;
    MeasuredCase& measured = exported.measured;
    measured.hardware = plan.hardware;
    measured.memory = plan.memory;
    measured.recording.name = fmt::format("{}.{}", plan.hardware.name, fs::path(plan.loadable->file).stem().string());
    for (const loadable::Used& used : loadable::used_memory(plan)) {
        MemoryImage image{space(used.place), used.place.address, machine.read(used.place, used.bytes)};
        trim(image.bytes);
        if (!image.bytes.empty()) measured.recording.images.push_back(std::move(image));
    }
    measured.recording.program = plan.program;
    exported.run = machine.run([](Cycle, std::size_t) { return !interrupted(); });
    check_ended(exported.run, plan.loadable->file);
    for (const SeenRange& seen : machine.written())
        add_output(measured.recording, {space(seen.range.place), seen.range.place.address, seen.range.bytes}, seen.bytes);
    return exported;
}

/// A layer, a transfer or a network: a program, what fills memory, the ranges it uses. Outputs are the ranges that change.
struct Ranged {
    std::string name, file;
    Hardware hardware;
    MemorySpec memory;
    Program program;
    std::vector<TouchedRange> ranges;
};

Exported export_ranged(const ExportOptions& options, const Ranged& what, const std::function<void(const Contents::Write&)>& fill)
{
    Machine machine(what.hardware, what.memory, machine_options(options));
    fill([&](const Place& place, std::span<const std::uint8_t> bytes) { machine.write_memory(space(place), place.address, bytes); });
    Exported exported;
    exported.measured.hardware = what.hardware;
    exported.measured.memory = what.memory;
    Recording& recording = exported.measured.recording;
    recording.name = fmt::format("{}.{}", what.hardware.name, what.name);
    recording.program = what.program;
    std::vector<UsedRange> ranges;
    std::vector<Bytes> before;
    for (const TouchedRange& range : what.ranges) {
        machine.require_memory(space(range.place), range.place.address, range.bytes, range.where);
        ranges.push_back({space(range.place), range.place.address, range.bytes});
        before.push_back(machine.read_memory(ranges.back().space, ranges.back().address, ranges.back().bytes));
        MemoryImage image{ranges.back().space, ranges.back().address, before.back()};
        trim(image.bytes);
        if (!image.bytes.empty()) recording.images.push_back(std::move(image));
    }
    if (options.form == kCase) check_apart(ranges, what.file);
    machine.keep_going = [](Cycle) { return !interrupted(); };
    exported.run = machine.run(what.program);
    check_ended(exported.run, what.file);
    for (std::size_t i = 0; i < ranges.size(); ++i) {
        Bytes after = machine.read_memory(ranges[i].space, ranges[i].address, ranges[i].bytes);
        if (after != before[i]) add_output(recording, ranges[i], std::move(after));
    }
    return exported;
}

Exported export_layer(const ExportOptions& options, const Json& json)
{
    const std::string& file = options.what.loadable;
    const Hardware hardware = load_hardware(options.what.hardware, options.what.settings);
    Descriptor descriptor = descriptor_from_json(json, file, "", fs::path(file).parent_path().string());
    if (options.what.seeded) set_seed(descriptor, options.what.seed);
    const Job job = job_of(descriptor, hardware, parse_memory(options.what.memory));
    check_host(job.program, file, [](std::size_t) { return true; });
    return export_ranged(options, {job.name, file, job.hardware, job.memory, job.program, job.ranges},
                         [&](const Contents::Write& write) { job.contents->before(write); });
}

Exported export_network(const ExportOptions& options)
{
    const std::string& file = options.what.loadable;
    const Hardware hardware = load_hardware(options.what.hardware, options.what.settings);
    const Network network = read_network(file);
    NetworkPlan plan = plan_network(network, hardware, parse_memory(options.what.memory), {.seed = options.what.seed, .values = true});
    check_host(plan.program.entries, file,
               [&](std::size_t number) { return host_action(number, plan.plans.size()).kind == HostAction::Kind::Compute; });
    return export_ranged(options, {network.name, file, plan.hardware, plan.memory, plan.program.entries, plan.ranges},
                         [&](const Contents::Write& write) { fill_memory(plan, write); });
}

/// A JSON file has layers if it is a network.
Exported exported_by(const ExportOptions& options)
{
    const std::string& file = options.what.loadable;
    if (file.ends_with(".onnx")) throw ConfigError(file, "is a model, expected a layer, a network (JSON) or a loadable");
    if (!file.ends_with(".json")) return export_loadable(options);
    const LoadableOptions& what = options.what;
    if (!what.inputs.empty() || what.form != "auto" || what.mode != "overlap" || what.chains != UINT32_MAX)
        throw ConfigError(file, "is no file of the NVDLA compiler, expected no --input, --input-form, --mode or --chains");
    const Json json = read_json(file);
    if (kind_of(json) == FileKind::Network) return export_network(options);
    expect_kind(json, file, FileKind::Layer);
    return export_layer(options, json);
}

nlohmann::ordered_json events_of(const Exported& exported)
{
    std::vector<Bytes> contents;
    for (const OutputRegion& region : exported.measured.recording.outputs) contents.push_back(region.content);
    return events_json(exported.run, exported.measured.recording, contents, exported.measured.hardware.memory.has_secondary);
}

}  // namespace

int export_command(const ExportOptions& options)
{
    watch_for_interrupt();
    const bool one_file = options.form == kCase || options.form == kC;
    std::optional<OutputFile> file;
    if (one_file) file.emplace(options.to);
    else make_folder(options.to);
    const Exported exported = exported_by(options);
    if (interrupted()) return kInterrupted;
    const MeasuredCase& measured = exported.measured;
    if (options.form == kC) file->commit(c_program(measured.recording, measured.hardware));
    else if (one_file) file->commit(case_json(measured, events_of(exported)).dump(-1, ' ', false, kReplace) + "\n");
    else
        write_trace(options.form == kTxn ? TraceForm::Txn : TraceForm::Cfg, options.to, measured.recording, measured.hardware,
                    exported.run.reads);
    if (!options.what.quiet) say("written {}\n", printable(options.to));
    return kDone;
}

}  // namespace dlasim
