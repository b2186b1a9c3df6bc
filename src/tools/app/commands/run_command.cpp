#include "app/commands/run_command.h"

#include <fmt/format.h>

#include <filesystem>

#include "app/commands/loadable_command.h"
#include "app/commands/net_command.h"
#include "app/execution.h"
#include "app/file_names.h"
#include "app/interrupt.h"
#include "app/status.h"
#include "app/tried_cut.h"
#include "base/error.h"
#include "base/files/console.h"
#include "base/files/output_folder.h"
#include "config/description.h"
#include "config/file_kind.h"
#include "config/machine/hardware.h"
#include "config/machine/memory.h"
#include "jobs/job_host.h"
#include "report/difference_report.h"
#include "report/result.h"
#include "sweep/sweep_file.h"

namespace dlasim {
namespace {

constexpr std::uint64_t kNpyHeader = 128;  // bytes, more than any shape needs

/// On stderr, so that it is in the log of whoever runs many.
void say_differences(const std::string& name, const Result& result)
{
    const Comparison* golden = result.comparison();
    if (golden && !golden->equal())
        say_error("{}: {} of {} values differ from the golden ones; the first: {}\n", printable(name), golden->mismatches, golden->compared,
                  printable(golden->examples.empty() ? "" : golden->examples.front()));
    if (const Difference* expected = result.expected(); expected && !expected->equal())
        say_error("{}: {}{}\n", printable(name), printable(difference_text(*expected)),
                  golden && golden->equal() ? "; dlasim's own reference agrees with the machine" : "");
}

}  // namespace

int run_job(Descriptor descriptor, const Hardware& hardware, const MemorySpec& memory, const RunOptions& options,
            std::shared_ptr<const SharedLayer> shared)
{
    watch_for_interrupt();  // before the first file
    if (options.check_dram && memory.kind == "ideal")
        throw ConfigError("--check-dram", "found the ideal memory, which has no commands, expected a DRAM (--memory)");
    if (options.has_seed) set_seed(descriptor, options.seed);
    if (!options.diff.empty() && !has_expected(descriptor))
        throw ConfigError("--diff", "found with a layer without an expected tensor, expected \"data\": {\"expected\": FILE}");
    set_tolerance(descriptor, options.tolerance);
    try_cuts(descriptor, hardware, memory);
    const Job job = job_of(descriptor, hardware, memory, !options.timing_only, std::move(shared));
    RunFiles files(options);
    OutputFile* tensor = nullptr;
    if (job.tensor && options.tensors && !options.timing_only) tensor = &files.folder->file(kTensorFile, kNpyHeader + job.tensor->bytes);
    JobHost host(job, !options.timing_only);
    return execute(job, host, options, files, [&](const RunResult& run) -> CommandReport {
        const Result result{job, run, host.findings() ? &*host.findings() : nullptr, tensor ? kTensorFile : ""};
        say_differences(job.name, result);
        if (files.diff) {
            const Tensor& output = *host.findings()->output;
            files.diff->finish(difference_file(*result.expected(), {output.n, output.c, output.h, output.w}));
        }
        if (tensor) tensor->finish(npy_file(*host.findings()->output, job.tensor->precision));
        // Every run of every probe: what accounts for a layer's cycles must see all of them.
        return {.result = result_json(result), .table = summary_table(result), .right = result.right(), .runs = SIZE_MAX};
    });
}

int plan_job(Descriptor descriptor, const Hardware& hardware, const MemorySpec& memory, const RunOptions& options)
{
    if (options.has_seed) set_seed(descriptor, options.seed);
    try_cuts(descriptor, hardware, memory);
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

/// The file is of the NVDLA compiler.
LoadableOptions loadable_options(const RunOptions& options)
{
    if (options.plan) throw ConfigError("--plan", "found with a file of the NVDLA compiler, expected dlasim loadable --describe");
    if (options.seed > UINT32_MAX)
        throw ConfigError("--seed",
                          fmt::format("found {} with a file of the NVDLA compiler, expected at most {}", options.seed, UINT32_MAX));
    LoadableOptions file;
    static_cast<CommonOptions&>(file) = options;
    file.loadable = options.layer;
    file.seeded = options.has_seed;
    if (options.has_seed) file.seed = options.seed;
    file.tensors = options.tensors;
    return file;
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
    if (is_loadable(options.layer)) return loadable_command(loadable_options(options));
    Json json = read_description(options.layer);
    return kind_of(json) == FileKind::Network ? run_network_file(std::move(json), net_options(options)) : run_layer(json, options);
}

}  // namespace dlasim
