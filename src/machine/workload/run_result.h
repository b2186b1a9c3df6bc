// What a run of a program gives: cycles, what every unit did in them, traffic, events.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/cycle.h"
#include "facts/causes.h"
#include "links/core.h"
#include "links/run_log.h"
#include "workload/hazard.h"
#include "workload/program.h"

namespace dlasim {

/// A read or write command at a memory port, accepted in `cycle`.
struct BusCommand {
    Cycle cycle = 0;
    std::uint64_t address = 0;
    std::uint32_t beats = 0, id = 0;
};

/// Traffic of one memory port, from the cycle after t0 on where a program marks it, else from reset.
struct PortTraffic {
    std::uint64_t ar = 0, read_beats = 0, aw = 0, write_beats = 0, write_bytes = 0;
    std::vector<BusCommand> ar_log, aw_log;  // with events the first 400, or all
    std::vector<std::pair<std::string, std::uint64_t>> read_bytes_by_client, write_bytes_by_client;
};

struct ProbeEvents {
    std::string name;
    std::uint64_t active = 0;
    std::int64_t first = -1, last = -1;
    std::vector<std::pair<std::int64_t, std::uint64_t>> runs;  // start relative to t0, length; all of them
};

/// Cycles that a unit spent in a phase, from `start` on, relative to t0.
struct PhaseRun {
    std::int64_t start = 0;
    std::uint64_t cycles = 0;
    Phase phase = Phase::Gated;
};

/// What a unit did when: the cycles t0 + 1 to t0 + cycles without those in which it was gated.
struct UnitPhases {
    std::string unit;
    std::vector<PhaseRun> runs;
};

/// How full something was: (cycle relative to t0, value from it on).
struct LevelValues {
    std::string name;
    std::vector<std::pair<std::int64_t, std::int64_t>> values;
};

/// Layers of the register groups of a unit, cycles of the machine.
struct GroupUses {
    std::string unit;
    std::vector<GroupUse> uses;
};

/// A row of a DRAM bank was open; cycles of the core clock, relative to t0.
struct OpenRow {
    std::uint32_t bank = 0, row = 0;  // bank: over all ranks and channels
    std::int64_t start = 0, end = 0;
};

/// A memory port's device: what the DRAM model says of itself in the cycles of `units`, empty for the ideal memory.
struct MemoryReport {
    std::string text, json;               // statistics and energy, for people and for tools
    std::vector<std::string> violations;  // with check_dram
    Cycle bus_held = 0;                   // core cycles in which its busiest data bus carried data, or its rules delayed it
};

/// A unit is done: its bits of GLB.S_INTR_STATUS, and the cycle, relative to t0, in which the pin shows them. If the pin
/// still is high for another unit's sake, it has no edge then.
struct DoneEvent {
    std::int64_t cycle = 0;
    std::uint32_t bits = 0;
};

/// What software did on the register bus, or saw of the interrupt pin, in a cycle of the machine: from reset.
struct RegisterAccess {
    enum class Kind : std::uint8_t { Read, Write, PinRises, PinFalls };
    Kind kind = Kind::Read;
    Cycle cycle = 0;  // a write was accepted, the answer of a read is there
    std::uint32_t address = 0, value = 0;
};

/// When an operation ran: from the acceptance of its last op-enable to its interrupt, masked or not; relative to t0.
struct OperationTimes {
    std::int64_t start = 0, done = 0;
    bool ended() const { return done > start; }
};

/// What has been counted from t0 to the end of a cycle.
struct Sample {
    Cycle cycle = 0;         // relative to t0
    bool interrupt = false;  // the pin shows one in it
    std::vector<UnitReport> units;
    double dram_pj = 0;                                                                    // of a DRAM at DBB
    std::uint64_t row_hits = 0, row_misses = 0, row_conflicts = 0;                         // of it, likewise
    std::vector<std::pair<std::string, std::uint64_t>> read_by_client, written_by_client;  // bytes, over all ports
};

struct RunResult {
    static constexpr std::int64_t kNotStamped = INT64_MIN;

    Cycle t0 = 0;                                // accept cycle of the last write before MARK, 0 without one
    Cycle end = 0;                               // cycle in which the run stopped
    Cycle cycles = 0;                            // from t0 to the cycle in which the pin shows the last interrupt; to the end without one
    std::vector<std::int64_t> interrupt_cycles;  // rising edges of the pin after t0, relative to it
    std::vector<DoneEvent> done;                 // in order, masked ones too
    std::vector<std::int64_t> stamps;            // of the program by number, relative to t0
    std::vector<OperationTimes> operations;      // of the program (workload/operations.h), where they were looked for
    std::vector<std::pair<std::string, std::uint32_t>> reads;
    std::vector<std::string> failed_checks;  // checked reads that found something else
    Program played;                          // of software that decides while it runs
    std::vector<RegisterAccess> accesses;    // where they were wanted, in the order of their cycles
    PortTraffic dbb, cvsram;
    MemoryReport dbb_memory, cvsram_memory;
    std::vector<ProbeEvents> probes;           // with events only
    std::vector<UnitPhases> phases;            // with events only, in the order of `units`
    std::vector<ProbeEvents> clients;          // beats of memory clients, with events only: "CDMA_DAT reads DBB"
    std::vector<LevelValues> levels;           // with events only
    std::vector<GroupUses> groups;             // with events only
    std::vector<StripeTimes> stripes;          // with events only; cycles of the machine
    std::vector<OpenRow> rows;                 // with events only, of the DRAM at DBB, in the order in which they were closed
    std::vector<std::string> banks;            // their names, by number
    std::vector<UnitReport> units;             // cycles t0 + 1 to t0 + cycles: the difference of two snapshots
    Causes causes;                             // of `cycles`; empty if they were not looked for, or the run did not end by itself
    bool hung = false;                         // nothing moves any more and the program is not at its end
    std::string diagnosis;                     // which unit waits for what
    std::vector<std::string> working;          // units with an enabled register group at the end
    std::vector<DroppedWrite> dropped;         // the first register writes that units dropped
    std::optional<HazardReport> hazards;       // where they were looked for
    bool interrupted = false;                  // stopped by `keep_going` returning false
    double wall_seconds = 0, cpu_seconds = 0;  // that the simulation took, without what `on_host` did
};

}  // namespace dlasim
