#include "app/run_command.h"

#include <fmt/format.h>

#include <filesystem>

#include "app/file_names.h"
#include "app/interrupt.h"
#include "app/net_command.h"
#include "app/outcome.h"
#include "app/progress.h"
#include "app/simulate.h"
#include "app/status.h"
#include "base/error.h"
#include "config/file_kind.h"
#include "config/hardware.h"
#include "config/memory.h"
#include "config/sweep.h"
#include "files/console.h"
#include "files/output_folder.h"
#include "replay/events.h"
#include "replay/hazard_report.h"
#include "replay/simulation_time.h"
#include "report/result.h"

namespace dlasim {
namespace {

constexpr std::uint64_t kNpyHeader = 128;  // bytes, more than any shape needs

/// The files of a run, opened before it starts: what cannot be written is refused now.
struct Outputs {
    /// `tensor_bytes`: of the output tensor, 0 if there is none.
    Outputs(const RunOptions& options, std::uint64_t tensor_bytes) : folder(options.out, options.sync)
    {
        if (tensor_bytes != 0 && options.tensors && !options.timing_only) tensor = &folder.file(kTensorFile, tensor_bytes);
        if (options.report) report = &folder.file(kReportFile);
        if (!options.events.empty()) events = &folder.elsewhere(options.events);
    }
    OutputFolder folder;
    OutputFile *events = nullptr, *tensor = nullptr, *report = nullptr;  // null: not wanted
    std::string tensor_file() const { return tensor ? kTensorFile : ""; }
};

/// Simulates, with a line of progress.
Simulation simulate_shown(const Job& job, const RunOptions& options)
{
    Progress progress(job.name, job.work.unit, job.work.amount, options.quiet);
    const auto keep_going = [&](Cycle now, std::uint64_t done) {
        progress.show(now, done);
        return !interrupted();
    };
    return simulate(job, {.timing_only = options.timing_only,
                          .stepping = options.stepping,
                          .keep_going = keep_going,
                          .check_dram = options.check_dram,
                          .events = !options.events.empty(),
                          .hazards = options.hazards});
}

/// Writes what a run says of itself.
int conclude(const Job& job, const Simulation& simulation, const RunOptions& options, Outputs& outputs)
{
    const RunResult& run = simulation.run;
    if (run.interrupted || interrupted()) {
        say_error("dlasim: interrupted in cycle {}, nothing written\n", run.end);
        return kInterrupted;
    }
    if (run.hung) throw MachineError(fmt::format("{}: the machine hangs after {} cycles\n{}", printable(job.name), run.end, run.diagnosis));

    const Result result{job, run, simulation.comparison, simulation.expected, simulation.direct, outputs.tensor_file()};
    // Every run of every probe: what accounts for a layer's cycles must see all of them.
    if (outputs.events)
        outputs.events->settle(json_file_text(events_json(run, Recording{}, {}, job.hardware.memory.has_secondary, SIZE_MAX), 1));
    if (outputs.tensor) outputs.tensor->settle(npy_file(*simulation.output, job.tensor->precision));
    if (outputs.report) outputs.report->settle(summary_table(result));
    const OrderedJson json = result_json(result);
    outputs.folder.settle_result(json);
    if (options.on_result) options.on_result(json);
    outputs.folder.appear(interrupted);
    if (!options.quiet) say_outcome(summary_table(result), outputs.folder);
    if (options.times) say_cpu_seconds(run);
    for (const std::string& violation : run.dbb_memory.violations) say_error("{}: DRAM: {}\n", printable(job.name), violation);
    if (!run.dbb_memory.violations.empty()) return kMismatch;
    const bool unexpected = result.expected && !result.expected->equal();
    return unexpected || hazardous(run) || (result.comparison && !result.comparison->equal()) ? kMismatch : kDone;
}

}  // namespace

int run_job(Descriptor descriptor, const Hardware& hardware, const MemorySpec& memory, const RunOptions& options,
            std::shared_ptr<const SharedLayer> shared)
{
    watch_for_interrupt();  // before the first file
    if (options.check_dram && memory.kind == "ideal")
        throw ConfigError("--check-dram", "found the ideal memory, which has no commands, expected a DRAM (--memory)");
    if (options.has_seed) set_seed(descriptor, options.seed);
    const Job job = job_of(descriptor, hardware, memory, std::move(shared));
    Outputs outputs(options, job.tensor ? kNpyHeader + job.tensor->bytes : 0);
    return conclude(job, simulate_shown(job, options), options, outputs);
}

int plan_job(Descriptor descriptor, const Hardware& hardware, const MemorySpec& memory, const RunOptions& options)
{
    if (options.has_seed) set_seed(descriptor, options.seed);
    const Job job = outline_of(descriptor, hardware, memory);
    if (!options.quiet) say("{}", outline_table(job));
    if (!options.has_out) return kDone;
    const std::filesystem::path file = std::filesystem::path(options.out) / "plan.json";
    make_folder(options.out);
    OutputFile(file).commit(json_file_text(outline_json(job), 2));
    if (!options.quiet) say("  written      {}\n", printable(file.string()));
    return kDone;
}

namespace {

int run_or_plan(Descriptor descriptor, const Hardware& hardware, const MemorySpec& memory, const RunOptions& options)
{
    return options.plan ? plan_job(std::move(descriptor), hardware, memory, options)
                        : run_job(std::move(descriptor), hardware, memory, options);
}

}  // namespace

int run_layer(const Json& json, const RunOptions& options)
{
    expect_kind(json, options.layer, FileKind::Layer);
    const Hardware hardware = load_hardware(options.hardware, options.settings);
    const MemorySpec memory = parse_memory(options.memory);
    const std::string folder = std::filesystem::path(options.layer).parent_path().string();
    return run_or_plan(descriptor_from_json(json, options.layer, "", folder), hardware, memory, options);
}

namespace {

/// The file is a network.
NetOptions net_options(const RunOptions& options)
{
    if (options.check_dram) throw ConfigError("--check-dram", "found with a network, expected a layer");
    NetOptions net;
    static_cast<CommonOptions&>(net) = options;
    net.network = options.layer;
    if (options.has_seed) net.seed = options.seed;
    net.output = options.tensors;
    return net;
}

}  // namespace

int run_command(const RunOptions& options)
{
    if (options.has_point) {
        const SweepPoint point = named_point(options.layer, options.point);
        const Descriptor* descriptor = std::get_if<Descriptor>(&point.work);
        if (!descriptor) throw ConfigError(options.layer, "is a sweep of networks, expected dlasim net");
        return run_or_plan(*descriptor, point.hardware, point.memory, options);
    }
    if (is_onnx(options.layer)) return net_command(net_options(options));
    Json json = read_json(options.layer);
    return kind_of(json) == FileKind::Network ? run_network_file(std::move(json), net_options(options)) : run_layer(json, options);
}

}  // namespace dlasim
