#include "app/simulate.h"

#include <chrono>
#include <ctime>

#include "golden/reference.h"

namespace dlasim {
namespace {

MemorySpace space(const Place& place) { return place.primary ? MemorySpace::Primary : MemorySpace::Secondary; }

MachineOptions machine_options(const SimulateOptions& options)
{
    MachineOptions machine;
    machine.stepping = options.stepping;
    machine.events = options.events;
    machine.check_dram = options.check_dram;
    machine.values = !options.timing_only;
    return machine;
}

/// True if the run came to its end.
bool run_program(Simulation& simulation, Machine& machine, const Program& program, const SimulateOptions& options)
{
    if (options.keep_going) machine.keep_going = [&](Cycle now) { return options.keep_going(now, machine.work()); };
    const auto start = std::chrono::steady_clock::now();
    const std::clock_t cpu = std::clock();
    simulation.run = machine.run(program);
    simulation.wall_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    simulation.cpu_seconds = static_cast<double>(std::clock() - cpu) / CLOCKS_PER_SEC;
    return !simulation.run.hung && !simulation.run.interrupted;
}

}  // namespace

Simulation simulate(const Layer& layer, const Hardware& hardware, const MemorySpec& memory, const LayerTensors& tensors, const Plan& plan,
                    const SimulateOptions& options)
{
    Machine machine(hardware, memory, machine_options(options));
    for (const TouchedRange& range : plan.ranges) machine.require_memory(space(range.place), range.place.address, range.bytes, range.where);
    for (const PlannedImage& image : plan.images) machine.write_memory(space(image.place), image.place.address, image.bytes);
    Simulation simulation;
    if (!run_program(simulation, machine, plan.program, options) || options.timing_only) return simulation;
    const Tensor reference = reference_output(layer, hardware, tensors, plan.method);
    if (layer.post.compares()) {
        simulation.comparison = compare_status(simulation.run.reads.back().second, reference);
        return simulation;
    }
    simulation.output = collect_output(
        plan, layer, [&](Place place, std::uint64_t bytes) { return machine.read_memory(space(place), place.address, bytes); });
    simulation.comparison = compare(*simulation.output, reference);
    if (!tensors.expected.empty())
        simulation.expected = difference(*simulation.output, tensors.expected, layer.output.precision, layer.data.expected);
    return simulation;
}

Simulation simulate(const Hardware& hardware, const MemorySpec& memory, const TransferMemory& contents, const TransferPlan& plan,
                    const SimulateOptions& options)
{
    MachineOptions with = machine_options(options);
    with.drain = true;  // an interrupt of BDMA vouches for the memory of its last block only
    Machine machine(hardware, memory, with);
    for (const TouchedRange& range : plan.ranges) machine.require_memory(space(range.place), range.place.address, range.bytes, range.where);
    if (!options.timing_only)
        contents.before(
            [&](const Place& place, std::span<const std::uint8_t> bytes) { machine.write_memory(space(place), place.address, bytes); });
    Simulation simulation;
    if (!run_program(simulation, machine, plan.program, options) || options.timing_only) return simulation;
    const auto read = [&](const Place& place, std::uint64_t bytes) { return machine.read_memory(space(place), place.address, bytes); };
    simulation.comparison = contents.compare(read);
    simulation.output = contents.output(read);
    if (simulation.output) simulation.expected = contents.difference(*simulation.output);
    return simulation;
}

}  // namespace dlasim
