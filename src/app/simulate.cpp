#include "app/simulate.h"

#include <chrono>

#include "golden/reference.h"

namespace dlasim {

Simulation simulate(const Layer& layer, const Hardware& hardware, const MemorySpec& memory, const LayerTensors& tensors, const Plan& plan,
                    const SimulateOptions& options)
{
    MachineOptions machine_options;
    machine_options.stepping = options.stepping;
    machine_options.events = options.events;
    machine_options.check_dram = options.check_dram;
    machine_options.values = !options.timing_only;
    Machine machine(hardware, memory, machine_options);
    for (const PlannedImage& image : plan.images) machine.write_memory(MemorySpace::Primary, image.address, image.bytes);
    if (options.keep_going) machine.keep_going = [&](Cycle now) { return options.keep_going(now, machine.work()); };

    Simulation simulation;
    const auto start = std::chrono::steady_clock::now();
    simulation.run = machine.run(plan.program);
    simulation.wall_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (options.timing_only || simulation.run.hung || simulation.run.interrupted) return simulation;
    const Tensor output = collect_output(plan, layer, [&](std::uint64_t address, std::uint64_t bytes) {
        return machine.read_memory(MemorySpace::Primary, address, bytes);
    });
    simulation.comparison = compare(output, reference_output(layer, hardware, tensors, plan.method));
    return simulation;
}

}  // namespace dlasim
