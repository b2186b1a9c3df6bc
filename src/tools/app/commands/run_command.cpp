#include "app/commands/run_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <thread>

#include "app/commands/kinds_of_runs.h"
#include "app/commands/onnx_run.h"
#include "app/execution.h"
#include "app/interrupt.h"
#include "app/optimise/optimise.h"
#include "app/tried_cut.h"
#include "base/error.h"
#include "base/files/console.h"
#include "base/files/output.h"
#include "sweep/sweep_file.h"

namespace dlasim {
namespace {

// Sets of kinds of work, by their place in it.
constexpr unsigned kLayer = 1, kNetwork = 2, kModel = 4, kFile = 8, kRecording = 16, kAll = 31;

struct OptionOf {
    const char* option;
    bool given;
    unsigned kinds;
};

void refuse(const AnyWork& work, std::initializer_list<OptionOf> options)
{
    for (const OptionOf& option : options) {
        if (!option.given || (option.kinds >> work.index() & 1) != 0) continue;
        const auto first = static_cast<std::size_t>(std::countr_zero(option.kinds));
        throw ConfigError(option.option, fmt::format("found with {}, expected {}", kind_name(work.index()), kind_name(first)));
    }
}

void refuse_options_of_runs(const AnyWork& work, const RunOptions& options)
{
    refuse(work, {{"--layers", options.apart, kNetwork | kModel},
                  {"--optimise", options.optimise != 0, kNetwork | kModel},
                  {"--cpu", !options.cpu.empty(), kFile},
                  {"--check-dram", options.check_dram, kLayer | kFile | kRecording}});
    if (!options.diff.empty() && !has_expected(work))
        throw ConfigError("--diff", fmt::format("found with {} without an expected tensor, expected {}", kind_name(work.index()),
                                                work.index() == 0 ? "\"data\": {\"expected\": FILE}" : "\"expected\": FILE"));
}

void use_planners(PlanOptions& options)
{
    options.choose = [](Descriptor& descriptor, const Source& source) { try_cuts(descriptor, source.hardware, source.memory); };
    options.model_planner = plan_model;
}

/// In the folder of the results; with --plan there is one if it was named.
std::optional<std::filesystem::path> store_of(const RunOptions& options)
{
    if (options.outline && !options.has_out) return std::nullopt;
    make_folder(options.out);
    return std::filesystem::path(options.out) / "optimise.db";
}

/// With --optimise: another network, of better decisions.
void improve(Network& network, const Source& source, const NetworkOptions& planning, RunOptions& options)
{
    const auto technology = options.silicon ? options.silicon : technology_of(options);
    options.search = optimise(network, source.hardware, source.memory, planning,
                              {.seconds = options.optimise,
                               .jobs = options.jobs != 0 ? options.jobs : std::max(1U, std::thread::hardware_concurrency()),
                               .best = options.best,
                               .require = options.require,
                               .technology = *technology,
                               .host_ns = options.host_ns,
                               .store = store_of(options)});
    if (!options.quiet) say("{}", search_text(*options.search));
}

}  // namespace

void refuse_options(const AnyWork& work, const PlanOptions& options)
{
    const OnnxWork& model = options.model;
    const LoadableWork usual, &file = options.loadable;
    refuse(work, {{"--input", !model.input.empty(), kModel | kFile},
                  {"--calibrate", !model.calibrate.empty(), kModel},
                  {"--calibration", !model.calibration.empty(), kModel},
                  {"--bias-correction", model.bias_correction, kModel},
                  {"--preprocess", !model.preprocess.empty(), kModel},
                  {"--labels", !model.labels.empty(), kModel},
                  {"--shape", !model.shapes.empty(), kModel},
                  {"--steps", options.steps, kModel},
                  {"--accuracy-by-step", options.by_step, kModel},
                  {"--precision", !model.precision.empty(), kNetwork | kModel},
                  {"--tensors", options.tensors, kNetwork | kModel},
                  {"--images", options.network.together > 1, kNetwork},
                  {"--no-pixels", !options.network.pixels, kNetwork | kModel},
                  {"--no-cvsram", !options.network.cvsram, kNetwork | kModel},
                  {"--from-plan", !options.from_plan.empty(), kNetwork | kModel},
                  {"--keep-tensors", options.network.keep_tensors, kNetwork | kModel},
                  {"--input-form", file.form != usual.form, kFile},
                  {"--mode", file.mode != usual.mode, kFile},
                  {"--chains", file.chains != usual.chains, kFile},
                  {"--manifest", !file.manifest.empty(), kFile},
                  {"--no-verify", !options.verify, kFile},
                  {"--set", !options.settings.empty(), kAll & ~kRecording}});
}

Source read_program(PlanOptions& options)
{
    use_planners(options);
    Source source = read_source(options);
    refuse_options(source.work, options);
    return source;
}

int run_source(const Source& source, RunOptions options)
{
    watch_for_interrupt();  // before the first file
    refuse_options(source.work, options);
    refuse_options_of_runs(source.work, options);
    if (options.check_dram && source.memory.kind == "ideal")
        throw ConfigError("--check-dram", "found the ideal memory, which has no commands, expected a DRAM (--memory)");
    use_planners(options);
    if (options.optimise != 0)
        options.improve = [&](Network& network, const Source& of, const NetworkOptions& planning) {
            improve(network, of, planning, options);
        };
    if (!options.host_ns) options.host_ns = source.host_ns;
    if (options.out.empty() && !std::holds_alternative<RecordedWork>(source.work)) options.out = RunOptions().out;
    options.network.explicit_cuts = options.outline;
    return with_planned(source, options,
                        [&](const auto& planned) { return options.outline ? show(*planned, options) : run(*planned, options); });
}

int run_command(const RunOptions& options)
{
    if (options.check) return check_file(options);
    RunOptions how = options;
    return run_source(options.point ? named_point(options.file, *options.point) : read_program(how), how);
}

}  // namespace dlasim
