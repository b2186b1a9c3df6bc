#include "app/nvdla/driver_export.h"

#include <fmt/format.h>

#include <filesystem>

#include "app/commands/onnx_run.h"
#include "app/interrupt.h"
#include "app/nvdla/driver_files.h"
#include "app/nvdla/driver_manifest.h"
#include "app/status.h"
#include "app/tried_cut.h"
#include "base/error.h"
#include "base/files/console.h"
#include "base/files/output.h"
#include "config/description.h"
#include "config/descriptor.h"
#include "config/file_kind.h"
#include "config/machine/hardware.h"
#include "config/machine/memory.h"
#include "config/network_reader.h"
#include "config/warning.h"
#include "loadable/nvidia/check.h"
#include "replay/events.h"

namespace dlasim {
namespace {

namespace fs = std::filesystem;

DriverFiles network_driver_files(const ExportOptions& options, const Network& network, const std::string& name,
                                 const ImageSource* source = nullptr)
{
    const Hardware hardware = driver_machine(load_hardware(options.what.hardware, options.what.settings));
    NetworkPlan plan = plan_network(network, hardware, parse_memory(options.what.memory), driver_network_options(options.what.seed));
    return driver_files(plan, name, source, !options.golden.empty());
}

/// Of a file of the compiler, which is written as it is.
void check_compiled(const ExportOptions& options)
{
    const LoadableOptions& what = options.what;
    const bool run = !what.inputs.empty() || what.form != "auto" || what.mode != "overlap" || what.chains != UINT32_MAX;
    if (run || options.of_models() || !options.precision.empty() || !options.golden.empty())
        throw ConfigError(what.loadable,
                          "is a file of the NVDLA compiler and is written as it is, expected no options of a run or a model");
}

/// Options that say nothing here are refused, not forgotten.
void check_options(const ExportOptions& options)
{
    const LoadableOptions& what = options.what;
    const bool onnx = is_onnx(what.loadable);
    if (!onnx && !is_description(what.loadable)) return check_compiled(options);
    if (what.form != "auto" || what.mode != "overlap" || what.chains != UINT32_MAX)
        throw ConfigError(what.loadable, "is no file of the NVDLA compiler, expected no --input-form, --mode or --chains");
    if (!onnx && !what.inputs.empty()) throw ConfigError(what.loadable, "is no ONNX model, expected no --input");
    if (!onnx && options.of_models())
        throw ConfigError(what.loadable, "is no ONNX model, expected no --calibrate, --calibration, --bias-correction or --preprocess");
}

/// Outputs as the model has them, with the steps that it ends with.
void add_outputs(DriverFiles& files, const OnnxRun& onnx)
{
    files.manifest["outputs"] = OrderedJson::array();
    for (const ModelOutput& output : onnx.outputs()) {
        files.manifest["outputs"].push_back(output.name);
        add_trailing(files.manifest, output);
        if (!output.steps.empty() && !files.values.empty())
            files.golden.push_back({golden_file_name(output.name), onnx.real_file(output, files.values[output.tensor].value())});
    }
}

DriverFiles driver_files_of(const ExportOptions& options, const std::string& name)
{
    const std::string& file = options.what.loadable;
    if (is_onnx(file)) {
        OnnxRun onnx(model_options_of(options));
        if (onnx.random_scales()) warn(file + ": its int8 scales follow from one random image, expected images of --calibrate or --input");
        const ImageSource source{[&](std::size_t image) { return onnx.inputs(image); }, {}};
        DriverFiles files = network_driver_files(options, onnx.network(), name, &source);
        for (const auto& [input, channels] : onnx.pictures())
            files.manifest["preprocessing"].push_back(manifest_preprocessing(input, onnx.preprocessing(), channels));
        add_outputs(files, onnx);
        return files;
    }
    if (!is_description(file)) return driver_files(plan_of(options.what), name);
    Json json = read_description(file);
    const bool network = kind_of(json) == FileKind::Network;
    if (!network && !options.precision.empty()) throw ConfigError(file, "is a layer, expected no --precision: it is a key of the file");
    if (network && !options.precision.empty()) json["precision"] = options.precision;
    if (network) return network_driver_files(options, network_from_json(json, file), name);
    expect_kind(json, file, FileKind::Layer);
    Descriptor descriptor = descriptor_from_json(json, file, "", fs::path(file).parent_path().string());
    if (options.what.seeded) set_seed(descriptor, options.what.seed);
    const Hardware hardware = driver_machine(load_hardware(options.what.hardware, options.what.settings));
    try_cuts(descriptor, hardware, parse_memory(options.what.memory));
    const Layer* layer = std::get_if<Layer>(&descriptor);
    if (!layer) throw ConfigError(file, "is a copy or reshape, expected a layer, a network or a model");
    return driver_files(*layer, hardware, name);
}

/// What NVIDIA's software would not run is not written.
void check_written(const ExportOptions& options, const DriverFiles& made, const std::string& name)
{
    const Hardware hardware = load_hardware(options.what.hardware, options.what.settings);
    for (std::size_t i = 0; i < made.files.size(); ++i) {
        const std::string file = driver_file_name(name, i, made.files.size());
        for (const loadable::Finding& finding : loadable::check_for_driver(made.files[i], file, hardware))
            if (finding.refused)
                throw ConfigError(fmt::format("{}: {}: {}", options.what.loadable, file, finding.place),
                                  finding.problem + "; NVIDIA's software would not run the file");
    }
}

}  // namespace

int export_driver_files(const ExportOptions& options)
{
    const fs::path to(options.to);
    if (to.extension() != ".nvdla")
        throw ConfigError("--to", "found \"" + printable(options.to) + "\", expected a name that ends with .nvdla");
    check_options(options);
    const std::string name = to.stem().string();
    const DriverFiles made = driver_files_of(options, name);
    check_written(options, made, name);
    if (interrupted()) return kInterrupted;
    std::vector<std::unique_ptr<OutputFile>> files;
    const auto add = [&](const fs::path& path, std::string_view contents) {
        files.push_back(std::make_unique<OutputFile>(path));
        files.back()->finish(contents);
    };
    for (std::size_t i = 0; i < made.files.size(); ++i) add(to.parent_path() / driver_file_name(name, i, made.files.size()), made.files[i]);
    add(to.parent_path() / (name + ".json"), json_file_text(made.manifest, 2));
    if (!options.golden.empty()) make_folder(options.golden);
    for (std::size_t i = 0; i < made.golden.size() && !options.golden.empty(); ++i)
        add(fs::path(options.golden) / made.golden[i].file, made.golden[i].npy);
    for (const std::unique_ptr<OutputFile>& file : files) file->commit();
    if (!options.what.quiet)
        say("written {}: {} file{} of the driver, {} operations\n", printable(options.to), made.files.size(),
            made.files.size() == 1 ? "" : "s", made.operations);
    return kDone;
}

}  // namespace dlasim
