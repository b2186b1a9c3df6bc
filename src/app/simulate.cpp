#include "app/simulate.h"

namespace dlasim {
namespace {

MachineOptions machine_options(const SimulateOptions& options)
{
    MachineOptions machine;
    machine.stepping = options.stepping;
    machine.events = options.events;
    machine.check_dram = options.check_dram;
    machine.values = !options.timing_only;
    machine.hazards = options.hazards;
    return machine;
}

/// What a machine calls while it runs is gone when the run has ended, however it ends; the machine may stay.
struct NoCallsAfterwards {
    Machine& machine;
    ~NoCallsAfterwards() { machine.keep_going = nullptr, machine.on_host = nullptr; }
};

/// True if the run came to its end.
template <class Simulated>
bool ran_to_end(Simulated& simulation, Machine& machine, const Program& program, const SimulateOptions& options)
{
    const NoCallsAfterwards ends{machine};
    if (options.keep_going) machine.keep_going = [&](Cycle now) { return options.keep_going(now, machine.work()); };
    simulation.run = machine.run(program);
    return !simulation.run.hung && !simulation.run.interrupted;
}

}  // namespace

Simulation simulate(const Job& job, const SimulateOptions& options)
{
    MachineOptions how = machine_options(options);
    how.drain = job.drains;
    Machine machine(job.hardware, job.memory, how);
    for (const TouchedRange& range : job.ranges) machine.require_memory(space(range.place), range.place.address, range.bytes, range.where);
    if (!options.timing_only || job.timed_by_values)
        job.contents->before(
            [&](const Place& place, std::span<const std::uint8_t> bytes) { machine.write_memory(space(place), place.address, bytes); });
    Simulation simulation;
    if (!ran_to_end(simulation, machine, job.program, options) || options.timing_only) return simulation;
    const RunResult& run = simulation.run;
    Findings findings = job.contents->after(
        {[&](const Place& place, std::uint64_t bytes) { return machine.read_memory(space(place), place.address, bytes); },
         run.reads.empty() ? 0 : run.reads.back().second});
    simulation.comparison = std::move(findings.comparison);
    simulation.output = std::move(findings.output);
    simulation.expected = std::move(findings.expected);
    simulation.direct = std::move(findings.direct);
    return simulation;
}

RunResult simulate_time(const NetworkPlan& plan, const NetworkProgram& program)
{
    SimulateOptions options;
    options.timing_only = true;
    return Machine(plan.hardware, plan.memory, machine_options(options)).run(program.entries);
}

NetworkSimulation simulate(NetworkPlan& plan, const SimulateOptions& options, const ImageSource* source)
{
    NetworkSimulation simulation;
    simulation.machine = std::make_shared<Machine>(plan.hardware, plan.memory, machine_options(options));
    Machine& machine = *simulation.machine;
    for (const TouchedRange& range : plan.ranges) machine.require_memory(space(range.place), range.place.address, range.bytes, range.where);
    const Contents::Write write = [&machine](const Place& place, std::span<const std::uint8_t> bytes) {
        machine.write_memory(space(place), place.address, bytes);
    };
    simulation.read = [&machine](const Place& place, std::uint64_t bytes) {
        return machine.read_memory(space(place), place.address, bytes);
    };
    std::size_t image = 0;
    std::optional<TensorWatch> watch;
    const auto begin = [&] {
        if (source) plan.golden = golden_tensors(plan, source->inputs(image));
        fill_memory(plan, write);
        watch.emplace(plan, simulation.read, write, options.keep_tensors || source);
    };
    const auto end = [&] {
        watch->end();
        add_findings(simulation.findings, watch->findings());
        if (source) source->done(image, watch->tensors());
        ++image;
    };
    if (!options.timing_only) {
        begin();
        machine.on_host = [&](std::size_t number) {
            const HostAction action = host_action(number, plan.plans.size());
            if (action.kind == HostAction::Kind::Compute) return run_host_step(plan, action.step, simulation.read, write);
            if (action.kind == HostAction::Kind::Look) return watch->before(action.step);
            end();
            begin();
        };
    }
    if (!ran_to_end(simulation, machine, plan.program.entries, options) || options.timing_only) return simulation;
    end();
    if (options.keep_tensors) simulation.tensors = watch->tensors();
    return simulation;
}

}  // namespace dlasim
