#include "app/export_command.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/interrupt.h"
#include "app/loadable_run.h"
#include "app/net_command.h"
#include "app/onnx_run.h"
#include "app/status.h"
#include "base/bits.h"
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

/// The first entry behind which the machine has done something.
Program::const_iterator first_wait(const Program& program)
{
    return std::find_if(program.begin(), program.end(), [](const ProgramEntry& entry) {
        return std::holds_alternative<WaitInterrupt>(entry) || std::holds_alternative<WaitStatus>(entry);
    });
}

/// What a replay does not compute must not be needed by what it runs; what the host does first is in the memory before.
void check_host(const Program& program, const std::string& file, const std::function<bool(std::size_t)>& computes)
{
    bool computed = false;
    for (auto entry = first_wait(program); entry != program.end(); ++entry) {
        if (computed && std::holds_alternative<RegisterWrite>(*entry))
            throw ConfigError(file, "has a step of the host between those of the machine, which no trace can hold");
        if (const auto* step = std::get_if<HostStep>(&*entry)) computed |= computes(step->number);
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

/// What is written of a region: the players of input.txn compare whole lines.
std::uint64_t dumped(const ExportOptions& options, std::uint64_t bytes) { return options.form == kTxn ? round_up(bytes, kTxnLine) : bytes; }

void add_output(Recording& recording, const UsedRange& range, Bytes content)
{
    OutputRegion region;
    region.space = range.space;
    region.address = range.address;
    region.bytes = content.size();
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
    for (const SeenRange& seen : machine.written()) {
        Bytes content = machine.read(seen.range.place, dumped(options, seen.range.bytes));
        std::copy(seen.bytes.begin(), seen.bytes.end(), content.begin());  // as the machine left it: tasks of the host come behind it
        add_output(measured.recording, {space(seen.range.place), seen.range.place.address}, std::move(content));
    }
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

Exported export_ranged(const ExportOptions& options, const Ranged& what,
                       const std::function<void(const Contents::Write&, const ReadPlace&)>& fill)
{
    Machine machine(what.hardware, what.memory, machine_options(options));
    fill([&](const Place& place, std::span<const std::uint8_t> bytes) { machine.write_memory(space(place), place.address, bytes); },
         [&](const Place& place, std::uint64_t bytes) { return machine.read_memory(space(place), place.address, bytes); });
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
        Bytes after = machine.read_memory(ranges[i].space, ranges[i].address, dumped(options, ranges[i].bytes));
        if (!std::equal(before[i].begin(), before[i].end(), after.begin())) add_output(recording, ranges[i], std::move(after));
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
                         [&](const Contents::Write& write, const ReadPlace&) { job.contents->before(write); });
}

/// `inputs`: of a model, whose tensors do not come by seed.
Exported export_network(const ExportOptions& options, const Network& network, const std::function<std::vector<Tensor>()>& inputs = {})
{
    const std::string& file = options.what.loadable;
    const Hardware hardware = load_hardware(options.what.hardware, options.what.settings);
    NetworkPlan plan = plan_network(network, hardware, parse_memory(options.what.memory), {.seed = options.what.seed, .values = true});
    const auto computes = [&](std::size_t number) { return host_action(number, plan.plans.size()).kind == HostAction::Kind::Compute; };
    check_host(plan.program.entries, file, computes);
    if (inputs) plan.golden = golden_tensors(plan, inputs());
    return export_ranged(options, {network.name, file, plan.hardware, plan.memory, plan.program.entries, plan.ranges},
                         [&](const Contents::Write& write, const ReadPlace& read) {
                             fill_memory(plan, write);
                             const Program& program = plan.program.entries;
                             std::for_each(program.begin(), first_wait(program), [&](const ProgramEntry& entry) {
                                 const auto* step = std::get_if<HostStep>(&entry);
                                 if (step && computes(step->number))
                                     run_host_step(plan, host_action(step->number, plan.plans.size()).step, read, write);
                             });
                         });
}

/// An image of a model: a trace has no host that brings the next one.
Exported export_model(const ExportOptions& options)
{
    NetOptions model;
    model.network = options.what.loadable;
    model.input = options.what.inputs;
    model.calibrate = options.calibrate;
    model.precision = options.precision;
    model.seed = options.what.seed;
    OnnxRun onnx(model);
    if (onnx.images() != 1)
        throw ConfigError("--input", fmt::format("found {} images, expected one; --calibrate takes any number", onnx.images()));
    return export_network(options, onnx.network(), [&] { return onnx.inputs(0); });
}

/// A JSON file has layers if it is a network.
Exported exported_by(const ExportOptions& options)
{
    const std::string& file = options.what.loadable;
    const LoadableOptions& what = options.what;
    if (!is_onnx(file) && (!options.calibrate.empty() || !options.precision.empty()))
        throw ConfigError(file, "is no ONNX model, expected no --calibrate or --precision");
    if (!is_onnx(file) && !file.ends_with(".json")) return export_loadable(options);
    if (what.form != "auto" || what.mode != "overlap" || what.chains != UINT32_MAX || (!what.inputs.empty() && !is_onnx(file)))
        throw ConfigError(file, "is no file of the NVDLA compiler, expected no --input, --input-form, --mode or --chains");
    if (is_onnx(file)) return export_model(options);
    const Json json = read_json(file);
    if (kind_of(json) == FileKind::Network) return export_network(options, network_from_json(json, file));
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
    else check_trace_folder(options.form == kTxn ? TraceForm::Txn : TraceForm::Cfg, options.to);
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
