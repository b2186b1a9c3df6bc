#include "app/apart.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <utility>

#include "app/heap.h"
#include "app/status.h"
#include "base/error.h"
#include "jobs/job_host.h"
#include "network/network_host.h"
#include "platform/simulate.h"
#include "report/network/network_result.h"

namespace dlasim {
namespace {

/// The child: what it has to say goes into the pipe.
int simulate_steps(const NetworkPlan& plan, const Apart::Give& give)
{
    const NetworkProgram program = network_program(plan, true);
    Machine machine(plan.hardware, plan.memory, {.timing_only = true});
    for (const PlannedImage& image : plan.timed_by_values() ? plan.images : std::vector<PlannedImage>{})
        machine.write_memory(image.place, image.bytes);
    const RunResult run = machine.run(program.entries);
    if (run.hung || run.interrupted) return kMachineBroke;
    for (const StepTimes& step : step_times(program, run)) give(step.cycles());
    return kDone;
}

SimulateOptions time_alone()
{
    SimulateOptions how;
    how.timing_only = true;
    how.causes = false;
    return how;
}

int simulate_network(NetworkPlan plan, const Apart::Give& give)
{
    NetworkHost host(plan, false);
    const RunResult run = simulate(plan, host, time_alone());
    if (run.hung || run.interrupted) return kMachineBroke;
    give(static_cast<std::int64_t>(run.cycles));
    for (const StepTimes& step : step_times(plan.marks, run)) give(step.cycles());
    return kDone;
}

int simulate_job(const Job& job, const Apart::Give& give)
{
    std::int64_t cycles = -1;
    try {
        JobHost host(job, false);
        const RunResult run = simulate(job, host, time_alone());
        if (!run.hung && !run.interrupted) cycles = static_cast<std::int64_t>(run.cycles);
    } catch (const ConfigError&) {  // the run of the job itself says why
    }
    give(cycles);
    return kDone;
}

}  // namespace

Apart::Apart(std::string option, const std::function<int(const Give& give)>& simulate) : option_(std::move(option))
{
    int ends[2];
    if (::pipe(ends) != 0) throw ConfigError(option_, "no pipe can be made, expected fewer open files");
    const pid_t parent = ::getpid();
    std::fflush(stdout);  // or the child would print it again
    child_ = ::fork();
    if (child_ == 0) {
        ::close(ends[0]);
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (::getppid() != parent) ::_exit(kInterrupted);
        leave_pages_of_parent();
        const Give give = [pipe = ends[1]](std::int64_t number) {
            if (::write(pipe, &number, sizeof number) != sizeof number) ::_exit(kMachineBroke);
        };
        ::_exit(guarded([&] { return simulate(give); }, kNoMemory));
    }
    ::close(ends[1]);
    pipe_ = ends[0];
    if (child_ < 0) {
        ::close(pipe_);
        throw ConfigError(option_, "no process can be started: the limit of processes is reached");
    }
}

Apart::~Apart()
{
    ::close(pipe_);
    if (child_ < 0) return;
    ::kill(child_, SIGKILL);
    ::waitpid(child_, nullptr, 0);
}

std::int64_t Apart::next()
{
    std::int64_t number = 0;
    std::size_t got = 0;
    while (got < sizeof number) {
        const ssize_t bytes = ::read(pipe_, reinterpret_cast<char*>(&number) + got, sizeof number - got);
        if (bytes < 0 && errno == EINTR) continue;
        if (bytes <= 0) fail();
        got += static_cast<std::size_t>(bytes);
    }
    return number;
}

void Apart::fail()
{
    int status = 0;
    const bool ended = ::waitpid(std::exchange(child_, -1), &status, 0) > 0 && WIFEXITED(status);
    if (ended && WEXITSTATUS(status) == kNoMemory)
        throw ConfigError(option_, "found no memory for a simulation beside this one, expected more, or a run without it");
    throw MachineError(option_ + ": the standalone simulation hangs");
}

StandaloneSteps::StandaloneSteps(const NetworkPlan& plan)
    : steps_(plan.plans.size()), apart_("--layers apart", [&plan](const Apart::Give& give) { return simulate_steps(plan, give); })
{
}

std::vector<std::int64_t> StandaloneSteps::cycles()
{
    std::vector<std::int64_t> cycles;
    while (cycles.size() < steps_) cycles.push_back(apart_.next());
    return cycles;
}

NetworkCycles cycles_apart(const NetworkPlan& plan, const std::string& option)
{
    Apart apart(option, [&plan](const Apart::Give& give) { return simulate_network(plan, give); });
    NetworkCycles cycles{.network = static_cast<std::uint64_t>(apart.next()), .steps = {}};
    while (cycles.steps.size() < plan.plans.size()) cycles.steps.push_back(apart.next());
    return cycles;
}

std::int64_t cycles_of(NetworkPlan plan)
{
    std::int64_t cycles = -1;
    simulate_network(std::move(plan), [&](std::int64_t number) {
        if (cycles < 0) cycles = number;
    });
    return cycles;
}

std::optional<std::uint64_t> cycles_apart(const Job& job, const std::string& option)
{
    Apart apart(option, [&](const Apart::Give& give) { return simulate_job(job, give); });
    const std::int64_t cycles = apart.next();
    return cycles < 0 ? std::nullopt : std::optional(static_cast<std::uint64_t>(cycles));
}

}  // namespace dlasim
