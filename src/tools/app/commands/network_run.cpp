#include <optional>

#include "app/apart.h"
#include "app/commands/kinds_of_runs.h"
#include "app/commands/onnx_run.h"
#include "app/execution.h"
#include "app/file_names.h"
#include "app/interrupt.h"
#include "app/status.h"
#include "base/error.h"
#include "base/files/console.h"
#include "base/files/output_folder.h"
#include "config/network_reader.h"
#include "report/network/network_result.h"
#include "report/network/network_steps.h"

namespace dlasim {
namespace {

constexpr std::uint64_t kHeader = 128;  // bytes of a NumPy file, more than any shape needs
constexpr const char* kTable = "layers.csv";
constexpr const char *kTensors = "tensors", *kSteps = "steps";  // folders, with --tensors and --steps

/// The files of a run beside result.json, opened before it starts.
struct NetFiles : RunFiles {
    /// `places`: what the network gives, the first one in kTensorFile.
    NetFiles(const RunOptions& options, const std::vector<OutputPlace>& places) : RunFiles(options)
    {
        table = &folder->file(kTable);
        if (!options.values) return;
        if (options.tensors) folder->subfolder(kTensors);
        if (options.steps) folder->subfolder(kSteps);
        if (!options.output) return;
        for (const OutputPlace& place : places) tensors.push_back(&folder->file(place.file, kHeader + place.bytes));
    }
    OutputFile* table = nullptr;
    std::vector<OutputFile*> tensors;  // by place; none if they are not written

    void add(const char* subfolder, const std::string& name, const std::string& contents)
    {
        folder->file(std::string(subfolder) + "/" + name).finish(contents);
    }
};

void write_tensors(const NetworkPlan& plan, const std::vector<Tensor>& tensors, NetFiles& files)
{
    FileNames names;
    for (std::size_t t = 0; t < plan.layouts.size(); ++t)
        if (plan.exists(t)) files.add(kTensors, names.of(plan.steps.tensors[t].name), npy_file(tensors[t], plan.network.precision));
}

void write_tensors(const std::vector<std::pair<std::string, std::string>>& tensors, NetFiles& files)
{
    FileNames names;
    for (const auto& [name, contents] : tensors) files.add(kTensors, names.of(name), contents);
}

/// Hazards get the names of their steps.
void name_hazards(const NetworkPlan& plan, RunResult& run)
{
    if (!run.hazards) return;
    for (Hazard& hazard : run.hazards->list)
        for (HazardAccess* access : {&hazard.before, &hazard.after})
            if (const auto step = plan.marks.step_of(access->entry); step && access->operation != 0)
                access->name = plan.steps.list[*step].name;
}

/// Values of a run: outputs, and what else was asked for. `onnx`: the images of a model, null where the tensors come by seed.
void write_values(const NetworkPlan& plan, const NetworkHost& host, const RunOptions& options, const OnnxRun* onnx, NetFiles& files)
{
    for (std::size_t output = 0; output < files.tensors.size(); ++output)
        files.tensors[output]->finish(onnx ? onnx->output_file(output) : npy_file(host.output(), plan.network.precision));
    if (options.tensors && options.values) {
        if (onnx) write_tensors(onnx->tensor_files(), files);
        else write_tensors(plan, host.tensors(), files);
    }
    if (onnx && options.steps)
        write_steps(plan, onnx->first(), [&](const std::string& name, const std::string& contents) { files.add(kSteps, name, contents); });
}

/// Of the last layer, as the file of the user's has it; empty without one.
Tensor expected_tensor(const Network& network)
{
    if (network.expected.empty()) return {};
    const NetworkTensor& shape = network.tensors[network.layers.back().output];
    return load_cube(network.precision, {shape.width, shape.height, shape.channels}, network.expected, network.expected_where, 0);
}

}  // namespace

int run(PlannedNetwork& planned, const RunOptions& options)
{
    NetworkPlan& plan = planned.plan;
    const Network& network = plan.network;
    OnnxRun* const onnx = planned.model.get();
    if (plan.together > 1 && !network.expected.empty())
        throw ConfigError("--images", "found with a network with an expected tensor, expected one image");
    NetFiles files(options, onnx ? onnx->output_places()
                                 : std::vector{OutputPlace{kTensorFile, network.tensors[network.layers.back().output].elements() *
                                                                            network.element_bytes() * plan.together}});
    std::optional<StandaloneSteps> apart;
    if (options.apart) apart.emplace(plan);
    const Tensor expected = expected_tensor(network);
    NetworkHost& host = planned.host();
    return execute(plan, host, options, files, [&](RunResult& run) -> CommandReport {
        name_hazards(plan, run);
        const std::optional<ImagesResult> images = onnx ? std::optional(onnx->result(!files.tensors.empty())) : std::nullopt;
        std::optional<Difference> difference;
        if (!expected.empty() && options.values)
            difference = dlasim::difference(host.output(), expected, network.precision,
                                            network.tolerance.any() ? network.tolerance : options.tolerance, network.expected);
        const NetworkResult result{plan,
                                   run,
                                   host.findings(),
                                   files.tensors.empty() ? "" : kTensorFile,
                                   apart ? apart->cycles() : std::vector<std::int64_t>{},
                                   images ? &*images : nullptr,
                                   difference ? &*difference : nullptr,
                                   options.host_ns,
                                   options.search ? &*options.search : nullptr};
        if (difference && !difference->equal())
            say_error("{}: {}{}\n", printable(plan.name), printable(difference_text(*difference)),
                      result.verified() ? "; dlasim's own reference agrees with the machine" : "");
        if (files.diff) files.diff->finish(difference_file(*difference, {expected.n, expected.c, expected.h, expected.w}));
        files.table->finish(network_csv(result));
        write_values(plan, host, options, onnx, files);
        std::vector<Span> spans;
        for (std::size_t s = 0; s < result.times.size(); ++s)
            spans.push_back({plan.steps.list[s].name, result.times[s].start, result.times[s].done});
        return {.result = network_result_json(result),
                .table = network_table(result),
                .right = result.verified() && (!difference || difference->equal()),
                .runs = SIZE_MAX,
                .spans = std::move(spans)};
    });
}

int show(const PlannedNetwork& planned, const RunOptions& options)
{
    const NetworkPlan& plan = planned.plan;
    if (options.has_out) {
        make_folder(options.out);
        OrderedJson json = plan_of(plan.network);
        if (options.search && !options.search->kept.empty()) json["optimised"] = kept_json(*options.search);
        OutputFile(std::filesystem::path(options.out) / "plan.json").commit(json_file_text(json, 2));
    }
    if (!options.quiet) say("{}", network_plan_table(plan));
    return interrupted() ? kInterrupted : kDone;
}

}  // namespace dlasim
