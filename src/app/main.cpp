// dlasim: the command line. Nothing else knows argv; what is thrown anywhere ends here as a status.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <climits>
#include <cmath>
#include <optional>
#include <sstream>
#include <systemc>
#include <tuple>
#include <utility>

#include "app/bound_command.h"
#include "app/compare_command.h"
#include "app/execution.h"
#include "app/explain_command.h"
#include "app/export_command.h"
#include "app/file_options.h"
#include "app/loadable_command.h"
#include "app/net_command.h"
#include "app/presets_command.h"
#include "app/reference_command.h"
#include "app/replay_command.h"
#include "app/run_command.h"
#include "app/silicon_command.h"
#include "app/status.h"
#include "app/sweep_command.h"
#include "app/sweep_row.h"
#include "app/test_command.h"
#include "base/error.h"
#include "config/hardware.h"
#include "config/memory.h"
#include "dram/command_line.h"
#include "facts/client.h"
#include "files/console.h"
#include "files/number.h"
#include "files/printable.h"
#include "files/spelling.h"
#include "loadable/plan.h"
#include "report/power_profile.h"

namespace dlasim {
namespace {

constexpr const char* kVersion = DLASIM_VERSION;

constexpr const char* kFooter =
    "exit status: 0 done and verified, 1 data mismatch, 2 bad input or usage or no room, 3 the machine hung or broke a protocol, 130 "
    "interrupted\n"
    "of a sweep: the worst of its points, 3 before 1, then 2 if no point has a result, 4 if some points were refused";

constexpr const char* kTimes = "say on stderr how much CPU time the run took, and how much of it the simulation of the machine";
constexpr const char* kScaleSim = "write COMPUTE_REPORT.csv and BANDWIDTH_REPORT.csv with SCALE-Sim's columns beside result.json";
constexpr const char* kReproducible = "leave the times of this computer out of result.json: equal bytes on every run and machine";
constexpr const char* kNoCauses = "do not look for what the cycles went to";
constexpr const char* kHazards = "look for accesses to memory and to the convolution buffer that happen out of order, and name them";

/// ` (did you mean "--memory"?)`; nothing where no word is near.
std::string correction(const std::string& word, const std::vector<std::string>& known)
{
    const std::string near = meant(word, known);
    return near.empty() ? "" : fmt::format(" (did you mean \"{}\"?)", near);
}

/// The command of a command line; null if it is none.
CLI::App* command_of(const std::vector<std::string>& words, CLI::App& app)
{
    const auto named = app.get_subcommands([&](const CLI::App* command) { return !words.empty() && command->get_name() == words.front(); });
    return named.empty() ? nullptr : named.front();
}

bool sets_a_path(const std::string& word)
{
    const std::size_t equals = word.find('=');
    const auto in_path = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.'; };
    return equals != 0 && equals != std::string::npos &&
           std::all_of(word.begin(), word.begin() + static_cast<std::ptrdiff_t>(equals), in_path);
}

/// The words behind the program's name. `--set A=1 B=2` is `--set A=1 --set B=2`.
std::vector<std::string> words_of(int argc, char** argv, CLI::App& app)
{
    std::vector<std::string> words(argv + std::min(argc, 1), argv + argc), all;
    CLI::App* command = command_of(words, app);
    const bool sets = command && command->get_option_no_throw("--set");
    bool setting = false;
    for (const std::string& word : words) {
        const bool option = word.starts_with("-");
        if (setting && !option && all.back() != "--set") {
            setting = sets_a_path(word);
            if (setting) all.emplace_back("--set");
        }
        if (option) setting = sets && (word == "--set" || word.starts_with("--set="));
        all.push_back(word);
    }
    return all;
}

/// What is wrong with a command line, and what was meant perhaps.
std::string usage_problem(const CLI::ParseError& error, CLI::App& app, const std::vector<std::string>& words)
{
    std::vector<std::string> known;
    for (const CLI::App* command : app.get_subcommands({})) known.push_back(command->get_name());
    const std::string commands = fmt::format("expected one of: {}", fmt::join(known, ", "));
    CLI::App* command = command_of(words, app);
    if (!command && words.empty()) return "found no command, " + commands;
    if (!command && !words.front().starts_with("-"))
        return fmt::format("found \"{}\", which is no command{}, {}", words.front(), correction(words.front(), known), commands);
    if (!command || error.get_exit_code() != static_cast<int>(CLI::ExitCodes::ExtrasError)) return error.what();
    known.clear();
    for (const CLI::Option* option : command->get_options())
        for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
    for (const std::string& word : words) {
        if (word == "--") break;
        const std::string name = word.substr(0, word.find('='));
        if (word.starts_with("-") && word.size() > 1 && !command->get_option_no_throw(name))
            return fmt::format("found {}, which is no option of {}{}", word, command->get_name(), correction(name, known));
    }
    return error.what();
}

/// The library reads "-1" as the largest unsigned number; here an option takes digits in a range.
CLI::Validator whole(std::uint64_t low, std::uint64_t high)
{
    return {[=](std::string& text) { return whole_number(text, low, high) ? "" : whole_number_problem(text, low, high); }, "NUMBER"};
}

/// One of some words.
CLI::Validator one_of(const std::vector<std::string>& words)
{
    return {[=](std::string& text) {
                const bool known = std::find(words.begin(), words.end(), text) != words.end();
                return known ? ""
                             : "found \"" + text + "\", expected " + fmt::format("{}", fmt::join(words, ", ")) + correction(text, words);
            },
            fmt::format("{{{}}}", fmt::join(words, ","))};
}

/// KiB, or with a unit: memories have KB of 1,024 bytes.
CLI::Validator kibibytes(double low, double high)
{
    return {[=](std::string& text) {
                constexpr std::pair<std::string_view, double> kUnits[] = {{"kib", 1},   {"kb", 1},   {"k", 1},         {"mib", 1024},
                                                                          {"mb", 1024}, {"m", 1024}, {"b", 1.0 / 1024}};
                std::string digits = CLI::detail::to_lower(text);
                double unit = 1, number = 0;
                for (const auto& [name, size] : kUnits) {
                    if (!digits.ends_with(name)) continue;
                    digits.resize(digits.size() - name.size());
                    unit = size;
                    break;
                }
                const bool is_number = !digits.empty() && CLI::detail::lexical_cast(digits, number) && std::isfinite(number);
                if (!is_number || number * unit < low || number * unit > high)
                    return fmt::format("found \"{}\", expected KiB in {}..{}, or a size with its unit, 512KB or 1.5MiB", text, low, high);
                text = fmt::format("{}", number * unit);
                return std::string();
            },
            "KiB"};
}

/// A number that is one.
CLI::Validator number(double low, double high)
{
    return {[=](std::string& text) {
                double value = 0;
                const bool is_number = CLI::detail::lexical_cast(text, value) && std::isfinite(value) && value >= low && value <= high;
                return is_number ? "" : fmt::format("found \"{}\", expected a number in {}..{}", text, low, high);
            },
            "NUMBER"};
}

/// What `loadable` and `export` have in common; the option of the seed.
CLI::Option* add_loadable_options(CLI::App& app, LoadableOptions& file)
{
    app.add_option("--hw", file.hardware, "hardware preset or file: the one it was compiled for")->capture_default_str();
    app.add_option("--memory", file.memory, "ideal:latency=32,interval=1,write_latency=8, a DRAM preset or the file of a memory")
        ->capture_default_str();
    app.add_option("--set", file.settings, "PATH=VALUE laid over the hardware, for example clock_mhz=800")->allow_extra_args(false);
    app.add_option("--input", file.inputs, "values of an input: NumPy, or bytes; without one they are made by --seed")
        ->allow_extra_args(false);
    app.add_option("--input-form", file.form, "what an input that is no .npy holds")
        ->capture_default_str()
        ->check(one_of({std::begin(loadable::kInputForms), std::end(loadable::kInputForms)}));
    CLI::Option* seed = app.add_option("--seed", file.seed, "seed of inputs without a file");
    seed->capture_default_str()->check(whole(0, UINT32_MAX));
    app.add_option("--mode", file.mode, "order of the register writes")
        ->capture_default_str()
        ->check(one_of({loadable::kModeNames.begin(), loadable::kModeNames.end()}));
    app.add_option("--chains", file.chains, "stop after so many sets of operations that run together")->check(whole(1, UINT32_MAX));
    return seed;
}

/// "2/8": the second of eight.
std::optional<std::pair<std::size_t, std::size_t>> shard_of(const std::string& text)
{
    const std::size_t slash = std::min(text.find('/'), text.size());
    const auto n = whole_number(std::string_view(text).substr(std::min(slash + 1, text.size())), 1, 1'000'000);
    const auto i = n ? whole_number(std::string_view(text).substr(0, slash), 1, *n) : std::nullopt;
    if (!i) return std::nullopt;
    return std::pair<std::size_t, std::size_t>{*i, *n};
}

CLI::Validator shard_option()
{
    return {[](std::string& text) { return shard_of(text) ? "" : "found \"" + text + "\", expected I/N, for example 1/8"; }, "I/N"};
}

CLI::Option* hidden(CLI::Option* option) { return option->group(""); }

constexpr std::array kRecords{"--events", "--timeline", "--waves", "--html", "--trace"};
/// Files that record what happened when.
void add_record_options(CLI::App& app, CommonOptions& options)
{
    app.add_option(kRecords[0], options.events, "write the events of the run to this file: bus logs, all runs of all probes");
    app.add_option(kRecords[1], options.timeline, "write what ran when to this file, for ui.perfetto.dev");
    app.add_option(kRecords[2], options.waves, "write the signals between the units to this file (VCD), and FILE.gtkw that groups them");
    app.add_option(kRecords[3], options.html, "write a page of the run to this file: where the cycles went, timeline, roofline, tables");
    app.add_option(kRecords[4], options.trace,
                   "write every burst of the DMA clients to this file (CSV): cycle, port, client, address, bytes");
    app.add_option("--trace-client", options.trace_client, "of --trace: the bursts of this client only")
        ->check(one_of({kClientNames.begin(), kClientNames.end()}))
        ->needs("--trace");
}

/// What `run`, `net` and `loadable` have in common behind their file. Those that a command asks for again.
struct SharedOptions {
    CLI::Option *point, *out;
    /// What a point says itself.
    void point_excludes(CLI::App& app, const std::vector<std::string>& options) const
    {
        for (const std::string& option : options) point->excludes(app.get_option(option));
    }
};
void add_silicon_options(CLI::App& app, CommonOptions& options)
{
    app.add_option("--technology", options.technology,
                   "of area and energy: 16nm, 28nm, 45nm or a file; without it 16nm, or that of the sweep");
    app.add_option("--power-window", options.power_window, "report power over time, in windows of so many cycles, and the largest")
        ->check(whole(kLeastWindow, kMostWindow));
}

void add_host_option(CLI::App& app, CommonOptions& options)
{
    app.add_option("--host", options.host_ns,
                   "nanoseconds that the host takes for an element of its steps, which take no cycles: frames/s then have its time")
        ->check(number(0, 1e9));
}

SharedOptions add_shared_options(CLI::App& app, CommonOptions& options)
{
    CLI::Option* point = app.add_option("--point", options.point, "of a sweep: run this point alone")->check(whole(0, 999'999));
    CLI::Option* out = app.add_option("--out", options.out, "output folder")->capture_default_str();
    add_record_options(app, options);
    app.add_flag("--timing-only", options.timing_only, "simulate time without values; nothing is verified");
    app.add_flag("--hazards", options.hazards, kHazards)->excludes("--timing-only");
    app.add_flag("!--no-causes", options.causes, kNoCauses);
    app.add_flag("--quiet", options.quiet, "print nothing but errors");
    app.add_flag("--times", options.times, kTimes);
    app.add_flag("--reproducible", options.reproducible, kReproducible);
    add_silicon_options(app, options);
    hidden(app.add_flag("--stepping", options.stepping, "evaluate every unit in every cycle: slow, same result"));
    return {point, out};
}

/// The machine, of commands whose file is for any.
void add_machine_options(CLI::App& app, CommonOptions& options)
{
    app.add_option("--hw", options.hardware, "hardware preset or file")->capture_default_str();
    app.add_option("--memory", options.memory, "ideal:latency=32,interval=1,write_latency=8, a DRAM preset or the file of a memory")
        ->capture_default_str();
    app.add_option("--set", options.settings, "PATH=VALUE laid over the hardware, for example cbuf.banks=16")->allow_extra_args(false);
}

int parse_and_run(int argc, char** argv)
{
    CLI::App app{"A cycle-accurate simulator of an NVDLA-style convolution accelerator", "dlasim"};
    app.set_version_flag("--version", std::string("dlasim ") + kVersion);
    app.require_subcommand(1);
    app.footer(kFooter);

    RunOptions run;
    CLI::App* run_app = app.add_subcommand("run", "run one layer through the machine and compare its output with the golden convolution");
    run_app->add_option("LAYER", run.layer, "layer or network (JSON), ONNX model, or a sweep with --point")->required();
    add_machine_options(*run_app, run);
    const SharedOptions run_shared = add_shared_options(*run_app, run);
    run_shared.point_excludes(*run_app, {"--hw", "--memory", "--set"});
    CLI::Option* seed =
        run_app->add_option("--seed", run.seed, "seed of the tensors, instead of the descriptor's")->check(whole(0, INT64_MAX));
    CLI::Option* run_plan =
        run_app
            ->add_flag("--plan", run.plan, "say what would run - parts, banks, bytes, bounds - without running; with --out write plan.json")
            ->excludes("--hazards");
    for (const char* record : kRecords) run_plan->excludes(record);
    run_app->add_flag("--check-dram", run.check_dram, "check every command of a DRAM against its constraint table")->excludes("--plan");
    run_app->add_flag("--scale-sim", run.scale_sim, kScaleSim)->excludes("--plan");
    run_app->add_flag("!--no-tensors", run.tensors, "do not write the output tensor, output.npy");

    NetOptions net;
    CLI::App* net_app = app.add_subcommand("net", "run a whole network as one program on one machine and compare every tensor");
    net_app
        ->add_option("NETWORK", net.network,
                     "network (JSON), docs/NETWORK.md, ONNX model (FILE.onnx), docs/ONNX.md, layer, or a sweep with --point")
        ->required();
    add_machine_options(*net_app, net);
    const SharedOptions net_shared = add_shared_options(*net_app, net);
    add_host_option(*net_app, net);
    net_app->add_option("--input", net.input, "of an ONNX model: images (NumPy), or NAME=FILE for each input")->allow_extra_args(false);
    net_app->add_option("--labels", net.labels, "of an ONNX model: the class of every image (NumPy), for the accuracy");
    net_app->add_option("--calibrate", net.calibrate, "of an ONNX model: images that say how large numbers become, instead of the input")
        ->allow_extra_args(false);
    net_app->add_option("--precision", net.precision, "int8 or fp16 (nv_full) for all tensors, in place of the network's")
        ->check(one_of({"int8", "fp16"}));
    net_shared.point_excludes(*net_app, {"--hw", "--memory", "--set", "--input", "--labels", "--calibrate", "--precision"});
    CLI::Option* net_plan =
        net_app
            ->add_flag("--plan", net.plan,
                       "say what would run - parts, banks, bytes, bounds - without running; with --out write the network with\n"
                       "every cut told to plan.json, to be edited and run")
            ->excludes("--hazards");
    for (const char* record : kRecords) net_plan->excludes(record);
    CLI::Option* net_seed =
        net_app->add_option("--seed", net.seed, "seed of the input; weights of layer i have this + 1 + i")->check(whole(0, INT64_MAX / 2));
    std::string layers = "together";
    net_app
        ->add_option("--layers", layers,
                     "apart: simulate every step by itself too, and report the sum and what running them together saves")
        ->capture_default_str()
        ->check(one_of({"together", "apart"}));
    net_app->add_flag("!--no-pixels", net.pixels,
                      "keep the input as feature data, also where the first layer takes pixels in fewer cycles");
    net_app->add_flag("!--no-cvsram", net.cvsram, "keep every tensor in DRAM, also where the machine has a port to CVSRAM");
    net_app->add_flag("--keep-tensors", net.keep, "give every tensor memory of its own: none makes room for another");
    net_app->add_flag("--scale-sim", net.scale_sim, kScaleSim)->excludes("--plan");
    net_app->add_flag("--tensors", net.tensors, "write every tensor to DIR/tensors/NAME.npy")
        ->excludes("--timing-only")
        ->excludes("--plan");
    net_app->add_flag("--steps", net.steps, "of an ONNX model: write every step to DIR/steps as a layer with its numbers, for dlasim run")
        ->excludes("--timing-only")
        ->excludes("--plan");

    LoadableOptions file;
    CLI::App* file_app = app.add_subcommand("loadable", "run a file of the NVDLA compiler (.nvdla), docs/LOADABLE.md");
    file_app->add_option("LOADABLE", file.loadable, "the file, or a sweep with --point (JSON)")->required();
    add_loadable_options(*file_app, file);
    const SharedOptions file_shared = add_shared_options(*file_app, file);
    file_shared.point_excludes(*file_app, {"--hw", "--memory", "--set", "--input", "--input-form", "--seed", "--mode", "--chains"});
    add_host_option(*file_app, file);
    file_app->add_option("--cpu", file.cpu, "a host that takes its time: cycles_per_write=N,interrupt_latency=N")->capture_default_str();
    CLI::Option* describe = file_app->add_flag("--describe", file.describe, "print memories, operations and registers without running");
    for (const char* record : kRecords) describe->excludes(record);
    file_app->add_flag("!--no-verify", file.verify, "do not compare what operations write with the golden ones");

    ExportOptions exported;
    CLI::App* export_app =
        app.add_subcommand("export", "write what would run as a case, a trace of the public players or a C header, docs/LOADABLE.md");
    export_app->add_option("FILE", exported.what.loadable, "a layer or a network (JSON), an ONNX model, or a file of the NVDLA compiler")
        ->required();
    export_app->add_option("--form", exported.form, "what is written")
        ->capture_default_str()
        ->check(one_of({kExportForms.begin(), kExportForms.end()}));
    export_app->add_option("--to", exported.to, "the file of a case or a header, the folder of a trace")->required();
    CLI::Option* export_seed = add_loadable_options(*export_app, exported.what);
    export_app->add_option("--calibrate", exported.calibrate, "of an ONNX model: images that say how large numbers become")
        ->allow_extra_args(false);
    export_app->add_option("--precision", exported.precision, "of an ONNX model: int8 or fp16 (nv_full)")->check(one_of({"int8", "fp16"}));
    export_app->add_flag("--quiet", exported.what.quiet, "print nothing but errors");

    ReplayOptions again;
    CLI::App* replay_app = app.add_subcommand("replay", "replay a register program: a measured case or an NVDLA trace");
    replay_app->add_option("PROGRAM", again.program, "case (JSON), trace file or trace folder")->required();
    replay_app->add_option("--hw", again.hardware, "hardware preset or file, instead of the program's");
    replay_app->add_option("--memory", again.memory, "memory, instead of the program's");
    add_record_options(*replay_app, again);
    replay_app->add_option("--out", again.out, "write result.json to this folder");
    replay_app->add_flag("--hazards", again.hazards, kHazards);
    replay_app->add_flag("!--no-causes", again.causes, kNoCauses);
    replay_app->add_flag("--quiet", again.quiet, "print nothing but errors");
    replay_app->add_flag("--times", again.times, kTimes);
    replay_app->add_flag("--reproducible", again.reproducible, kReproducible);
    add_silicon_options(*replay_app, again);
    hidden(replay_app->add_flag("--stepping", again.stepping, "evaluate every unit in every cycle: slow, same result"));

    SweepOptions sweep;
    std::string shard;
    CLI::App* sweep_app = app.add_subcommand("sweep", "many runs: the product of the axes of a sweep file");
    sweep_app->add_option("SWEEP", sweep.sweep, "sweep (JSON)")->required();
    sweep_app->add_option("--jobs", sweep.jobs, "points that run side by side")->capture_default_str()->check(whole(1, 1024));
    sweep_app->add_option("--out", sweep.out, "output folder")->capture_default_str();
    sweep_app->add_option("--limit", sweep.limit, "seconds of CPU time that a point may take")
        ->capture_default_str()
        ->check(whole(1, 10'000'000));
    sweep_app->add_option("--technology", sweep.technology, "of areas and energies, instead of the sweep's: 45nm, 28nm, 16nm or a file");
    CLI::Option* list =
        sweep_app->add_flag("--list", sweep.list, "say which points there are, and which rule refused ones break; none runs");
    CLI::Option* resume = sweep_app->add_flag("--resume", sweep.resume, "go on with the points that the folder has of this sweep");
    sweep_app->add_flag("--restart", sweep.restart, "forget the points that the folder has")->excludes(resume)->excludes(list);
    CLI::Option* sharded =
        sweep_app->add_option("--shard", shard, "I/N: only every N-th point, from the I-th on; --collect puts the folders together")
            ->check(shard_option());
    sweep_app->add_option("--collect", sweep.collect, "folders of shards of this sweep: their points become the tables of --out; none runs")
        ->excludes(sharded)
        ->excludes(list);
    sweep_app->add_option("--best", sweep.best,
                          "say which machine has the best of this figure, area_mm2 or any other, of those that meet all requirements");
    sweep_app->add_option("--machine", sweep.machine, "run the workloads of this machine alone, by the number of its first point")
        ->check(whole(0, 999'999))
        ->excludes(list)
        ->excludes(sharded)
        ->excludes("--collect")
        ->excludes("--best");
    sweep_app->add_option("--search", sweep.search, "look for the points that are best in cycles, energy and area, and run so many at most")
        ->check(whole(1, 999'999))
        ->excludes(list)
        ->excludes(sharded)
        ->excludes("--collect")
        ->excludes("--machine");
    sweep_app->add_option("--seed", sweep.seed, "of the search")->capture_default_str()->check(whole(0, UINT32_MAX))->needs("--search");
    sweep_app->add_option("--slurm", sweep.slurm, "run the points as so many tasks of a job array of Slurm, each with --jobs processors")
        ->check(whole(1, 100'000))
        ->excludes(list)
        ->excludes(sharded)
        ->excludes("--collect")
        ->excludes("--search")
        ->excludes("--machine");
    sweep_app->add_flag("--timing-only", sweep.timing_only, "simulate time without values; nothing is verified");
    sweep_app->add_flag("!--no-causes", sweep.causes, kNoCauses);
    sweep_app->add_flag("--quiet", sweep.quiet, "print nothing but errors");

    TestOptions test;
    CLI::App* test_app =
        app.add_subcommand("test", "run a folder of layers, networks and models against golden values and cycles, docs/REGRESSION.md");
    test_app->add_option("DIR", test.folder, "the folder, perhaps with a suite.json")->required();
    test_app->add_option("--hw", test.defaults.hardware, "hardware preset or file of cases that name none")->capture_default_str();
    test_app->add_option("--memory", test.defaults.memory, "memory of cases that name none")->capture_default_str();
    test_app->add_option("--set", test.defaults.settings, "PATH=VALUE laid over the hardware, for example cbuf.banks=16")
        ->allow_extra_args(false);
    test_app->add_option("--tolerance", test.defaults.tolerance, "cycles may differ by so many percent of the golden ones")
        ->capture_default_str()
        ->check(number(0, 1e6));
    test_app->add_flag("--timing-only", test.defaults.timing_only, "simulate time without values; only cycles are compared");
    test_app->add_option("--junit", test.junit, "write what came of every case to this file, as JUnit does");
    test_app->add_flag("--update", test.update, "write the cycles of this run to DIR/suite.json as golden ones");
    test_app->add_option("--jobs", test.jobs, "cases that run side by side; without it as many as there are processors")
        ->check(whole(1, 1024));
    test_app->add_option("--limit", test.limit, "seconds of CPU time that a case may take")
        ->capture_default_str()
        ->check(whole(1, 10'000'000));
    test_app->add_option("--out", test.out, "folder of the results")->capture_default_str();
    test_app->add_flag("--quiet", test.quiet, "print nothing but cases that did not pass, and errors");

    dram::DramCommand memory;
    CLI::App* dram_app = app.add_subcommand("dram", "a DRAM by itself: request streams, statistics, command log, timeline");
    dram::add_options(*dram_app, memory);

    BoundOptions bound;
    CLI::App* bound_app =
        app.add_subcommand("bound", "off-chip traffic of convolutions: lower bound, best tiling, simpler dataflows; no machine");
    bound_app->add_option("LAYERS", bound.layers, "layer descriptor, or {\"layers\": [descriptor, ..]} (JSON)")->required();
    bound_app->add_option("--chip", bound.chip, "KiB that the chip holds, one or more; with a unit: 512KB, 1.5MiB")
        ->required()
        ->transform(kibibytes(0.0625, 1048576.0));
    bound_app->add_option("--batch", bound.batch, "images, instead of the descriptors'")->check(whole(1, 4096));
    bound_app->add_option("--word", bound.word, "bytes of an element")->capture_default_str()->check(whole(1, 8));
    bound_app->add_flag("--json", bound.json, "print JSON instead of a table");

    SiliconOptions silicon;
    CLI::App* silicon_app =
        app.add_subcommand("silicon", "area and peak power of a machine, unit by unit; energy of a run that has ended, docs/SILICON.md");
    CLI::Option* silicon_hardware = silicon_app->add_option("--hw", silicon.hardware, "hardware preset or file")->capture_default_str();
    CLI::Option* silicon_set =
        silicon_app->add_option("--set", silicon.settings, "PATH=VALUE laid over the hardware, for example cbuf.banks=16")
            ->allow_extra_args(false);
    silicon_app->add_option("--technology", silicon.technology, "45nm, 28nm, 16nm or a file")->capture_default_str();
    silicon_app->add_option("--of", silicon.of, "result.json of a run: its machine, and the energy of what it did")
        ->excludes(silicon_hardware)
        ->excludes(silicon_set);
    silicon_app->add_flag("--json", silicon.json, "print JSON instead of a table");

    CompareOptions compare;
    CLI::App* compare_app =
        app.add_subcommand("compare", "two runs side by side: cycles by cause and step, and what changed, docs/COMPARE.md");
    compare_app->add_option("A", compare.a, "folder of a run, or its result.json")->required();
    compare_app->add_option("B", compare.b, "the run that is compared with it")->required();
    compare_app
        ->add_option("--tolerance", compare.tolerance, "end with 1 where the cycles differ by more than so many percent of those of A")
        ->check(number(0, 1e6));
    compare_app->add_flag("--json", compare.json, "print JSON instead of tables");

    ExplainOptions explain;
    CLI::App* explain_app = app.add_subcommand("explain", "why a run took its cycles, and what would change it, docs/CAUSES.md");
    explain_app->add_option("RUN", explain.run, "folder of a run, or its result.json")->required();
    explain_app->add_option("--remedies", explain.remedies, "try so many changes that follow from the causes, and say what each gains")
        ->check(whole(1, 100));
    explain_app->add_flag("--sensitivity", explain.sizes, "try every size of hardware and memory one step smaller and larger");
    explain_app->add_option("--jobs", explain.jobs, "trials that run side by side; without it as many as there are processors")
        ->check(whole(1, 1024));
    explain_app->add_flag("--json", explain.json, "print JSON instead of text");

    std::string preset;
    CLI::App* presets_app = app.add_subcommand("presets", "the built-in hardware and memory presets");
    presets_app->add_option("NAME", preset, "print this one as JSON");

    std::string named;
    bool reference_json = false;
    CLI::App* reference_app = app.add_subcommand("reference", "what every counter and every key of results, hardware and memory means");
    reference_app->add_option("NAME", named, "only counters and keys of this name");
    reference_app->add_flag("--json", reference_json, "print JSON instead of a page");

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
    for (CommonOptions* options : std::initializer_list<CommonOptions*>{&run, &net, &file, &again}) options->command = line;
    run.has_seed = seed->count() != 0;
    exported.what.seeded = export_seed->count() != 0;
    run.has_out = run_shared.out->count() != 0;
    run.has_point = run_shared.point->count() != 0;
    net.has_seed = net_seed->count() != 0;
    net.has_out = net_shared.out->count() != 0;
    net.has_point = net_shared.point->count() != 0;
    file.has_point = file_shared.point->count() != 0;
    net.apart = layers == "apart";
    if (run_app->parsed()) run.silicon = technology_of(run, run.layer);
    if (net_app->parsed()) net.silicon = technology_of(net, net.network);
    if (file_app->parsed()) file.silicon = technology_of(file, file.loadable);
    if (replay_app->parsed()) again.silicon = technology_of(again, again.program);
    if (run_app->parsed()) return run_command(run);
    if (net_app->parsed()) return net_command(net);
    if (file_app->parsed()) return loadable_command(file);
    if (export_app->parsed()) return export_command(exported);
    if (replay_app->parsed()) return replay_command(again);
    if (dram_app->parsed()) {
        std::ostringstream out;
        const int status = dram::run_command(memory, out);
        say(out.str());
        return status;
    }
    if (bound_app->parsed()) return bound_command(bound);
    if (silicon_app->parsed()) return silicon_command(silicon);
    if (compare_app->parsed()) return compare_command(compare);
    if (explain_app->parsed()) return explain_command(explain);
    if (!shard.empty()) std::tie(sweep.shard, sweep.shards) = *shard_of(shard);
    if (sweep_app->parsed()) return sweep_command(sweep);
    if (test_app->parsed()) return test_command(test);
    if (reference_app->parsed()) return reference_command(named, reference_json);
    return presets_command(preset);
}

}  // namespace
}  // namespace dlasim

int main(int argc, char** argv)
{
    dlasim::open_standard_streams();
    dlasim::allow_many_files();
    return dlasim::guarded([&] { return dlasim::parse_and_run(argc, argv); });
}

/// The library asks for one; elaboration and simulation are started by Machine instead.
int sc_main(int, char**) { return 0; }
