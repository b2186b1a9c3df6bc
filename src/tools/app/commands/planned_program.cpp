#include "app/commands/planned_program.h"

#include <fmt/format.h>

#include <filesystem>

#include "app/commands/onnx_run.h"
#include "app/tried_cut.h"
#include "base/error.h"
#include "config/description.h"
#include "config/descriptor.h"
#include "config/file_kind.h"
#include "config/machine/hardware.h"
#include "config/machine/memory.h"
#include "config/network_reader.h"
#include "jobs/job_host.h"
#include "loadable/reference/loadable_host.h"
#include "network/network_host.h"

namespace dlasim {
namespace {

namespace fs = std::filesystem;
using Use = std::function<void(const PlannedProgram& program)>;

void plan_loadable(const ProgramOptions& options, const Use& use)
{
    const loadable::LoadablePlan plan = plan_of(options.what);
    loadable::LoadableHost host(plan, true, false);
    use({plan, host, fs::path(plan.loadable->file).stem().string(), plan.written});
}

void plan_layer(const ProgramOptions& options, const Json& json, const Use& use)
{
    const std::string& file = options.what.loadable;
    const Hardware hardware = load_hardware(options.what.hardware, options.what.settings);
    Descriptor descriptor = descriptor_from_json(json, file, "", fs::path(file).parent_path().string());
    if (options.what.seeded) set_seed(descriptor, options.what.seed);
    const MemorySpec memory = parse_memory(options.what.memory);
    try_cuts(descriptor, hardware, memory);
    const Job job = job_of(descriptor, hardware, memory);
    JobHost host(job, true);
    use({job, host, job.name, {}});
}

/// `source`: of a model, whose tensors do not come by seed.
void plan_network_of(const ProgramOptions& options, const Network& network, const Use& use, const ImageSource* source = nullptr)
{
    const Hardware hardware = load_hardware(options.what.hardware, options.what.settings);
    NetworkPlan plan = plan_network(network, hardware, parse_memory(options.what.memory), {.seed = options.what.seed, .values = true});
    NetworkHost host(plan, true, false, source);
    use({plan, host, network.name, {}});
}

/// An image of a model: a trace has no host that brings the next one.
void plan_model(const ProgramOptions& options, const Use& use)
{
    OnnxRun onnx(model_options_of(options));
    if (onnx.images() != 1)
        throw ConfigError("--input", fmt::format("found {} images, expected one; --calibrate takes any number", onnx.images()));
    const ImageSource source{[&](std::size_t image) { return onnx.inputs(image); }, {}};
    plan_network_of(options, onnx.network(), use, &source);
}

}  // namespace

NetOptions model_options_of(const ProgramOptions& options)
{
    NetOptions model;
    model.network = options.what.loadable;
    model.input = options.what.inputs;
    model.calibrate = options.calibrate;
    model.calibration = options.calibration;
    model.preprocess = options.preprocess;
    model.bias_correction = options.bias_correction;
    model.precision = options.precision;
    model.seed = options.what.seed;
    return model;
}

/// A JSON file has layers if it is a network.
void with_program(const ProgramOptions& options, const std::function<void(const PlannedProgram& program)>& use)
{
    const std::string& file = options.what.loadable;
    const LoadableOptions& what = options.what;
    if (!is_onnx(file) && (options.of_models() || !options.precision.empty()))
        throw ConfigError(file, "is no ONNX model, expected no --calibrate, --bias-correction, --preprocess or --precision");
    if (!is_onnx(file) && !is_description(file)) return plan_loadable(options, use);
    if (what.form != "auto" || what.mode != "overlap" || what.chains != UINT32_MAX || (!what.inputs.empty() && !is_onnx(file)))
        throw ConfigError(file, "is no file of the NVDLA compiler, expected no --input, --input-form, --mode or --chains");
    if (is_onnx(file)) return plan_model(options, use);
    const Json json = read_description(file);
    if (kind_of(json) == FileKind::Network) return plan_network_of(options, network_from_json(json, file), use);
    expect_kind(json, file, FileKind::Layer);
    plan_layer(options, json, use);
}

}  // namespace dlasim
