#include "app/simulate.h"

#include <chrono>
#include <ctime>

namespace dlasim {
namespace {

MemorySpace space(const Place& place) { return place.primary ? MemorySpace::Primary : MemorySpace::Secondary; }

MachineOptions machine_options(const Job& job, const SimulateOptions& options)
{
    MachineOptions machine;
    machine.stepping = options.stepping;
    machine.events = options.events;
    machine.check_dram = options.check_dram;
    machine.values = !options.timing_only;
    machine.drain = job.drains;
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

Simulation simulate(const Job& job, const SimulateOptions& options)
{
    Machine machine(job.hardware, job.memory, machine_options(job, options));
    for (const TouchedRange& range : job.ranges)
        machine.require_memory(space(range.place), Address(range.place.address), range.bytes, range.where);
    if (!options.timing_only || job.timed_by_values)
        job.contents->before(
            [&](const Place& place, std::span<const std::uint8_t> bytes) { machine.write_memory(space(place), place.address, bytes); });
    Simulation simulation;
    if (!run_program(simulation, machine, job.program, options) || options.timing_only) return simulation;
    const RunResult& run = simulation.run;
    Findings findings = job.contents->after(
        {[&](const Place& place, std::uint64_t bytes) { return machine.read_memory(space(place), Address(place.address), bytes); },
         run.reads.empty() ? 0 : run.reads.back().second});
    simulation.comparison = std::move(findings.comparison);
    simulation.output = std::move(findings.output);
    simulation.expected = std::move(findings.expected);
    return simulation;
}

}  // namespace dlasim
