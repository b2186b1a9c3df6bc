#include "app/run_command.h"

#include <fmt/format.h>

#include <ctime>
#include <filesystem>

#include "app/interrupt.h"
#include "app/output_folder.h"
#include "app/progress.h"
#include "app/simulate.h"
#include "app/status.h"
#include "base/error.h"
#include "config/hardware.h"
#include "config/layer_reader.h"
#include "config/memory.h"
#include "config/transfer_reader.h"
#include "files/console.h"
#include "replay/events.h"
#include "report/result.h"
#include "report/transfer_result.h"

namespace dlasim {
namespace {

constexpr std::uint64_t kNpyHeader = 128;  // bytes, more than any shape needs

/// The files of a run, opened before it starts: what cannot be written is refused now.
struct Outputs {
    /// `tensor_bytes`: of the output tensor, 0 if there is none.
    Outputs(const RunOptions& options, std::uint64_t tensor_bytes) : folder(options.out), result(folder.file("result.json"))
    {
        if (tensor_bytes != 0 && options.tensors && !options.timing_only) tensor.emplace(folder.path() / kTensorFile, tensor_bytes);
        if (!options.events.empty()) events.emplace(options.events);
    }
    OutputFolder folder;
    OutputFile result;
    std::optional<OutputFile> events, tensor;
    std::string tensor_file() const { return tensor ? kTensorFile : ""; }
};

/// Simulates, with a line of progress that counts up to `work`.
template <class Simulate>
Simulation show_progress(const std::string& name, const char* unit, std::uint64_t work, const RunOptions& options, Simulate simulate_with)
{
    Progress progress(name, unit, work, options.quiet);
    const auto keep_going = [&](Cycle now, std::uint64_t done) {
        progress.show(now, done);
        return !interrupted();
    };
    return simulate_with(SimulateOptions{.timing_only = options.timing_only,
                                         .stepping = options.stepping,
                                         .keep_going = keep_going,
                                         .check_dram = options.check_dram,
                                         .events = !options.events.empty()});
}

/// Writes what a run says of itself; `result_of` makes it of a simulation that came to its end.
template <class ResultOf>
int conclude(const std::string& name, const Simulation& simulation, const Hardware& hardware, const RunOptions& options, Outputs& outputs,
             Precision output_precision, ResultOf result_of)
{
    const RunResult& run = simulation.run;
    if (run.interrupted || interrupted()) {
        say_error("dlasim: interrupted in cycle {}, nothing written\n", run.end);
        return kInterrupted;
    }
    if (run.hung) throw MachineError(fmt::format("{}: the machine hangs after {} cycles\n{}", printable(name), run.end, run.diagnosis));

    const auto result = result_of(simulation);
    // Every run of every probe: what accounts for a layer's cycles must see all of them.
    if (outputs.events)
        outputs.events->commit(json_file_text(events_json(run, Recording{}, {}, hardware.memory.has_secondary, SIZE_MAX), 1));
    if (outputs.tensor) outputs.tensor->commit(npy_file(*simulation.output, output_precision));
    else remove_file(outputs.folder.path() / kTensorFile);  // of an earlier run: it is not the output of this one
    outputs.result.commit(json_file_text(result_json(result), 2));
    if (!options.quiet) say("{}\n  written      {}\n", summary_table(result), printable((outputs.folder.path() / "result.json").string()));
    if (options.times)
        say_error("CPU seconds: {:.6f} in all, {:.6f} in the simulation\n", static_cast<double>(std::clock()) / CLOCKS_PER_SEC,
                  simulation.cpu_seconds);
    for (const std::string& violation : run.dbb_memory.violations) say_error("{}: DRAM: {}\n", printable(name), violation);
    if (!run.dbb_memory.violations.empty()) return kMismatch;
    const bool unexpected = result.expected && !result.expected->equal();
    return unexpected || (result.comparison && !result.comparison->equal()) ? kMismatch : kDone;
}

}  // namespace

int run_layer(Layer layer, const Hardware& hardware, const MemorySpec& memory, const RunOptions& options)
{
    watch_for_interrupt();  // before the first file
    if (options.has_seed) layer.data.seed = options.seed;
    plan_shape(layer, hardware);  // what cannot be placed is refused before its tensors take memory
    const LayerTensors tensors = load_tensors(layer);
    const Plan plan = plan_layer(layer, hardware, tensors);
    const std::uint64_t places = std::uint64_t{layer.batch} * layer.kernels * layer.out_height() * layer.out_width();
    const std::uint64_t bytes = layer.output.precision == Precision::Int8 ? places : 2 * places;
    Outputs outputs(options, layer.post.compares() ? 0 : kNpyHeader + bytes);
    const std::uint64_t atoms = array_operations(plan, hardware);
    const Simulation simulation = show_progress(layer.name, "MACs", atoms, options, [&](const SimulateOptions& with) {
        return simulate(layer, hardware, memory, tensors, plan, with);
    });
    return conclude(layer.name, simulation, hardware, options, outputs, layer.output.precision, [&](const Simulation& s) {
        return LayerResult{layer, hardware, memory, plan, s.run, s.comparison, s.wall_seconds, s.expected, outputs.tensor_file()};
    });
}

int run_transfer(Transfer transfer, const Hardware& hardware, const MemorySpec& memory, const RunOptions& options)
{
    watch_for_interrupt();
    if (options.has_seed) transfer.seed = options.seed;
    const TransferPlan plan = plan_transfer(transfer, hardware);
    const std::unique_ptr<TransferMemory> contents = transfer_memory(transfer, plan);
    const std::optional<Precision> precision = transfer.cube_precision();
    Outputs outputs(options, precision ? kNpyHeader + plan.bytes : 0);
    const Simulation simulation = show_progress(transfer.name, "bytes", plan.bytes, options, [&](const SimulateOptions& with) {
        return simulate(hardware, memory, *contents, plan, with);
    });
    return conclude(transfer.name, simulation, hardware, options, outputs, precision.value_or(Precision::Int8), [&](const Simulation& s) {
        return TransferResult{transfer, hardware, memory, plan, s.run, s.comparison, s.wall_seconds, s.expected, outputs.tensor_file()};
    });
}

int run_command(const RunOptions& options)
{
    const Hardware hardware = load_hardware(options.hardware, options.settings);
    const MemorySpec memory = parse_memory(options.memory);
    const Json json = read_json(options.layer);
    const std::string folder = std::filesystem::path(options.layer).parent_path().string();
    if (is_transfer(json)) return run_transfer(transfer_from_json(json, options.layer, "", folder), hardware, memory, options);
    return run_layer(layer_from_json(json, options.layer, "", folder), hardware, memory, options);
}

}  // namespace dlasim
