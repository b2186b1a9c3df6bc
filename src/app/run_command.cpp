#include "app/run_command.h"

#include <fmt/format.h>

#include "app/interrupt.h"
#include "app/output_folder.h"
#include "app/progress.h"
#include "app/simulate.h"
#include "base/error.h"
#include "config/hardware.h"
#include "config/layer_reader.h"
#include "config/memory.h"
#include "replay/events.h"
#include "report/result.h"

namespace dlasim {
namespace {

constexpr int kDone = 0, kMismatch = 1, kInterrupted = 130;

}  // namespace

int run_layer(Layer layer, const Hardware& hardware, const MemorySpec& memory, const RunOptions& options)
{
    watch_for_interrupt();  // before the first file
    if (options.has_seed) layer.data.seed = options.seed;
    const LayerTensors tensors = load_tensors(layer);
    const Plan plan = plan_layer(layer, hardware, tensors);
    const OutputFolder folder(options.out);
    OutputFolder::File file(folder, "result.json");

    Simulation simulation;
    {
        const std::uint64_t atoms = bound_named(lower_bounds(plan, layer, hardware, memory), "mac_array");
        Progress progress(layer.name, atoms, options.quiet);
        const auto keep_going = [&](Cycle now, std::uint64_t done) {
            progress.show(now, done);
            return !interrupted();
        };
        simulation = simulate(layer, hardware, memory, tensors, plan,
                              {.timing_only = options.timing_only, .stepping = options.stepping, .keep_going = keep_going,
                               .check_dram = options.check_dram, .events = !options.events.empty()});
    }
    const RunResult& run = simulation.run;
    if (run.interrupted || interrupted()) {
        fmt::print(stderr, "dlasim: interrupted in cycle {}, nothing written\n", run.end);
        return kInterrupted;
    }
    if (run.hung) throw MachineError(fmt::format("{}: the machine hangs after {} cycles\n{}", layer.name, run.end, run.diagnosis));

    const LayerResult result{layer, hardware, memory, plan, run, simulation.comparison, simulation.wall_seconds};
    // Every run of every probe: what accounts for a layer's cycles must see all of them.
    if (!options.events.empty())
        write_json_file(options.events, events_json(run, Recording{}, {}, hardware.memory.has_secondary, SIZE_MAX));
    file.commit(result_json(result).dump(2) + "\n");
    if (!options.quiet) fmt::print("{}\n  written      {}\n", summary_table(result), (folder.path() / "result.json").string());
    for (const std::string& violation : run.dbb_memory.violations) fmt::print(stderr, "{}: DRAM: {}\n", layer.name, violation);
    if (!run.dbb_memory.violations.empty()) return kMismatch;
    return result.comparison && !result.comparison->equal() ? kMismatch : kDone;
}

int run_command(const RunOptions& options)
{
    const Hardware hardware = load_hardware(options.hardware, options.settings);
    const MemorySpec memory = parse_memory(options.memory);
    return run_layer(read_layer(options.layer), hardware, memory, options);
}

}  // namespace dlasim
