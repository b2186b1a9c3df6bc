#include "app/sweep_children.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <ctime>

#include "app/interrupt.h"
#include "app/status.h"
#include "base/error.h"
#include "files/output.h"

namespace dlasim {
namespace {

constexpr timespec kLook{0, 50'000'000};  // how soon an interrupt is seen, at the latest

void do_nothing(int) {}

/// SIGCHLD waits to be taken by sigtimedwait(), which needs a handler to be there.
sigset_t child_signal()
{
    struct sigaction action = {};
    action.sa_handler = do_nothing;
    sigaction(SIGCHLD, &action, nullptr);
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    sigprocmask(SIG_BLOCK, &set, nullptr);
    return set;
}

}  // namespace

Children::~Children()
{
    for (const auto& [pid, index] : running_) ::kill(pid, SIGTERM);
    for (const auto& [pid, index] : running_) ::waitpid(pid, nullptr, 0);
}

void Children::start(std::size_t index)
{
    const std::string messages = (folder_(index) / "messages.txt").string();
    const int descriptor = ::open(messages.c_str(), O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0644);
    if (descriptor < 0) throw ConfigError(messages, std::string("cannot be written (") + std::strerror(errno) + ")");
    child_signal();
    const pid_t parent = ::getpid();
    std::fflush(stdout);  // or the child would print it again
    const pid_t pid = ::fork();
    if (pid == 0) become_point(parent, descriptor, index);
    ::close(descriptor);
    if (pid < 0) throw ConfigError("--jobs", "no more processes can be started, expected fewer jobs");
    running_[pid] = index;
}

std::vector<Children::Ended> Children::ended()
{
    std::vector<Ended> list;
    const sigset_t set = child_signal();
    while (!interrupted()) {
        int status = 0;
        for (pid_t pid; (pid = ::waitpid(-1, &status, WNOHANG)) > 0;) {
            const auto child = running_.find(pid);
            if (child == running_.end()) continue;
            list.push_back({child->second, WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status)});
            running_.erase(child);
        }
        if (!list.empty()) return list;
        ::sigtimedwait(&set, nullptr, &kLook);
    }
    return list;
}

void Children::become_point(pid_t parent, int messages, std::size_t index)
{
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(kInterrupted);  // it died before it could be watched
    ::dup2(messages, STDERR_FILENO);
    ::_exit(guarded([&] { return work_(index); }));
}

}  // namespace dlasim
