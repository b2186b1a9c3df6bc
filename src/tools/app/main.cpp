// dlasim: the command line; every exception ends here as a status.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <climits>
#include <functional>
#include <map>
#include <memory>
#include <sstream>
#include <systemc>
#include <tuple>

#include "app/commands/bound_command.h"
#include "app/commands/compare_command.h"
#include "app/commands/explain_command.h"
#include "app/commands/presets_command.h"
#include "app/commands/reference_command.h"
#include "app/commands/run_command.h"
#include "app/commands/silicon_command.h"
#include "app/commands/sweep_command.h"
#include "app/commands/test_command.h"
#include "app/execution.h"
#include "app/file_options.h"
#include "app/heap.h"
#include "app/kind_commands.h"
#include "app/manual.h"
#include "app/no_memory.h"
#include "app/option_types.h"
#include "app/program_commands.h"
#include "app/status.h"
#include "app/sweep/sweep_row.h"
#include "base/error.h"
#include "base/files/about/version.h"
#include "base/files/console.h"
#include "base/files/printable.h"
#include "config/machine/hardware.h"
#include "config/machine/memory.h"
#include "dram/command_line.h"
#include "facts/client.h"
#include "report/timeline/power_profile.h"

namespace dlasim {
namespace {

constexpr const char* kVersion = DLASIM_VERSION;
constexpr const char* kFooter =
    "exit status: 0 done and verified, 1 data mismatch, 2 bad input or usage or disk full, 3 the machine hung or broke a protocol, 130 "
    "interrupted\n"
    "of a sweep: the worst of its points, 3 before 1, then 2 if no point has a result, 4 if some points were rejected";

constexpr const char* kTimes = "print the CPU time of the run, and that of the simulation of the machine, to stderr";
constexpr const char* kScaleSim = "write COMPUTE_REPORT.csv and BANDWIDTH_REPORT.csv with SCALE-Sim's columns beside result.json";
constexpr const char* kReproducible = "omit times of this computer from result.json: equal bytes on every run and computer";
constexpr const char* kNoCauses = "skip the analysis of causes";
constexpr const char* kHazards = "find and report accesses to memory and to the convolution buffer that are out of order";

CLI::Option* hidden(CLI::Option* option) { return option->group(""); }

void add_diff_option(CLI::App& app, RunOptions& options)
{
    app.add_option("--diff", options.diff, "write the output minus the expected tensor to this file (NumPy), if there is one")
        ->excludes("--timing-only");
}

constexpr std::array kRecords{"--events", "--timeline", "--waves", "--html", "--pipeline", "--trace", "--accesses"};
/// Files that record what happened when.
void add_record_options(CLI::App& app, RunOptions& options)
{
    app.add_option(kRecords[0], options.events, "write the events of the run to this file: bus logs, all runs of all probes");
    app.add_option(kRecords[1], options.timeline, "write a timeline of the run to this file, for ui.perfetto.dev");
    app.add_option(kRecords[2], options.waves, "write the signals between the units to this file (VCD), and FILE.gtkw that groups them");
    app.add_option(kRecords[3], options.html, "write a page of the run to this file: where the cycles went, timeline, roofline, tables");
    app.add_option(kRecords[4], options.pipeline, "write the stripes through CSC, CMAC, CACC and SDP to this file, for Konata");
    app.add_option_function<std::string>(
           "--window", [&options](const std::string& text) { std::tie(options.shown.from, options.shown.to) = *window_of(text); },
           "of --timeline, --pipeline and --waves: only cycles FROM:TO after t0")
        ->check(window_option());
    app.add_option_function<std::string>(
           "--tracks", [&options](const std::string& text) { options.shown.tracks = *tracks_of(text); },
           fmt::format("of --timeline: {} or all, separated by commas; default: all but signals", fmt::join(kTimelineTracks, ", ")))
        ->check(tracks_option());
    app.add_option(kRecords[5], options.trace, "write bursts of the DMA clients to this file (CSV): cycle, port, client, address, bytes");
    app.add_option(kRecords[6], options.accesses, "write register accesses of software and edges of the interrupt pin to this file");
    app.add_option("--trace-client", options.trace_client, "of --trace: the bursts of this client only")
        ->check(one_of({kClientNames.begin(), kClientNames.end()}))
        ->needs("--trace");
}

/// For the page of a run.
void add_page_trials(CLI::App& app, RunOptions& options)
{
    app.add_option("--remedies", options.trials.remedies, "of --html: simulate up to this many fixes that follow from the causes")
        ->check(whole(1, 100))
        ->needs("--html");
    app.add_option("--slack", options.trials.slack, "of --html: sizes that can shrink for at most this percentage more time")
        ->check(number(0, 1000))
        ->needs("--html");
}

void add_silicon_options(CLI::App& app, RunOptions& options)
{
    app.add_option("--technology", options.technology,
                   "of area and energy: 45nm, 28nm, 16nm, 12nm, 7nm, 5nm or a file; default: 16nm, or that of the sweep");
    app.add_option("--power-window", options.power_window, "report power over time, in windows of this many cycles, and its peak")
        ->check(whole(kMinWindow, kMaxWindow));
}

void add_host_option(CLI::App& app, RunOptions& options)
{
    app.add_option("--host", options.host_ns, "nanoseconds of CPU fallback per element, which takes no cycles: included in frames/s")
        ->check(number(0, 1e9));
}

/// Other ways to the same result.
void add_time_options(CLI::App& app, RunOptions& options)
{
    hidden(app.add_flag("--stepping", options.stepping, "evaluate every unit in every cycle: slow, same result"));
    hidden(app.add_option("--sum-up-every", options.sum_up_every, "compact causes at this interval of cycles: same result"));
}

/// What all four have in common but for their file and its machine.
void add_shared_options(CLI::App& app, RunOptions& options)
{
    app.add_flag("--hazards", options.hazards, kHazards);
    app.add_flag("!--no-causes", options.causes, kNoCauses);
    app.add_flag("--quiet", options.quiet, "print only errors");
    app.add_flag("--times", options.times, kTimes);
    app.add_flag("--reproducible", options.reproducible, kReproducible);
    add_silicon_options(app, options);
    add_time_options(app, options);
}

/// What `run`, `net` and `loadable` have in common after their file.
void add_point_options(CLI::App& app, RunOptions& options)
{
    app.add_option("--point", options.point, "of a sweep: run this point alone")->check(whole(0, 999'999));
    app.add_option("--out", options.out, "output folder")->capture_default_str();
    add_record_options(app, options);
    app.add_flag("!--timing-only", options.values, "skip the arithmetic; nothing is verified");
    add_shared_options(app, options);
    app.get_option("--hazards")->excludes("--timing-only");
}

void point_excludes(CLI::App& app, std::initializer_list<const char*> options)
{
    for (const char* option : options) app.get_option("--point")->excludes(option);
}

/// Tries changes for the page of the run first, then runs it.
int run_with_trials(RunOptions options)
{
    const auto sections =
        tried_sections(options.trials, [&](const std::string& folder, const std::function<void(const nlohmann::ordered_json&)>& on_result) {
            RunOptions alone = options;
            for (std::string* file :
                 {&alone.events, &alone.timeline, &alone.waves, &alone.html, &alone.pipeline, &alone.trace, &alone.accesses, &alone.diff})
                file->clear();
            alone.out = folder;
            alone.quiet = true;
            alone.values = alone.hazards = alone.times = alone.scale_sim = alone.tensors = alone.steps = alone.by_step = false;
            alone.on_result = on_result;
            return run_command(alone);
        });
    if (!sections) {
        say_error("dlasim: interrupted, nothing written\n");
        return kInterrupted;
    }
    options.tried = *sections;
    return run_command(options);
}

Command running(CLI::App* command, const std::shared_ptr<RunOptions>& options)
{
    return {command, [=](const std::string& line) {
                options->command = line;
                options->has_out = command->count("--out") != 0;
                options->silicon = technology_of(*options);
                return run_with_trials(*options);
            }};
}

constexpr const char* kHardware = "hardware preset or file";
constexpr const char* kSet = "PATH=VALUE changes a size of the hardware, for example cbuf.banks=16";

Command add_run(CLI::App& app)
{
    const auto options = std::make_shared<RunOptions>();
    RunOptions& run = *options;
    CLI::App* command = app.add_subcommand("run", "run a layer and compare its output with the golden reference");
    command->add_option("LAYER", run.file, "layer or network (JSON), ONNX model, or a sweep with --point")->required();
    add_machine_options(*command, run, kHardware, kSet);
    add_point_options(*command, run);
    add_diff_option(*command, run);
    add_page_trials(*command, run);
    point_excludes(*command, {"--hw", "--memory", "--set"});
    command->add_option("--seed", run.seed, "seed of the tensors, instead of the descriptor's")->check(whole(0, INT64_MAX));
    CLI::Option* plan =
        command
            ->add_flag("--plan", run.outline, "print the plan - tiles, banks, bytes, bounds - without running; with --out write plan.json")
            ->excludes("--hazards");
    for (const char* record : kRecords) plan->excludes(record);
    command->add_flag("--check-dram", run.check_dram, "check every command of a DRAM against its constraint table")->excludes("--plan");
    command->add_flag("--scale-sim", run.scale_sim, kScaleSim)->excludes("--plan");
    command->add_flag("!--no-tensors", run.output, "do not write the output tensor, output.npy");
    return running(command, options);
}

Command add_net(CLI::App& app)
{
    const auto options = std::make_shared<RunOptions>();
    RunOptions& net = *options;
    net.assumed = FileKind::Network;
    CLI::App* command = app.add_subcommand("net", "run a network as one program and compare every tensor with its golden reference");
    command
        ->add_option("NETWORK", net.file,
                     "network (JSON), docs/NETWORK.md, ONNX model (FILE.onnx), docs/ONNX.md, layer, or a sweep with --point")
        ->required();
    add_machine_options(*command, net, kHardware, kSet);
    add_point_options(*command, net);
    add_diff_option(*command, net);
    add_page_trials(*command, net);
    add_host_option(*command, net);
    command->add_option("--input", net.model.input, "of an ONNX model: images (NumPy), or NAME=FILE for each input")
        ->allow_extra_args(false);
    command
        ->add_option("--shape", net.model.shapes,
                     "of an ONNX model: input sizes that neither the model nor --input defines, [NAME=]1,3,224,224")
        ->allow_extra_args(false);
    command->add_option("--labels", net.model.labels, "of an ONNX model: the class of every image (NumPy), for the accuracy");
    command->add_option("--calibrate", net.model.calibrate, "of an ONNX model: calibration images, instead of the input")
        ->allow_extra_args(false);
    add_calibration(*command, net.model.calibration);
    add_bias_correction(*command, net.model.bias_correction);
    add_preprocess(*command, net.model.preprocess);
    command->add_option("--precision", net.model.precision, "int8 or fp16 (nv_full) for all tensors, overrides the network's")
        ->check(one_of({"int8", "fp16"}));
    point_excludes(*command, {"--hw", "--memory", "--set", "--input", "--labels", "--calibrate", "--calibration", "--bias-correction",
                              "--preprocess", "--precision"});
    CLI::Option* plan = command
                            ->add_flag("--plan", net.outline,
                                       "print the plan - tiles, banks, bytes, bounds - without running; with --out write the network with\n"
                                       "every partition and decision to plan.json, to be edited and run")
                            ->excludes("--hazards");
    for (const char* record : kRecords) plan->excludes(record);
    command->add_option("--from-plan", net.from_plan, "the tilings and decisions of a plan.json, by the names of its layers");
    command->add_option("--seed", net.seed, "seed of the input; weights of layer i have this + 1 + i")->check(whole(0, INT64_MAX / 2));
    command
        ->add_option_function<std::string>(
            "--layers", [&net](const std::string& layers) { net.apart = layers == "apart"; },
            "apart: also simulate every step alone, and report the sum and the cycles that overlapping saves")
        ->default_str("together")
        ->check(one_of({"together", "apart"}));
    command
        ->add_option("--optimise", net.optimise,
                     "search this many seconds for tilings and decisions with which the whole network takes fewer cycles")
        ->check(CLI::Range(0.1, 1e6));
    command->add_option("--best", net.best, "of --optimise: improve this figure, or lower this expression, instead of the cycles")
        ->needs("--optimise");
    command->add_option("--require", net.require, "of --optimise: \"total_uj < 900\"; default: at most 5 % more energy than without")
        ->needs("--optimise");
    command->add_option("--jobs", net.jobs, "number of parallel simulations of --optimise; default: the number of processors")
        ->check(whole(1, 256));
    command->add_option("--images", net.network.together, "of a network: images in one program, with shared weights")
        ->check(whole(1, 64))
        ->excludes("--optimise");
    command->add_flag("!--no-pixels", net.network.pixels, "keep the input as feature data, even if the first layer is faster with pixels");
    command->add_flag("!--no-cvsram", net.network.cvsram, "keep every tensor in DRAM, even if the machine has CVSRAM");
    command->add_flag("--keep-tensors", net.network.keep_tensors, "give every tensor its own memory, without reuse");
    command->add_flag("--scale-sim", net.scale_sim, kScaleSim)->excludes("--plan");
    command->add_flag("--tensors", net.tensors, "write every tensor to DIR/tensors/NAME.npy")
        ->excludes("--timing-only")
        ->excludes("--plan");
    command->add_flag("--accuracy-by-step", net.by_step, "of an ONNX model: accuracy lost in each step, the worst one, why, and what helps")
        ->excludes("--timing-only")
        ->excludes("--plan");
    command->add_flag("--steps", net.steps, "of an ONNX model: write every step to DIR/steps as a layer with its numbers, for dlasim run")
        ->excludes("--timing-only")
        ->excludes("--plan");
    return running(command, options);
}

Command add_loadable(CLI::App& app)
{
    const auto options = std::make_shared<RunOptions>();
    RunOptions& file = *options;
    CLI::App* command = app.add_subcommand("loadable", "run a file of the NVDLA compiler (.nvdla), docs/LOADABLE.md");
    command->add_option("LOADABLE", file.file, "the file, or a sweep with --point (JSON)")->required();
    add_loadable_options(*command, file);
    add_point_options(*command, file);
    point_excludes(*command, {"--hw", "--memory", "--set", "--input", "--input-form", "--seed", "--mode", "--chains"});
    command->add_option("--manifest", file.loadable.manifest, "the .json of export --form nvdla: where channels in pieces are")
        ->excludes("--point");
    add_host_option(*command, file);
    command->add_option("--cpu", file.cpu, "time of the CPU: cycles_per_write=N,interrupt_latency=N")->capture_default_str();
    CLI::Option* describe = command->add_flag("--describe", file.outline, "print memories, operations and registers without running");
    CLI::Option* check =
        command->add_flag("--check", file.check, "report what NVIDIA's runtime and driver would refuse or misread, without running");
    for (const char* record : kRecords) {
        describe->excludes(record);
        check->excludes(record);
    }
    check->excludes(describe)->excludes("--point");
    command->add_flag("!--no-verify", file.verify, "do not compare outputs with the golden operations");
    return running(command, options);
}

Command add_replay(CLI::App& app)
{
    const auto options = std::make_shared<RunOptions>();
    RunOptions& again = *options;
    again.assumed = FileKind::Case;
    again.out.clear();
    CLI::App* command = app.add_subcommand("replay", "replay a register program: a measured case or an NVDLA trace");
    command->add_option("PROGRAM", again.file, "case (JSON), trace file or trace folder")->required();
    command->add_option("--hw", again.hardware, "hardware preset or file, instead of the program's");
    command->add_option("--memory", again.memory, "memory, instead of the program's");
    add_record_options(*command, again);
    command->add_option("--out", again.out, "write result.json to this folder");
    CLI::Option* describe =
        command->add_flag("--describe", again.outline, "print memory, operations and registers with their fields without running");
    for (const char* record : kRecords) describe->excludes(record);
    add_shared_options(*command, again);
    command->get_option("--hazards")->excludes(describe);
    return running(command, options);
}

Command add_sweep(CLI::App& app)
{
    const auto options = std::make_shared<SweepOptions>();
    SweepOptions& sweep = *options;
    CLI::App* command = app.add_subcommand("sweep", "run all points of a sweep file: the product of its axes");
    command->add_option("SWEEP", sweep.sweep, "sweep (JSON)")->required();
    command->add_option("--jobs", sweep.jobs, "number of parallel runs; default: the number of processors")->check(whole(1, 1024));
    command->add_option("--out", sweep.out, "output folder")->capture_default_str();
    command->add_option("--limit", sweep.limit, "limit of CPU time of a point, in seconds")
        ->capture_default_str()
        ->check(whole(1, 10'000'000));
    command->add_option("--technology", sweep.technology,
                        "of areas and energies, instead of the sweep's: 45nm, 28nm, 16nm, 12nm, 7nm, 5nm or a file");
    CLI::Option* list = command->add_flag("--list", sweep.list, "list the points, and the rule that each rejected one violates; none runs");
    CLI::Option* resume = command->add_flag("--resume", sweep.resume, "continue this sweep with the points already in the folder");
    command->add_flag("--restart", sweep.restart, "discard the points in the folder")->excludes(resume)->excludes(list);
    CLI::Option* sharded = command
                               ->add_option_function<std::string>(
                                   "--shard", [&sweep](const std::string& text) { std::tie(sweep.shard, sweep.shards) = *shard_of(text); },
                                   "I/N: only every N-th point, from the I-th on; --collect merges the folders")
                               ->check(shard_option());
    command
        ->add_option("--collect", sweep.collect, "folders of shards of this sweep: merge their points into the tables of --out; none runs")
        ->excludes(sharded)
        ->excludes(list);
    command->add_option(
        "--best", sweep.best,
        "report the machine with the best value of this figure, or the least of an expression, of those that meet all requirements");
    command->add_option("--sort", sweep.sort, "list the machines by this figure or expression, the best first, with what each misses");
    command
        ->add_flag("--prove", sweep.prove,
                   "run only machines that bounds let be the --best, and name the bound that excludes each other one")
        ->needs("--best")
        ->excludes(list)
        ->excludes(sharded)
        ->excludes("--collect");
    command->add_option("--machine", sweep.machine, "run only the workloads of this machine, given by its first point")
        ->check(whole(0, 999'999))
        ->excludes(list)
        ->excludes(sharded)
        ->excludes("--collect")
        ->excludes("--best");
    command->add_option("--search", sweep.search, "search for the Pareto front of cycles, energy and area, with at most this many runs")
        ->check(whole(1, 999'999))
        ->excludes(list)
        ->excludes(sharded)
        ->excludes("--collect")
        ->excludes("--prove")
        ->excludes("--machine");
    command->add_option("--seed", sweep.seed, "of the search")->capture_default_str()->check(whole(0, UINT32_MAX))->needs("--search");
    command->add_option("--slurm", sweep.slurm, "run the points as a Slurm job array of this many tasks, each with --jobs processors")
        ->check(whole(1, 100'000))
        ->excludes(list)
        ->excludes(sharded)
        ->excludes("--collect")
        ->excludes("--search")
        ->excludes("--prove")
        ->excludes("--machine");
    command->add_flag("--pages", sweep.pages, "write a page of every point, points/N/run.html, as --html does");
    command->add_flag("--timing-only", sweep.timing_only, "skip the arithmetic; nothing is verified");
    command->add_flag("!--no-causes", sweep.causes, kNoCauses);
    command->add_flag("--quiet", sweep.quiet, "print only errors");
    return {command, [=](const std::string&) { return sweep_command(*options); }};
}

Command add_test(CLI::App& app)
{
    const auto options = std::make_shared<TestOptions>();
    TestOptions& test = *options;
    CLI::App* command =
        app.add_subcommand("test", "run a folder of layers, networks and models against golden values and cycles, docs/REGRESSION.md");
    command->add_option("DIR", test.folder, "the folder, perhaps with a suite.json")->required();
    command->add_option("--hw", test.defaults.hardware, "hardware preset or file of cases that name none")->capture_default_str();
    command->add_option("--memory", test.defaults.memory, "memory of cases that name none")->capture_default_str();
    command->add_option("--set", test.defaults.settings, "PATH=VALUE changes a size of the hardware, for example cbuf.banks=16")
        ->allow_extra_args(false);
    command->add_option("--tolerance", test.defaults.tolerance, "allowed difference of the cycles, in percent of the golden ones")
        ->capture_default_str()
        ->check(number(0, 1e6));
    command->add_flag("--timing-only", test.defaults.timing_only, "skip the arithmetic; only cycles are compared");
    command->add_option("--junit", test.junit, "write the result of every case to this file, in the format of JUnit");
    command->add_flag("--update", test.update, "write the cycles of this run to DIR/suite.json as golden ones");
    command->add_option("--jobs", test.jobs, "number of parallel cases; default: the number of processors")->check(whole(1, 1024));
    command->add_option("--limit", test.limit, "limit of CPU time of a case, in seconds")
        ->capture_default_str()
        ->check(whole(1, 10'000'000));
    command->add_option("--out", test.out, "folder of the results")->capture_default_str();
    command->add_flag("--quiet", test.quiet, "print only errors and cases that did not pass");
    return {command, [=](const std::string&) { return test_command(*options); }};
}

Command add_dram(CLI::App& app)
{
    const auto options = std::make_shared<dram::DramCommand>();
    dram::DramCommand& memory = *options;
    CLI::App* command = app.add_subcommand("dram", "simulate a DRAM alone: request streams, statistics, command log, timeline");
    dram::add_options(*command, memory);
    return {command, [=](const std::string&) {
                std::ostringstream out;
                const int status = dram::run_command(*options, out);
                say(out.str());
                return status;
            }};
}

Command add_bound(CLI::App& app)
{
    const auto options = std::make_shared<BoundOptions>();
    BoundOptions& bound = *options;
    CLI::App* command =
        app.add_subcommand("bound", "off-chip traffic of convolutions without a machine: lower bound, best tiling, simpler dataflows");
    command->add_option("LAYERS", bound.layers, "layer descriptor, or {\"layers\": [descriptor, ..]} (JSON)")->required();
    command->add_option("--chip", bound.chip, "KiB of on-chip memory, one or more sizes; with a unit: 512KB, 1.5MiB")
        ->required()
        ->transform(kibibytes(0.0625, 1048576.0));
    command->add_option("--batch", bound.batch, "images, instead of the descriptors'")->check(whole(1, 4096));
    command->add_option("--word", bound.word, "bytes of an element")->capture_default_str()->check(whole(1, 8));
    command->add_flag("--json", bound.json, "print JSON instead of a table");
    return {command, [=](const std::string&) { return bound_command(*options); }};
}

Command add_silicon(CLI::App& app)
{
    const auto options = std::make_shared<SiliconOptions>();
    SiliconOptions& silicon = *options;
    CLI::App* command =
        app.add_subcommand("silicon", "area and peak power of a machine, unit by unit; energy of a finished run, docs/howto/CHOOSE.md");
    CLI::Option* silicon_hardware = command->add_option("--hw", silicon.hardware, "hardware preset or file")->capture_default_str();
    CLI::Option* silicon_set =
        command->add_option("--set", silicon.settings, "PATH=VALUE changes a size of the hardware, for example cbuf.banks=16")
            ->allow_extra_args(false);
    command->add_option("--technology", silicon.technology, "45nm, 28nm, 16nm, 12nm, 7nm, 5nm or a file")->capture_default_str();
    command->add_option("--of", silicon.of, "result.json of a run: area of its machine, and energy of the run")
        ->excludes(silicon_hardware)
        ->excludes(silicon_set);
    command->add_flag("--json", silicon.json, "print JSON instead of a table");
    return {command, [=](const std::string&) { return silicon_command(*options); }};
}

Command add_compare(CLI::App& app)
{
    const auto options = std::make_shared<CompareOptions>();
    CompareOptions& compare = *options;
    CLI::App* command = app.add_subcommand("compare", "compare runs: cycles by cause and step, and what changed, docs/REGRESSION.md");
    command->add_option("RUN", compare.runs, "folders of runs, or their result.json: each is compared with the first one")->required();
    command->add_option("--baseline", compare.baseline, "folder of earlier runs: each RUN is compared with the one of its name there");
    command->add_option("--html", compare.html, "write a page of all runs: causes and steps on one axis, and what changed");
    command->add_option("--tolerance", compare.tolerance, "exit with 1 if the cycles of a run differ by more than this percentage")
        ->check(number(0, 1e6));
    command->add_flag("--json", compare.json, "print JSON instead of tables");
    return {command, [=](const std::string&) { return compare_command(*options); }};
}

Command add_explain(CLI::App& app)
{
    const auto options = std::make_shared<ExplainOptions>();
    ExplainOptions& explain = *options;
    CLI::App* command = app.add_subcommand("explain", "explain where the cycles of a run went, and simulate fixes, docs/CAUSES.md");
    command->add_option("RUN", explain.run, "folder of a run, or its result.json")->required();
    command
        ->add_option("--remedies", explain.remedies,
                     "simulate up to this many fixes that follow from the causes, and report the gain of each")
        ->check(whole(1, 100));
    command->add_flag("--sensitivity", explain.sizes, "try every size of hardware and memory one step smaller and larger");
    command->add_option("--slack", explain.slack, "find sizes that can shrink or be removed for at most this percentage more time")
        ->check(number(0, 1000));
    command->add_option("--jobs", explain.jobs, "number of parallel runs; default: the number of processors")->check(whole(1, 1024));
    command->add_option("--html", explain.html, "write a page: causes, and what --remedies and --slack tried, as bars");
    command->add_flag("--json", explain.json, "print JSON instead of text");
    return {command, [=](const std::string&) { return explain_command(*options); }};
}

Command add_presets(CLI::App& app)
{
    const auto preset = std::make_shared<std::string>();
    CLI::App* command = app.add_subcommand("presets", "list the built-in hardware and memory presets");
    command->add_option("NAME", *preset, "print this one as JSON");
    return {command, [=](const std::string&) { return presets_command(*preset); }};
}

Command add_reference(CLI::App& app)
{
    const auto name = std::make_shared<std::string>();
    const auto json = std::make_shared<bool>(false);
    CLI::App* command = app.add_subcommand("reference", "describe every counter and every key of results, hardware and memory");
    command->add_option("NAME", *name, "only counters and keys of this name");
    command->add_flag("--json", *json, "print JSON instead of a page");
    return {command, [=](const std::string&) { return reference_command(*name, *json); }};
}

Command add_manual(CLI::App& app)
{
    const auto form = std::make_shared<std::string>();
    CLI::App* command = app.add_subcommand("manual", "print the manual page, or the completions of bash and zsh");
    command->add_option("FORM", *form, "format of the output")->required()->check(one_of({"man", "bash", "zsh"}));
    return {command, [=, &app](const std::string&) {
                say(manual(app, *form, kVersion));
                return static_cast<int>(kDone);
            }};
}

int parse_and_run(int argc, char** argv)
{
    CLI::App app{"A cycle-accurate simulator of the NVDLA deep-learning accelerator", "dlasim"};
    app.set_version_flag("--version", "dlasim " + version());
    app.require_subcommand(1);
    app.footer(kFooter);
    std::vector<Command> commands;
    for (Command (*add)(CLI::App&) :
         {add_run, add_net, add_loadable, add_export, add_lint, add_replay, add_sweep, add_test, add_dram, add_bound, add_silicon,
          add_compare, add_explain, add_presets, add_reference, add_schema, add_new, add_manual})
        commands.push_back(add(app));

    const std::vector<std::string> words = words_of(argc, argv, app);
    try {
        app.parse(std::vector<std::string>(words.rbegin(), words.rend()));
    } catch (const CLI::ParseError& error) {
        std::ostringstream out, err;
        if (app.exit(error, out, err) != 0) {
            say_error("dlasim: {}\nRun with --help for more information.\n", printable(usage_problem(error, app, words)));
            return kBadInput;
        }
        say(out.str());
        return kDone;
    }
    const CLI::App* command = app.get_subcommands().front();
    claim_files(command->get_name(), [&](const std::string& option) { return command->get_option(option)->results(); });
    std::string line = "dlasim";
    for (const std::string& word : words) line += " " + shell_word(word);
    return std::ranges::find(commands, command, &Command::app)->run(line);
}

}  // namespace
}  // namespace dlasim

int main(int argc, char** argv)
{
    dlasim::watch_allocations();
    dlasim::use_large_pages();
    dlasim::open_standard_streams();
    dlasim::allow_many_files();
    return dlasim::guarded([&] { return dlasim::parse_and_run(argc, argv); });
}

/// The library asks for one; elaboration and simulation are started by Machine instead.
int sc_main(int, char**) { return 0; }
