#include "app/run_command.h"

#include <chrono>
#include <fmt/format.h>

#include "app/interrupt.h"
#include "app/output_folder.h"
#include "app/progress.h"
#include "base/error.h"
#include "config/hardware.h"
#include "config/layer_reader.h"
#include "config/memory.h"
#include "golden/reference.h"
#include "report/result.h"

namespace dlasim {
namespace {

constexpr int kDone = 0, kMismatch = 1, kInterrupted = 130;

void fill_memory(Machine& machine, const Plan& plan)
{
    for (const PlannedImage& image : plan.images) machine.write_memory(MemorySpace::Primary, image.address, image.bytes);
}

Comparison check(const Machine& machine, const Plan& plan, const Layer& layer, const Hardware& hardware, const LayerTensors& tensors)
{
    const Tensor output = collect_output(plan, layer, [&](std::uint64_t address, std::uint64_t bytes) {
        return machine.read_memory(MemorySpace::Primary, address, bytes);
    });
    return compare(output, reference_output(layer, hardware, tensors, plan.winograd));
}

}  // namespace

int run_layer(Layer layer, const Hardware& hardware, const MemorySpec& memory, const RunOptions& options)
{
    if (options.has_seed) layer.data.seed = options.seed;
    const LayerTensors tensors = load_tensors(layer);
    const Plan plan = plan_layer(layer, hardware, tensors);
    const OutputFolder folder(options.out);
    OutputFolder::File file(folder, "result.json");

    MachineOptions machine_options;
    machine_options.stepping = options.stepping;
    machine_options.values = !options.timing_only;
    Machine machine(hardware, memory, machine_options);
    fill_memory(machine, plan);
    watch_for_interrupt();
    const auto start = std::chrono::steady_clock::now();
    RunResult run;
    {
        Progress progress(layer.name, largest(lower_bounds(plan, layer, hardware, memory)), options.quiet);
        machine.keep_going = [&](Cycle now) {
            progress.show(now);
            return !interrupted();
        };
        run = machine.run(plan.program);
    }
    const double wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (run.interrupted || interrupted()) {
        fmt::print(stderr, "dlasim: interrupted in cycle {}, nothing written\n", run.end);
        return kInterrupted;
    }
    if (run.hung) throw MachineError(fmt::format("{}: the machine hangs after {} cycles\n{}", layer.name, run.end, run.diagnosis));

    LayerResult result{layer, hardware, memory, plan, run, std::nullopt, wall};
    if (!options.timing_only) result.comparison = check(machine, plan, layer, hardware, tensors);
    file.commit(result_json(result).dump(2) + "\n");
    if (!options.quiet) fmt::print("{}\n  written      {}\n", summary_table(result), (folder.path() / "result.json").string());
    return result.comparison && !result.comparison->equal() ? kMismatch : kDone;
}

int run_command(const RunOptions& options)
{
    const Hardware hardware = load_hardware(options.hardware, options.settings);
    const MemorySpec memory = parse_memory(options.memory);
    return run_layer(read_layer(options.layer), hardware, memory, options);
}

}  // namespace dlasim
