// The whole machine with one interface: hardware, memory, a register program in, cycles, values and
// events out. SystemC's kernel is a singleton, so a process runs one machine, once.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/place.h"
#include "facts/hardware.h"
#include "facts/memory_spec.h"
#include "workload/workload.h"

namespace dlasim {

struct SimulateOptions {
    bool timing_only = false;  // data is not computed, only time is simulated
    bool stepping = false;     // evaluate every unit in every cycle, none ahead of SystemC, sum causes up often: slow, same result
    // Progress in units of Workload::work and stamps passed; false stops the run.
    std::function<bool(Cycle now, std::uint64_t done, std::size_t stamps)> keep_going{};
    bool check_dram = false;    // every command of a DRAM goes through the checker
    bool events = false;        // record probes and bus logs
    bool all_commands = false;  // bus logs have all commands, not only the first
    bool accesses = false;      // keep those of the register bus: RunResult::accesses
    bool causes = true;         // find what every cycle went to: RunResult::causes
    bool operations = false;    // when each operation of the program ran: RunResult::operations
    bool hazards = false;       // look for accesses out of order: RunResult::hazards
    Cycle sum_up_every = 0;     // cycles between two sums of causes; 0: as there is memory for notes; kNever: at the end only
    Cycle cycle_limit = kNever;
    std::function<void(const Sample&)> on_sample = {};  // at every interrupt of the pin after t0, and where else samples are wanted
    std::size_t even_samples = 0;                       // at most this many more, evenly over the run, by a power of two of cycles
    Cycle sample_every = 0;                             // also at this interval after t0; 0: at interrupts only
    // Of the workload: simulate() sets them.
    bool flushed = false;     // CBUF has been flushed before the program starts
    bool one_memory = false;  // both ports see the same bytes, as in the measured cases
    bool drain = false;       // after the program, go on until the memory interfaces are idle
    HostSpeed host{};
};

class Machine {
public:
    Machine(const Hardware& hardware, const MemorySpec& memory, const SimulateOptions& options);
    ~Machine();

    /// Throws ConfigError, naming `what`, where the memory there cannot hold these bytes.
    void require_memory(const Place& place, std::uint64_t bytes, const std::string& what) const;
    void write_memory(const Place& place, std::span<const std::uint8_t> bytes);
    std::vector<std::uint8_t> read_memory(const Place& place, std::uint64_t bytes) const;

    /// Called about every `1 << 16` cycles with the current cycle; false stops the run.
    std::function<bool(Cycle)> keep_going{};

    /// Called at every interrupt of the pin after t0, and where else samples are wanted, in the order of their cycles.
    std::function<void(const Sample&)> on_sample;

    /// Called where the program has a HostStep, with its number; it may read and write memory.
    std::function<void(std::size_t)> on_host;

    /// Atoms that the MAC array has taken, or bytes that were moved, whatever is more: for the progress of a run, inside keep_going.
    std::uint64_t work() const;
    /// Stamps of the program that it has passed, likewise.
    std::size_t stamps() const;

    /// Runs the program, or what the source says in its place, from reset to 64 cycles after its last entry has completed. Once.
    RunResult run(const Program& program, std::unique_ptr<ProgramSource> source = nullptr);

private:
    struct Parts;
    class Running;
    std::unique_ptr<Parts> parts_;
};

}  // namespace dlasim
