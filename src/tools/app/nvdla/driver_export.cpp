#include "app/nvdla/driver_export.h"

#include <fmt/format.h>

#include <filesystem>

#include "app/commands/onnx_run.h"
#include "app/commands/run_command.h"
#include "app/interrupt.h"
#include "app/nvdla/driver_files.h"
#include "app/nvdla/driver_manifest.h"
#include "app/status.h"
#include "base/error.h"
#include "base/files/console.h"
#include "base/files/output.h"
#include "config/warning.h"
#include "loadable/nvidia/check.h"
#include "replay/events.h"

namespace dlasim {
namespace {

namespace fs = std::filesystem;

/// Of a file of the compiler, which is written as it is.
void check_compiled(const ExportOptions& options)
{
    if (!options.model.input.empty() || options.loadable.form != "auto" || options.loadable.mode != "overlap" ||
        options.loadable.chains != UINT32_MAX || !options.golden.empty())
        throw ConfigError(options.file, "is a file of the NVDLA compiler and is written as it is, expected no options of a run or a model");
}

/// Before it is planned. A layer is written from its outline.
void prepare(const Descriptor& descriptor, ExportOptions& options)
{
    options.outline = true;
    if (!std::holds_alternative<Layer>(descriptor))
        throw ConfigError(options.file, "is a copy or reshape, expected a layer, a network or a model");
}
void prepare(const LoadableWork&, const ExportOptions& options) { check_compiled(options); }
template <class Work>
void prepare(const Work&, const ExportOptions&)
{
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

DriverFiles files_of(PlannedLayer& planned, const ExportOptions&, const std::string& name)
{
    return driver_files(std::get<Layer>(planned.descriptor), planned.job.hardware, name);
}

DriverFiles files_of(PlannedNetwork& planned, const ExportOptions& options, const std::string& name)
{
    const OnnxRun* onnx = planned.model.get();
    if (onnx && onnx->random_scales())
        warn(options.file + ": its int8 scales follow from one random image, expected images of --calibrate or --input");
    DriverFiles files = driver_files(planned.plan, name, onnx ? &*planned.source : nullptr, !options.golden.empty());
    if (!onnx) return files;
    for (const auto& [input, channels] : onnx->pictures())
        files.manifest["preprocessing"].push_back(manifest_preprocessing(input, onnx->preprocessing(), channels));
    add_outputs(files, *onnx);
    return files;
}

DriverFiles files_of(PlannedFile& planned, const ExportOptions&, const std::string& name) { return driver_files(planned.plan, name); }

DriverFiles files_of(PlannedRecording&, const ExportOptions& options, const std::string&)
{
    throw ConfigError(options.file, "is a recorded program, expected a layer, a network, a model or a file of the NVDLA compiler");
}

/// What NVIDIA's software would not run is not written.
void check_written(const ExportOptions& options, const Hardware& hardware, const DriverFiles& made, const std::string& name)
{
    for (std::size_t i = 0; i < made.files.size(); ++i) {
        const std::string file = driver_file_name(name, i, made.files.size());
        for (const loadable::Finding& finding : loadable::check_for_driver(made.files[i], file, hardware))
            if (finding.refused)
                throw ConfigError(fmt::format("{}: {}: {}", options.file, file, finding.place),
                                  finding.problem + "; NVIDIA's software would not run the file");
    }
}

}  // namespace

int export_driver_files(ExportOptions options)
{
    const fs::path to(options.to);
    if (to.extension() != ".nvdla")
        throw ConfigError("--to", "found \"" + printable(options.to) + "\", expected a name that ends with .nvdla");
    const std::string name = to.stem().string();
    Source source = read_program(options);
    const Hardware hardware = source.hardware;
    if (!kind_of(source.work).compiled) source.hardware = driver_machine(hardware);
    options.network = driver_network_options();
    std::visit([&](const auto& work) { prepare(work, options); }, source.work);
    const DriverFiles made = with_planned(source, options, [&](const auto& planned) { return files_of(*planned, options, name); });
    check_written(options, hardware, made, name);
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
    if (!options.quiet)
        say("written {}: {} file{} of the driver, {} operations\n", printable(options.to), made.files.size(),
            made.files.size() == 1 ? "" : "s", made.operations);
    return kDone;
}

}  // namespace dlasim
