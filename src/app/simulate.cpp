#include "app/simulate.h"

#include <chrono>

#include "golden/reference.h"

namespace dlasim {
namespace {

MemorySpace space(const Place& place) { return place.primary ? MemorySpace::Primary : MemorySpace::Secondary; }

}  // namespace

Simulation simulate(const Layer& layer, const Hardware& hardware, const MemorySpec& memory, const LayerTensors& tensors, const Plan& plan,
                    const SimulateOptions& options)
{
    MachineOptions machine_options;
    machine_options.stepping = options.stepping;
    machine_options.events = options.events;
    machine_options.check_dram = options.check_dram;
    machine_options.values = !options.timing_only;
    Machine machine(hardware, memory, machine_options);
    for (const PlannedImage& image : plan.images) machine.write_memory(space(image.place), image.place.address, image.bytes);
    if (options.keep_going) machine.keep_going = [&](Cycle now) { return options.keep_going(now, machine.work()); };

    Simulation simulation;
    const auto start = std::chrono::steady_clock::now();
    simulation.run = machine.run(plan.program);
    simulation.wall_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (options.timing_only || simulation.run.hung || simulation.run.interrupted) return simulation;
    const Tensor reference = reference_output(layer, hardware, tensors, plan.method);
    if (layer.post.compares()) {
        simulation.comparison = compare_status(simulation.run.reads.back().second, reference);
        return simulation;
    }
    const Tensor output = collect_output(plan, layer, [&](Place place, std::uint64_t bytes) {
        return machine.read_memory(space(place), place.address, bytes);
    });
    simulation.comparison = compare(output, reference);
    return simulation;
}

}  // namespace dlasim
