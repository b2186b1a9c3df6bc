#include "platform/simulate.h"

namespace dlasim {

RunResult simulate(const Workload& workload, Host& host, const SimulateOptions& options)
{
    SimulateOptions how = options;
    how.flushed = workload.flushed;
    how.one_memory = workload.one_memory;
    how.drain = workload.drains;
    how.host = workload.speed;
    Machine machine(workload.hardware, workload.memory, how);
    for (const TouchedRange& range : workload.ranges) machine.require_memory(range.place, range.bytes, range.where);
    const HostMemory memory{
        [&](const Place& place, std::uint64_t bytes) { return machine.read_memory(place, bytes); },
        [&](const Place& place, std::span<const std::uint8_t> bytes) { machine.write_memory(place, bytes); },
    };
    host.before(memory);
    machine.on_sample = options.on_sample;
    machine.on_host = [&](std::size_t step) { host.at(step, memory); };
    if (options.keep_going)
        machine.keep_going = [&](Cycle now) {
            const std::size_t stamps = machine.stamps();
            return options.keep_going(now, workload.work.stamps ? stamps : machine.work(), stamps);
        };
    RunResult run = machine.run(workload.program, workload.source ? workload.source() : nullptr);
    if (run.hung) host.hangs(memory);
    else if (!run.interrupted) host.after(run, memory);
    return run;
}

}  // namespace dlasim
