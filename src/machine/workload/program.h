// A register program: what software does to the machine, in order. Format: interfaces.md 3.
#pragma once
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "base/cycle.h"

namespace dlasim {

/// UNIT.REGISTER with its byte address on the register bus.
struct RegisterWrite {
    std::string name;
    std::uint32_t address = 0;
    std::uint32_t value = 0;
};
/// With a check, (value & mask) must be (expected & mask); a run goes on and counts the mismatch.
struct RegisterRead {
    std::string name;
    std::uint32_t address = 0;
    bool check = false;
    std::uint32_t mask = 0xffffffff, expected = 0;
};
/// t0 is the cycle in which the last write before this mark was accepted.
struct MarkT0 {};
/// Waits for the interrupt pin, clears all status bits, waits for the pin to fall.
struct WaitInterrupt {
    std::string name;
};
/// Reads until (value & mask) == (expected & mask): for traces and for the CBUF flush.
struct PollRegister {
    std::string name;
    std::uint32_t address = 0, mask = 0xffffffff, expected = 0;
};
/// Waits until the interrupt pin is high, and leaves it so.
struct WaitPin {};
/// Waits until these GLB status bits have all risen since the last such wait, clearing what it sees.
struct WaitStatus {
    std::uint32_t bits = 0;
};

/// Notes the cycle in which the last write before was accepted: RunResult::stamps at this number.
struct Stamp {
    std::size_t number = 0;
};
/// What the host computes between two entries, in no time: Machine::on_host with this number.
struct HostStep {
    std::size_t number = 0;
    bool ends_report = false;  // the causes that are reported are those of the time up to the last interrupt before it
};

using ProgramEntry = std::variant<RegisterWrite, RegisterRead, MarkT0, WaitInterrupt, PollRegister, WaitPin, WaitStatus, Stamp, HostStep>;
using Program = std::vector<ProgramEntry>;

/// Software that decides by what it reads what it does next. It decides in no time: after a read it goes on in the cycle of the answer.
class ProgramSource {
public:
    virtual ~ProgramSource() = default;
    /// All entries so far have been played, `read` is the answer of the last read. Appends what comes next; nothing: the end.
    virtual void next(std::uint32_t read, Program& program) = 0;
};

/// How long software takes; 0: the next write is offered in the cycle after the last one was accepted.
struct HostSpeed {
    Cycle cycles_per_write = 0;   // extra, after every write
    Cycle interrupt_latency = 0;  // from the rising pin to the write that clears it
};

}  // namespace dlasim
