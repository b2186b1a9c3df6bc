#include "app/program_commands.h"

#include <memory>

#include "app/commands/export_command.h"
#include "app/commands/lint_command.h"
#include "app/option_types.h"
#include "facts/presets.h"
#include "onnx/ranges.h"

namespace dlasim {

void add_bias_correction(CLI::App& app, bool& bias_correction)
{
    app.add_flag("--bias-correction", bias_correction,
                 "of an ONNX model in int8: biases of convolutions compensate the mean error of rounding over the calibration images");
}

void add_preprocess(CLI::App& app, std::vector<std::string>& texts)
{
    app.add_option("--preprocess", texts,
                   "of pictures for an ONNX model, KEY=VALUE: resize=N or WxH, crop=N or WxH, colours=rgb, bgr or grey, mean=, norm=")
        ->allow_extra_args(false);
}

void add_calibration(CLI::App& app, std::string& calibration)
{
    app.add_option("--calibration", calibration,
                   "of an ONNX model: the magnitude that 127 represents: max, percentile (99.99 %), mse or entropy")
        ->default_str("max")
        ->check(one_of({kCalibrationNames.begin(), kCalibrationNames.end()}));
}

void add_machine_options(CLI::App& app, PlanOptions& options, const char* hardware, const char* set)
{
    app.add_option("--hw", options.hardware, hardware)->default_str(kDefaultHardware);
    app.add_option("--memory", options.memory, "ideal:latency=32,interval=1,write_latency=8, a DRAM preset or the file of a memory")
        ->default_str("ideal");
    app.add_option("--set", options.settings, set)->allow_extra_args(false);
}

void add_loadable_options(CLI::App& app, PlanOptions& options)
{
    LoadableWork& file = options.loadable;
    options.assumed = FileKind::Loadable;
    add_machine_options(app, options, "hardware preset or file: the one it was compiled for",
                        "PATH=VALUE changes a size of the hardware, for example clock_mhz=800");
    app.add_option("--input", options.model.input, "values of an input: NumPy, or bytes; default: generated from --seed")
        ->allow_extra_args(false);
    app.add_option("--input-form", file.form, "content of an input that is no .npy")
        ->capture_default_str()
        ->check(one_of({std::begin(loadable::kInputForms), std::end(loadable::kInputForms)}));
    app.add_option("--seed", options.seed, "seed of inputs without a file")->default_str("1")->check(whole(0, UINT32_MAX));
    app.add_option("--mode", file.mode, "order of the register writes")
        ->capture_default_str()
        ->check(one_of({loadable::kModeNames.begin(), loadable::kModeNames.end()}));
    app.add_option("--chains", file.chains, "stop after this many chains of operations")->check(whole(1, UINT32_MAX));
}

Command add_export(CLI::App& app)
{
    const auto options = std::make_shared<ExportOptions>();
    ExportOptions& exported = *options;
    CLI::App* command = app.add_subcommand(
        "export",
        "export the program as a case, a trace of the public players, a C header or a file for NVIDIA's driver, docs/LOADABLE.md");
    command->add_option("FILE", exported.file, "a layer or a network (JSON), an ONNX model, or a file of the NVDLA compiler")->required();
    command->add_option("--form", exported.form, "format of the output")
        ->capture_default_str()
        ->check(one_of({kExportForms.begin(), kExportForms.end()}));
    command->add_option("--to", exported.to, "the file of a case, a header or NVIDIA's driver, the folder of a trace")->required();
    command->add_option("--golden", exported.golden, "of --form nvdla: write inputs and expected outputs to this folder");
    add_loadable_options(*command, exported);
    command->add_option("--calibrate", exported.model.calibrate, "of an ONNX model: calibration images")->allow_extra_args(false);
    add_calibration(*command, exported.model.calibration);
    add_bias_correction(*command, exported.model.bias_correction);
    add_preprocess(*command, exported.model.preprocess);
    command->add_option("--precision", exported.model.precision, "of an ONNX model, or a network with --form nvdla: int8 or fp16 (nv_full)")
        ->check(one_of({"int8", "fp16"}));
    command->add_flag("--quiet", exported.quiet, "print only errors");
    return {command, [=](const std::string&) { return export_command(*options); }};
}

Command add_lint(CLI::App& app)
{
    const auto options = std::make_shared<LintOptions>();
    LintOptions& linted = *options;
    CLI::App* command = app.add_subcommand(
        "lint", "check a register program against the programming rules of the hardware, without running it, docs/PROGRAMS.md");
    command
        ->add_option("PROGRAM", linted.file,
                     "a measured case, a trace, a layer or a network (JSON), an ONNX model, or a file of the NVDLA compiler")
        ->required();
    add_loadable_options(*command, linted);
    command->get_option("--hw")->default_str("the program's, or nv_full");
    command->add_option("--calibrate", linted.model.calibrate, "of an ONNX model: calibration images")->allow_extra_args(false);
    add_preprocess(*command, linted.model.preprocess);
    command->add_option("--precision", linted.model.precision, "of an ONNX model: int8 or fp16 (nv_full)")->check(one_of({"int8", "fp16"}));
    command->add_flag("--json", linted.json, "print JSON instead of text");
    command->add_flag("--quiet", linted.quiet, "print only broken rules and errors");
    return {command, [=](const std::string&) { return lint_command(*options); }};
}

}  // namespace dlasim
