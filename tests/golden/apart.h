// Runs that are compared: each in a process of its own, since a process simulates once; their figures in one line.
#pragma once
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <string>

#include "platform/machine.h"

namespace dlasim {

/// Between t0 and the last interrupt every cycle of a unit is in one phase, and its clocks run in no more.
inline bool every_cycle_has_an_owner(const RunResult& run, std::int64_t cycles)
{
    bool all = run.cycles == static_cast<Cycle>(cycles);
    for (const UnitReport& unit : run.units) {
        all &= unit.phases.total() == run.cycles;
        for (const auto& [domain, on] : unit.clock_on) all &= on <= run.cycles;
        if (!all) {
            fmt::print("{}: {} cycles of {}, the last interrupt comes in {}\n", unit.name, unit.phases.total(), run.cycles, cycles);
            return false;
        }
    }
    return all;
}

/// Everything a run says, in one line.
inline std::string figures(const RunResult& run)
{
    std::string text = fmt::format("t0 {} end {} interrupts {}", run.t0, run.end, fmt::join(run.interrupt_cycles, " "));
    for (const DoneEvent& done : run.done) text += fmt::format(" done {} {:#x}", done.cycle, done.bits);
    for (const PortTraffic* port : {&run.dbb, &run.cvsram})
        text += fmt::format(" | {} {} {} {} {}", port->ar, port->read_beats, port->aw, port->write_beats, port->write_bytes);
    for (const UnitReport& unit : run.units) {
        text += " | " + unit.name;
        for (std::size_t p = 0; p < kPhases; ++p) text += fmt::format(" {}", unit.phases.cycles(static_cast<Phase>(p)));
        for (const auto& [name, value] : unit.counters) text += fmt::format(" {} {}", name, value);
        for (const auto& [name, value] : unit.clock_on) text += fmt::format(" {} {}", name, value);
    }
    for (const CauseSlice& slice : run.causes.slices) {
        text += fmt::format(" | {}", slice.end);
        for (const CauseCycles& spent : slice.spent) text += fmt::format(" {} {}", path_of(spent.cause), spent.cycles);
    }
    return text + '\n';
}

/// What `child` writes to its pipe if it returns 0, else nothing. `what` names a crash.
inline std::string run_apart(const std::string& what, const std::function<int(int pipe)>& child)
{
    int ends[2];
    if (::pipe(ends) != 0) return "";
    std::fflush(stdout);
    const pid_t process = ::fork();
    if (process == 0) ::_exit(child(ends[1]));
    ::close(ends[1]);
    std::string text;
    char buffer[4096];
    for (ssize_t n; (n = ::read(ends[0], buffer, sizeof buffer)) > 0;) text.append(buffer, static_cast<std::size_t>(n));
    ::close(ends[0]);
    int status = 0;
    ::waitpid(process, &status, 0);
    if (!WIFEXITED(status)) fmt::print("CRASH signal {} {}\n", WTERMSIG(status), what);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? text : "";
}

/// True if a run says the same whenever its causes are summed up. `run`: what it says, with SimulateOptions::sum_up_every.
inline bool same_causes(const std::string& what, const std::function<std::string(Cycle sum_up_every)>& run)
{
    const std::string at_the_end = run(kNever);
    bool same = !at_the_end.empty();
    for (const Cycle every : {Cycle{0}, Cycle{300}, Cycle{1000}, Cycle{17}})
        if (const std::string other = run(every); other != at_the_end) {
            const std::size_t at = static_cast<std::size_t>(
                std::mismatch(other.begin(), other.end(), at_the_end.begin(), at_the_end.end()).first - other.begin());
            const std::size_t from = at > 150 ? at - 150 : 0;
            fmt::print("CAUSES {}\n  summed up every {} cycles ...{}\n  at the end ...{}\n", what, every, other.substr(from, 300),
                       at_the_end.substr(std::min(from, at_the_end.size()), 300));
            same = false;
        }
    return same;
}

/// True if all of the text went into the pipe.
inline bool put(int pipe, const std::string& text) { return ::write(pipe, text.data(), text.size()) == static_cast<ssize_t>(text.size()); }

}  // namespace dlasim
