// The whole machine behind one door: hardware, memory, a register program in, cycles, values and
// events out. SystemC's kernel is a singleton, so a process runs one machine, once.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/quantity.h"
#include "facts/hardware.h"
#include "facts/memory_spec.h"
#include "links/core.h"
#include "platform/hazard.h"
#include "platform/program.h"

namespace dlasim {

enum class MemorySpace { Primary, Secondary };  // behind DBB, behind CVSRAM

struct MachineOptions {
    bool events = false;      // record probes and bus logs
    bool stepping = false;    // evaluate every unit in every cycle, none ahead of SystemC: slow, same result
    bool values = true;       // compute data; without it only time is simulated
    bool one_memory = false;  // both ports see the same bytes, as in the measured cases
    bool check_dram = false;  // every command of a DRAM goes through the checker
    bool hazards = false;     // look for accesses out of order: RunResult::hazards
    bool drain = false;       // after the program, go on until the memory interfaces are idle
    Cycle cycle_limit = kNever;
    HostSpeed host;
};

/// A read or write command at a memory port, accepted in `cycle`.
struct BusCommand {
    Cycle cycle = 0;
    std::uint64_t address = 0;
    std::uint32_t beats = 0, id = 0;
};

/// Traffic of one memory port, from the cycle after t0 on where a program marks it, else from reset.
struct PortTraffic {
    std::uint64_t ar = 0, read_beats = 0, aw = 0, write_beats = 0, write_bytes = 0;
    std::vector<BusCommand> ar_log, aw_log;  // the first 400, with events only
    std::vector<std::pair<std::string, std::uint64_t>> read_bytes_by_client, write_bytes_by_client;
};

struct ProbeEvents {
    std::string name;
    std::uint64_t active = 0;
    std::int64_t first = -1, last = -1;
    std::vector<std::pair<std::int64_t, std::uint64_t>> runs;  // start relative to t0, length; all of them
};

/// A memory port's device: what the DRAM model says of itself in the cycles of `units`, empty for the ideal memory.
struct MemoryReport {
    std::string text, json;               // statistics and energy, for people and for tools
    std::vector<std::string> violations;  // with check_dram
    Cycle bus_held = 0;                   // core cycles in which its busiest data bus carried data, or its rules held it up
};

/// A unit is done: its bits of GLB.S_INTR_STATUS, and the cycle, relative to t0, in which the pin shows them. If the pin
/// still is high for another unit's sake, it has no edge then.
struct DoneEvent {
    std::int64_t cycle = 0;
    std::uint32_t bits = 0;
};

struct RunResult {
    Cycle t0 = 0;                                // accept cycle of the last write before MARK, 0 without one
    Cycle end = 0;                               // cycle in which the run stopped
    Cycle cycles = 0;                            // from t0 to the cycle in which the pin shows the last interrupt; to the end without one
    std::vector<std::int64_t> interrupt_cycles;  // rising edges of the pin after t0, relative to it
    std::vector<DoneEvent> done;                 // in order, masked ones too
    std::vector<std::int64_t> stamps;            // of the program, relative to t0
    std::vector<std::pair<std::string, std::uint32_t>> reads;
    std::vector<std::string> failed_checks;  // checked reads that found something else
    PortTraffic dbb, cvsram;
    MemoryReport dbb_memory, cvsram_memory;
    std::vector<ProbeEvents> probes;
    std::vector<UnitReport> units;             // cycles t0 + 1 to t0 + cycles: the difference of two snapshots
    bool hung = false;                         // nothing moves any more and the program is not at its end
    std::string diagnosis;                     // which unit waits for what
    std::optional<HazardReport> hazards;       // where they were looked for
    bool interrupted = false;                  // stopped by `keep_going` returning false
    double wall_seconds = 0, cpu_seconds = 0;  // that the simulation took, without what `on_host` did
};

class Machine {
public:
    Machine(const Hardware& hardware, const MemorySpec& memory, const MachineOptions& options);
    ~Machine();

    /// Throws ConfigError, naming `what`, where the memory behind that port cannot hold these bytes.
    void require_memory(MemorySpace space, Address address, std::uint64_t bytes, const std::string& what) const;
    void write_memory(MemorySpace space, Address address, std::span<const std::uint8_t> bytes);
    std::vector<std::uint8_t> read_memory(MemorySpace space, Address address, std::uint64_t bytes) const;

    /// Called about every `1 << 16` cycles with the current cycle; false stops the run.
    std::function<bool(Cycle)> keep_going;

    /// Called where the program has a HostStep, with its number; it may read and write memory.
    std::function<void(std::size_t)> on_host;

    /// Atoms that the MAC array has taken, or bytes that were moved, whatever is more: for the progress of a run, inside keep_going.
    std::uint64_t work() const;
    /// Stamps of the program that it has passed, likewise.
    std::size_t stamps() const;

    /// Runs the program from reset to 64 cycles after its last entry has completed. Once.
    RunResult run(const Program& program);

private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

/// Byte address of UNIT.REGISTER on the register bus of that generation; empty if there is none.
std::optional<std::uint32_t> register_address(const Hardware& hardware, const std::string& name);

}  // namespace dlasim
