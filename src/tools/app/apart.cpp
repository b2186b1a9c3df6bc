#include "app/apart.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <utility>

#include "app/status.h"
#include "base/error.h"
#include "platform/machine.h"
#include "report/network/network_result.h"

namespace dlasim {
namespace {

/// The child: what it has to say goes into the pipe.
int simulate_apart(const NetworkPlan& plan, int pipe)
{
    const NetworkProgram program = network_program(plan, true);
    const RunResult run = Machine(plan.hardware, plan.memory, {.values = false}).run(program.entries);
    if (run.hung || run.interrupted) return kMachineBroke;
    for (const StepTimes& step : step_times(program, run)) {
        const std::int64_t cycles = step.cycles();
        if (::write(pipe, &cycles, sizeof cycles) != sizeof cycles) return kMachineBroke;
    }
    return kDone;
}

}  // namespace

StepsApart::StepsApart(const NetworkPlan& plan) : steps_(plan.plans.size())
{
    int ends[2];
    if (::pipe(ends) != 0) throw ConfigError("--layers apart", "no pipe can be made, expected fewer open files");
    const pid_t parent = ::getpid();
    std::fflush(stdout);  // or the child would print it again
    child_ = ::fork();
    if (child_ == 0) {
        ::close(ends[0]);
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (::getppid() != parent) ::_exit(kInterrupted);
        ::_exit(guarded([&] { return simulate_apart(plan, ends[1]); }, kNoMemory));
    }
    ::close(ends[1]);
    pipe_ = ends[0];
    if (child_ < 0) {
        ::close(pipe_);
        throw ConfigError("--layers apart", "no process can be started: the limit of processes is reached");
    }
}

StepsApart::~StepsApart()
{
    ::close(pipe_);
    if (child_ < 0) return;
    ::kill(child_, SIGKILL);
    ::waitpid(child_, nullptr, 0);
}

std::vector<std::int64_t> StepsApart::cycles()
{
    std::vector<std::int64_t> cycles;
    std::int64_t next = 0;
    while (cycles.size() < steps_) {
        std::size_t got = 0;
        while (got < sizeof next) {
            const ssize_t bytes = ::read(pipe_, reinterpret_cast<char*>(&next) + got, sizeof next - got);
            if (bytes < 0 && errno == EINTR) continue;
            if (bytes <= 0) fail();
            got += static_cast<std::size_t>(bytes);
        }
        cycles.push_back(next);
    }
    return cycles;
}

void StepsApart::fail()
{
    int status = 0;
    const bool ended = ::waitpid(std::exchange(child_, -1), &status, 0) > 0 && WIFEXITED(status);
    if (ended && WEXITSTATUS(status) == kNoMemory)
        throw ConfigError("--layers apart", "found no memory for the steps by themselves, expected more, or --layers together");
    throw MachineError("--layers apart: the standalone simulation of the steps hangs");
}

}  // namespace dlasim
