// The fixed program of a hardware task: writes and waits in the order of one of two schedulers.
//
//   serial    program a chain, enable it from its last unit to its first, wait
//   overlap   the same, but the next chain is programmed before the wait
//
// All interrupts are masked but those of the last unit of the chain that is waited for. The third mode, what NVIDIA's driver does, depends
// on what it reads: nvidia/driver_source.h.
//
// Source  loadable.md 4.
#pragma once
#include "loadable/graph.h"
#include "loadable/programmer.h"

namespace dlasim::loadable {

enum class Mode { Serial, Overlap, Driver };
inline constexpr std::array<const char*, 3> kModeNames{"serial", "overlap", "driver"};

/// An operation in the program.
struct Scheduled {
    std::size_t task = 0, operation = 0;  // in the file, in the task
    std::size_t chain = 0;                // over all tasks
    unsigned group = 0;
    std::size_t stamp = 0;  // of the program: its last enable was accepted
};

class Scheduler {
public:
    /// `completed` is called where the program has waited for a chain, with its number over all tasks.
    Scheduler(Mode mode, Programmer& programmer, Program& program, std::function<void(std::size_t chain)> completed)
        : mode_(mode), programmer_(programmer), program_(program), completed_(std::move(completed))
    {
    }

    /// Appends the first `most` chains of the task.
    void add(const HardwareTask& task, const std::vector<Chain>& chains, std::size_t most);

    /// In the order in which they are enabled.
    std::vector<Scheduled> take() { return std::move(scheduled_); }

private:
    void enable(const HardwareTask& task, const Prepared& prepared, std::size_t chain);
    void wait(Kind kind, unsigned group);
    void mark();

    Mode mode_;
    Programmer& programmer_;
    Program& program_;
    std::function<void(std::size_t chain)> completed_;
    std::vector<Scheduled> scheduled_;
    std::size_t chains_ = 0;
    bool marked_ = false;
};

}  // namespace dlasim::loadable
