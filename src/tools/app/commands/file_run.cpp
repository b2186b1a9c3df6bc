#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "app/commands/kinds_of_runs.h"
#include "app/execution.h"
#include "app/file_names.h"
#include "app/status.h"
#include "base/error.h"
#include "base/files/console.h"
#include "base/files/input.h"
#include "base/files/number.h"
#include "base/files/output_folder.h"
#include "config/machine/hardware.h"
#include "config/warning.h"
#include "facts/cacc.h"
#include "facts/presets.h"
#include "lint/layer_ends.h"
#include "loadable/nvidia/check.h"
#include "report/loadable_description.h"
#include "report/loadable_result.h"

namespace dlasim {
namespace {

/// Files of an output, in the folder of the result.
struct TensorNames {
    explicit TensorNames(std::size_t i)
        : array(i == 0 ? kTensorFile : fmt::format("output_{}.npy", i)),
          surface(i == 0 ? "output.surface" : fmt::format("output_{}.surface", i))
    {
    }
    std::string array, surface;
};

std::vector<WrittenTensor> write_tensors(const loadable::LoadablePlan& plan, const std::vector<SeenRange>& results,
                                         const std::vector<OutputFile*>& files)
{
    std::vector<WrittenTensor> tensors;
    for (const SeenRange& seen : results) {
        if (2 * tensors.size() >= files.size()) break;
        const TensorNames names(tensors.size());
        const std::size_t number = plan.loadable->memories[seen.range.memory].tensor;
        const loadable::TensorEntry& tensor = plan.loadable->tensors[number];
        WrittenTensor written{tensor.name, names.array, names.surface,
                              loadable::unpacked(tensor, seen.bytes, plan.loadable->where("tensor", number))};
        files[2 * tensors.size()]->finish(loadable::npy_text(tensor, written.elements));
        files[2 * tensors.size() + 1]->finish({reinterpret_cast<const char*>(seen.bytes.data()), seen.bytes.size()});
        tensors.push_back(std::move(written));
    }
    return tensors;
}

/// For the events: those of a measured case of the same program.
WrittenRegions regions_of(const std::vector<SeenRange>& written)
{
    WrittenRegions regions;
    for (const SeenRange& seen : written) {
        OutputRegion region;
        region.place = seen.range.place;
        region.bytes = seen.range.bytes;
        regions.recording.outputs.push_back(std::move(region));
        regions.contents.push_back(seen.bytes);
    }
    return regions;
}

/// In the order of NVIDIA's driver, whatever the order of this run is; none where no program can know that order.
std::optional<loadable::LoadablePlan> driver_plan(const loadable::LoadablePlan& plan)
{
    loadable::Options how = plan.options;
    how.mode = loadable::Mode::Driver;
    try {
        return loadable::plan_loadable(*plan.loadable, plan.hardware, plan.memory, how);
    } catch (const ConfigError&) {
        return std::nullopt;
    }
}

/// Convolutions that the driver starts so early that the silicon may hang: a fact of the file, not of this run.
void tell_early_ends(const loadable::LoadablePlan& plan)
{
    if (!facts::cacc::of(plan.hardware).ends_may_meet(1)) return;
    const std::optional<loadable::LoadablePlan> driven = driver_plan(plan);
    if (!driven) return;
    const std::vector<lint::EarlyLayer> early = lint::early_layers(plan.hardware, driven->program);
    if (early.empty()) return;
    std::vector<const loadable::Scheduled*> convolutions;
    for (const loadable::Scheduled& scheduled : driven->operations)
        if (driven->operation(scheduled).kind == loadable::Kind::Conv) convolutions.push_back(&scheduled);
    const loadable::Scheduled& first = *convolutions.at(early.front().convolution);
    warn(fmt::format(
        "{}: NVIDIA's driver starts {} of its convolutions, of fewer results than the {} that CACC of {} holds, before the one in "
        "front has ended (the first: operation {}.{}, {}); where their ends meet the silicon hangs. Modes serial and overlap wait",
        plan.loadable->file, early.size(), early.front().entries, plan.hardware.name, first.task, first.operation,
        early.front().results == 1 ? "1 result" : fmt::format("{} results", early.front().results)));
}

/// What runs here alone: the first reason, and how many more there are.
void tell_refusals(const loadable::LoadablePlan& plan)
{
    const std::string& file = plan.loadable->file;
    std::vector<loadable::Finding> found = loadable::check_for_driver(*plan.loadable->bytes, file, plan.hardware);
    std::erase_if(found, [](const loadable::Finding& finding) { return !finding.refused; });
    if (found.empty()) return;
    warn(fmt::format("{}: {}: {}. NVIDIA's software would not run this file{}", file, found.front().place, found.front().problem,
                     found.size() == 1 ? "" : fmt::format("; {} more reasons with --check", found.size() - 1)));
}

/// The driver has enabled operations in another order than planned, or not all of them: the report has what it did.
void order_as_played(loadable::LoadablePlan& plan, const RunResult& run)
{
    const auto start = [&](const loadable::Scheduled& s) {
        return s.stamp < run.stamps.size() ? run.stamps[s.stamp] : RunResult::kNotStamped;
    };
    std::erase_if(plan.operations, [&](const loadable::Scheduled& s) { return start(s) == RunResult::kNotStamped; });
    std::ranges::stable_sort(plan.operations, {}, start);
}

/// The program waits for the last unit of a chain; software waits for its convolution too.
void expect_ends(const loadable::LoadablePlan& plan, const RunResult& run)
{
    const std::vector<OperationTimes> times = operation_times(plan, run);
    for (std::size_t i = 0; i < times.size(); ++i) {
        const loadable::Scheduled& of = plan.operations[i];
        if (plan.operation(of).kind != loadable::Kind::Conv || times[i].done > times[i].start) continue;
        throw MachineError(
            fmt::format("{}: the machine hangs: the convolution never ends, although its SDP does: CACC waits for SDP to "
                        "take more. Sizes of their outputs must agree",
                        plan.task_of(of).where_is(of.operation)));
    }
}

}  // namespace

HostSpeed parse_cpu(const std::string& text)
{
    constexpr std::uint64_t kMaxCycles = 1u << 20;
    HostSpeed speed;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find(',', at), text.size());
        const std::string option = text.substr(at, end - at);
        const std::size_t equals = std::min(option.find('='), option.size());
        const std::string name = option.substr(0, equals), value = option.substr(std::min(equals + 1, option.size()));
        Cycle* const field = name == "cycles_per_write"    ? &speed.cycles_per_write
                             : name == "interrupt_latency" ? &speed.interrupt_latency
                                                           : nullptr;
        if (!field) throw ConfigError("--cpu", "found \"" + name + "\", expected cycles_per_write=N or interrupt_latency=N");
        const auto number = whole_number(value, 0, kMaxCycles);
        if (!number) throw ConfigError("--cpu/" + name, whole_number_problem(value, 0, kMaxCycles));
        *field = *number;
        at = end + 1;
    }
    return speed;
}

int check_file(const RunOptions& options)
{
    const Hardware hardware = load_hardware(options.hardware.empty() ? kDefaultHardware : options.hardware, options.settings);
    const std::vector<loadable::Finding> found =
        loadable::check_for_driver(read_text(options.file, loadable::kMaxBytes), options.file, hardware);
    say("{}", loadable::findings_text(found, printable(options.file), hardware));
    return std::ranges::any_of(found, &loadable::Finding::refused) ? kMismatch : kDone;
}

int show(const PlannedFile& planned, const RunOptions&)
{
    say("{}", loadable_description(planned.plan));
    return kDone;
}

int run(PlannedFile& planned, const RunOptions& options)
{
    loadable::LoadablePlan& plan = planned.plan;
    tell_refusals(plan);
    tell_early_ends(plan);
    plan.speed = parse_cpu(options.cpu);
    RunFiles files(options);
    std::vector<OutputFile*> tensors;  // array and surface of each
    for (std::size_t i = 0; i < plan.results.size() && options.output && options.values; ++i)
        for (const std::string& name : {TensorNames(i).array, TensorNames(i).surface}) tensors.push_back(&files.folder->file(name));
    loadable::LoadableHost& host = planned.host();
    return execute(plan, host, options, files, [&](const RunResult& run) -> CommandReport {
        if (plan.source) order_as_played(plan, run);
        expect_ends(plan, run);
        const LoadableResult result{plan,
                                    run,
                                    operation_times(plan, run),
                                    host.written(),
                                    host.results(),
                                    write_tensors(plan, host.results(), tensors),
                                    host.verdicts(),
                                    options.host_ns};
        std::vector<Span> spans;
        for (std::size_t i = 0; i < result.times.size(); ++i)
            if (result.times[i].ended()) spans.push_back({result.name(i), result.times[i].start, result.times[i].done});
        return {.result = loadable_result_json(result),
                .table = loadable_table(result),
                .right = result.verification().mismatches == 0,
                .regions = regions_of(host.written()),
                .spans = std::move(spans)};
    });
}

}  // namespace dlasim
