#include "app/commands/net_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <thread>

#include "app/apart.h"
#include "app/commands/onnx_run.h"
#include "app/commands/run_command.h"
#include "app/execution.h"
#include "app/file_names.h"
#include "app/interrupt.h"
#include "app/optimise.h"
#include "app/status.h"
#include "base/error.h"
#include "base/files/console.h"
#include "base/files/output_folder.h"
#include "config/description.h"
#include "config/file_kind.h"
#include "config/machine/hardware.h"
#include "config/machine/memory.h"
#include "config/network_reader.h"
#include "network/network_host.h"
#include "report/network/network_result.h"
#include "report/network/network_steps.h"
#include "sweep/sweep_file.h"

namespace dlasim {
namespace {

constexpr std::uint64_t kHeader = 128;  // bytes of a NumPy file, more than any shape needs
constexpr const char* kTable = "layers.csv";
constexpr const char *kTensors = "tensors", *kSteps = "steps";  // folders, with --tensors and --steps

/// The files of a run beside result.json, opened before it starts.
struct NetFiles : RunFiles {
    /// `places`: what the network gives, the first one in kTensorFile.
    NetFiles(const NetOptions& options, const std::vector<OutputPlace>& places) : RunFiles(options)
    {
        table = &folder->file(kTable);
        if (options.timing_only) return;
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
void write_values(const NetworkPlan& plan, const NetworkHost& host, const NetOptions& options, const OnnxRun* onnx, NetFiles& files)
{
    for (std::size_t output = 0; output < files.tensors.size(); ++output)
        files.tensors[output]->finish(onnx ? onnx->output_file(output) : npy_file(host.output(), plan.network.precision));
    if (options.tensors && !options.timing_only) {
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

/// What decides how a network is planned, but for the images of a model.
NetworkOptions planning_of(const NetOptions& options)
{
    return {.seed = options.seed,
            .values = !options.timing_only && !options.plan,
            .together = options.images,
            .keep_tensors = options.keep,
            .pixels = options.pixels,
            .cvsram = options.cvsram};
}

/// The network, or with --optimise one of better decisions.
class Tiled {
public:
    Tiled(const Network& network, const Hardware& hardware, const MemorySpec& memory, const NetOptions& options) : network_(network)
    {
        if (options.optimise == 0) return;
        watch_for_interrupt();  // one ends the search; what is found is kept
        better_ = network;
        found_ = optimise(*better_, hardware, memory, planning_of(options), options.optimise,
                          options.jobs != 0 ? options.jobs : std::max(1U, std::thread::hardware_concurrency()));
        if (!options.quiet) say("{}", optimised_text(found_));
    }
    const Network& network() const { return better_ ? *better_ : network_; }
    const Optimised& found() const { return found_; }

private:
    const Network& network_;
    std::optional<Network> better_;
    Optimised found_;
};

int run_planned(const Network& asked, const Hardware& hardware, const MemorySpec& memory, const NetOptions& options, OnnxRun* onnx)
{
    watch_for_interrupt();  // before the first file
    if (options.images > 1 && (onnx || !asked.expected.empty()))
        throw ConfigError("--images", onnx ? "found with an ONNX model, expected its images by --input"
                                           : "found with a network with an expected tensor, expected one image");
    if (!options.diff.empty() && asked.expected.empty())
        throw ConfigError("--diff", "found with a network without an expected tensor, expected \"expected\": FILE");
    const Tiled tiled(asked, hardware, memory, options);
    const Network& network = tiled.network();
    NetFiles files(options, onnx ? onnx->output_places()
                                 : std::vector{OutputPlace{kTensorFile, network.tensors[network.layers.back().output].elements() *
                                                                            network.element_bytes() * options.images}});
    NetworkOptions planning = planning_of(options);
    planning.images = onnx ? onnx->images() : 1;
    NetworkPlan plan = plan_network(network, hardware, memory, planning);
    std::optional<StandaloneSteps> apart;
    if (options.apart) apart.emplace(plan);
    const std::optional<ImageSource> source = onnx ? std::optional(onnx->source(plan)) : std::nullopt;
    const Tensor expected = expected_tensor(network);
    NetworkHost host(plan, !options.timing_only, options.tensors, source ? &*source : nullptr);
    return execute(plan, host, options, files, [&](RunResult& run) -> CommandReport {
        name_hazards(plan, run);
        const std::optional<ImagesResult> images = onnx ? std::optional(onnx->result(!files.tensors.empty())) : std::nullopt;
        std::optional<Difference> difference;
        if (!expected.empty() && !options.timing_only)
            difference = dlasim::difference(host.output(), expected, network.precision,
                                            network.tolerance.any() ? network.tolerance : options.tolerance, network.expected);
        const NetworkResult result{plan,
                                   run,
                                   host.findings(),
                                   files.tensors.empty() ? "" : kTensorFile,
                                   apart ? apart->cycles() : std::vector<std::int64_t>{},
                                   images ? &*images : nullptr,
                                   difference ? &*difference : nullptr,
                                   options.host_ns};
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

/// --precision overrides the key of the file.
Network network_of(Json json, const NetOptions& options)
{
    expect_kind(json, options.network, FileKind::Network);
    if (!options.precision.empty() && json.is_object()) json["precision"] = options.precision;
    return network_from_json(json, options.network);
}

/// The plan; plan.json is the network with all partitions and decisions.
int show_plan(const Network& asked, const Hardware& hardware, const MemorySpec& memory, const NetOptions& options)
{
    if (options.has_out && is_onnx(options.network))
        throw ConfigError("--out", "found with --plan of a model, whose numbers no plan.json holds, expected --plan alone");
    const Tiled tiled(asked, hardware, memory, options);
    NetworkOptions planning = planning_of(options);
    planning.explicit_cuts = true;
    const NetworkPlan plan = plan_network(tiled.network(), hardware, memory, planning);
    if (options.has_out) {
        make_folder(options.out);
        OrderedJson json = network_json(plan.network);
        if (!tiled.found().kept.empty()) json["optimised"] = optimised_json(tiled.found());
        OutputFile(std::filesystem::path(options.out) / "plan.json").commit(json_file_text(json, 2));
    }
    if (!options.quiet) say("{}", network_plan_table(plan));
    return interrupted() ? kInterrupted : kDone;
}

}  // namespace

int run_network(const Network& network, const Hardware& hardware, const MemorySpec& memory, const NetOptions& options)
{
    return run_planned(network, hardware, memory, options, nullptr);
}

NetOptions model_options(const OnnxWork& model, NetOptions options)
{
    options.network = model.file;
    options.input = model.input;
    options.calibrate = model.calibrate;
    options.calibration = model.calibration;
    options.preprocess = model.preprocess;
    options.bias_correction = model.bias_correction;
    options.labels = model.labels;
    options.shapes = model.shapes;
    options.most_images = model.most_images;
    options.precision = model.precision;
    return options;
}

int run_model(const Hardware& hardware, const MemorySpec& memory, const NetOptions& options)
{
    OnnxRun onnx(options);
    return run_planned(onnx.network(), hardware, memory, options, &onnx);
}

namespace {

int run_or_plan(const Network& network, const Hardware& hardware, const MemorySpec& memory, const NetOptions& options)
{
    return options.plan ? show_plan(network, hardware, memory, options) : run_network(network, hardware, memory, options);
}

/// A model.
int run_or_plan(const NetOptions& options, const Hardware& hardware, const MemorySpec& memory)
{
    return options.plan ? show_plan(OnnxRun(options).network(), hardware, memory, options) : run_model(hardware, memory, options);
}

void refuse_options_of_models(const NetOptions& options, const char* what)
{
    if (!options.input.empty() || !options.calibrate.empty() || !options.calibration.empty() || !options.labels.empty() ||
        !options.shapes.empty() || !options.preprocess.empty() || options.bias_correction || options.steps || options.by_step)
        throw ConfigError(
            options.network,
            fmt::format(
                "is no {}, expected no --input, --calibrate, --labels, --shape, --steps or --accuracy-by-step: its tensors come by seed",
                what));
}

/// The file is no network.
RunOptions run_options(const NetOptions& options, const char* what)
{
    const std::pair<const char*, bool> of_networks[] = {{"--layers", options.apart},
                                                        {"--no-pixels", !options.pixels},
                                                        {"--images", options.images > 1},
                                                        {"--no-cvsram", !options.cvsram},
                                                        {"--keep-tensors", options.keep},
                                                        {"--tensors", options.tensors},
                                                        {"--precision", !options.precision.empty()}};
    for (const auto& [option, given] : of_networks)
        if (given) throw ConfigError(option, fmt::format("found with {}, expected a network", what));
    RunOptions run;
    static_cast<CommonOptions&>(run) = options;
    run.layer = options.network;
    run.has_seed = options.has_seed;
    run.seed = options.seed;
    return run;
}

}  // namespace

int run_network_file(Json json, const NetOptions& options)
{
    refuse_options_of_models(options, "ONNX model (FILE.onnx)");
    if (kind_of(json) == FileKind::Layer) return run_layer(json, run_options(options, "a layer"));
    const Hardware hardware = load_hardware(options.hardware, options.settings);
    const MemorySpec memory = parse_memory(options.memory);
    return run_or_plan(network_of(std::move(json), options), hardware, memory, options);
}

namespace {

int run_named_point(NetOptions options)
{
    const SweepPoint point = named_point(options.network, options.point);
    if (!options.host_ns) options.host_ns = point.host_ns;
    if (const OnnxWork* work = std::get_if<OnnxWork>(&point.work))
        return run_or_plan(model_options(*work, options), point.hardware, point.memory);
    const Network* network = std::get_if<Network>(&point.work);
    if (!network) throw ConfigError(options.network, "is a sweep of layers, expected dlasim run");
    refuse_options_of_models(options, "sweep of ONNX models");
    return run_or_plan(*network, point.hardware, point.memory, options);
}

}  // namespace

int net_command(const NetOptions& options)
{
    if (options.has_point) return run_named_point(options);
    if (is_loadable(options.network)) {
        refuse_options_of_models(options, "ONNX model (FILE.onnx)");
        return run_command(run_options(options, "a file of the NVDLA compiler"));
    }
    if (!is_onnx(options.network)) return run_network_file(read_description(options.network), options);
    const Hardware hardware = load_hardware(options.hardware, options.settings);
    return run_or_plan(options, hardware, parse_memory(options.memory));
}

}  // namespace dlasim
