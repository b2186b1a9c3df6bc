#include "app/commands/export_command.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/commands/onnx_run.h"
#include "app/commands/run_command.h"
#include "app/interrupt.h"
#include "app/nvdla/driver_export.h"
#include "app/progress.h"
#include "app/status.h"
#include "base/bits.h"
#include "base/error.h"
#include "base/files/console.h"
#include "base/files/json_text.h"
#include "base/files/output.h"
#include "platform/simulate.h"
#include "replay/events.h"
#include "replay/write_c.h"
#include "replay/write_case.h"
#include "replay/write_trace.h"

namespace dlasim {
namespace {

using Bytes = std::vector<std::uint8_t>;

constexpr auto kReplace = nlohmann::ordered_json::error_handler_t::replace;
constexpr std::string_view kCase = kExportForms[0], kTxn = kExportForms[1], kC = kExportForms[3], kNvdla = kExportForms[4];

/// A program that has run: what it started from, what it left, its events.
struct Exported {
    MeasuredCase measured;
    RunResult run;
};

/// The first entry after which the machine has worked.
Program::const_iterator first_wait(const Program& program)
{
    return std::find_if(program.begin(), program.end(), [](const ProgramEntry& entry) {
        return std::holds_alternative<WaitInterrupt>(entry) || std::holds_alternative<WaitStatus>(entry);
    });
}

/// What a replay does not compute must not be needed by what it runs; what the host does first is in the memory before.
void check_host(const Workload& workload, const Host& host, const std::string& file)
{
    bool computed = false;
    for (auto entry = first_wait(workload.program); entry != workload.program.end(); ++entry) {
        if (computed && std::holds_alternative<RegisterWrite>(*entry))
            throw ConfigError(file, "has CPU fallback between steps of the machine, which a trace cannot express");
        if (const auto* step = std::get_if<HostStep>(&*entry)) computed |= host.computes(step->number);
    }
}

/// In a case both ports see one memory: their ranges must not overlap.
void check_apart(const std::vector<TouchedRange>& ranges, const std::string& file)
{
    for (const TouchedRange& a : ranges)
        for (const TouchedRange& b : ranges)
            if (a.place.primary != b.place.primary && a.place.address < b.place.address + b.bytes &&
                b.place.address < a.place.address + a.bytes)
                throw ConfigError(file, fmt::format("uses address {:#x} of both memories, which a case with one memory cannot express",
                                                    std::max(a.place.address, b.place.address).byte()));
}

/// Without the zeros at the end.
void trim(Bytes& bytes)
{
    while (!bytes.empty() && bytes.back() == 0) bytes.pop_back();
}

/// What is written of a region: the players of input.txn compare whole lines.
std::uint64_t dumped(const ExportOptions& options, std::uint64_t bytes) { return options.form == kTxn ? round_up(bytes, kTxnLine) : bytes; }

/// Replaces the host of a workload: its work before the start of the machine is in the images; afterwards the machine is alone.
class MemoryRecorder final : public Host {
public:
    /// `outputs`: the regions that are compared; none: those that change.
    MemoryRecorder(const ExportOptions& options, const Workload& workload, Host& host, std::vector<loadable::Range> outputs)
        : options_(options), workload_(workload), host_(host), outputs_(std::move(outputs))
    {
    }
    void before(const HostMemory& memory) override
    {
        host_.before(memory);
        std::for_each(workload_.program.begin(), first_wait(workload_.program), [&](const ProgramEntry& entry) {
            const auto* step = std::get_if<HostStep>(&entry);
            if (step && host_.computes(step->number)) host_.at(step->number, memory);
        });
        for (const TouchedRange& range : workload_.ranges) {
            before_.push_back(memory.read(range.place, range.bytes));
            MemoryImage image{range.place, before_.back()};
            trim(image.bytes);
            if (!image.bytes.empty()) recording.images.push_back(std::move(image));
        }
    }
    void after(const RunResult&, const HostMemory& memory) override
    {
        const auto add = [&](const Place& place, Bytes content) {
            OutputRegion region;
            region.place = place;
            region.bytes = content.size();
            region.content = std::move(content);
            recording.outputs.push_back(std::move(region));
        };
        for (const loadable::Range& range : outputs_) add(range.place, memory.read(range.place, dumped(options_, range.bytes)));
        for (std::size_t i = 0; outputs_.empty() && i < before_.size(); ++i) {
            const TouchedRange& range = workload_.ranges[i];
            Bytes after = memory.read(range.place, dumped(options_, range.bytes));
            if (!std::equal(before_[i].begin(), before_[i].end(), after.begin())) add(range.place, std::move(after));
        }
    }
    Recording recording;

private:
    const ExportOptions& options_;
    const Workload& workload_;
    Host& host_;
    const std::vector<loadable::Range> outputs_;
    std::vector<Bytes> before_;
};

Exported exported(const ExportOptions& options, Planned& program)
{
    const Workload& planned = program.workload();
    Host& host = program.host();
    std::vector<loadable::Range> outputs = program.outputs();
    const std::string& file = options.file;
    if (planned.source)
        throw ConfigError(
            file,
            fmt::format("depends in mode {} on the registers that it reads, which a trace cannot express: expected mode serial or overlap",
                        options.loadable.mode));
    Workload workload = planned;
    workload.one_memory = options.form == kCase;  // as it will be replayed
    workload.drains = false;
    check_host(workload, host, file);
    if (workload.one_memory && outputs.empty()) check_apart(workload.ranges, file);
    MemoryRecorder recorder(options, workload, host, std::move(outputs));
    Exported exported;
    Progress progress(workload.name, workload.work.unit, workload.work.amount, workload.work.steps, options.quiet);
    const auto keep_going = [&](Cycle now, std::uint64_t done, std::size_t stamps) {
        progress.show(now, done, stamps);
        return !interrupted();
    };
    exported.run = simulate(workload, recorder, {.keep_going = keep_going, .events = true});
    if (exported.run.hung)
        throw MachineError(
            fmt::format("{}: the machine hangs after {} cycles\n{}", printable(file), exported.run.end, exported.run.diagnosis));
    recorder.recording.name = fmt::format("{}.{}", workload.hardware.name, program.name());
    recorder.recording.program = std::move(workload.program);
    exported.measured.recording = std::move(recorder.recording);
    exported.measured.hardware = workload.hardware;
    exported.measured.memory = workload.memory;
    return exported;
}

nlohmann::ordered_json events_of(const Exported& exported)
{
    std::vector<Bytes> contents;
    for (const OutputRegion& region : exported.measured.recording.outputs) contents.push_back(region.content);
    return events_json(exported.run, exported.measured.recording, contents, exported.measured.hardware.memory.has_secondary);
}

}  // namespace

int export_command(ExportOptions options)
{
    watch_for_interrupt();
    if (options.form == kNvdla) return export_driver_files(std::move(options));
    if (!options.golden.empty()) throw ConfigError("--golden", "found it with --form " + options.form + ", expected --form nvdla");
    const bool one_file = options.form == kCase || options.form == kC;
    std::optional<OutputFile> file;
    if (one_file) file.emplace(options.to);
    else check_trace_folder(options.form == kTxn ? TraceForm::Txn : TraceForm::Cfg, options.to);
    const Exported done = with_planned(read_program(options), options, [&](const auto& planned) {
        if constexpr (requires { planned->model; })  // a trace has no host that brings the next image
            if (planned->model && planned->model->images() != 1)
                throw ConfigError("--input",
                                  fmt::format("found {} images, expected one; --calibrate takes any number", planned->model->images()));
        return exported(options, *planned);
    });
    if (interrupted()) return kInterrupted;
    const MeasuredCase& measured = done.measured;
    if (options.form == kC) file->commit(c_program(measured.recording, measured.hardware));
    else if (one_file) file->commit(case_json(measured, events_of(done)).dump(-1, ' ', false, kReplace) + "\n");
    else
        write_trace(options.form == kTxn ? TraceForm::Txn : TraceForm::Cfg, options.to, measured.recording, measured.hardware,
                    done.run.reads);
    if (!options.quiet) say("written {}\n", printable(options.to));
    return kDone;
}

}  // namespace dlasim
