#include "app/sweep/sweep_children.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <ctime>

#include "app/heap.h"
#include "app/interrupt.h"
#include "app/status.h"
#include "base/error.h"
#include "base/files/output.h"

namespace dlasim {
namespace {

constexpr timespec kLook{0, 50'000'000};  // how soon an interrupt is seen, at the latest
constexpr int kTooLong = 128 + SIGXCPU;

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
    for (const auto& [pid, child] : running_) ::kill(pid, SIGTERM);
    for (const auto& [pid, child] : running_) {
        ::waitpid(pid, nullptr, 0);
        ::close(child.output);
    }
}

void Children::start(std::size_t index)
{
    const std::string messages = (folder_(index) / "messages.txt").string();
    const int descriptor = ::open(messages.c_str(), O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0644);
    if (descriptor < 0) throw ConfigError(messages, std::string("cannot be written (") + std::strerror(errno) + ")");
    const Child child{index, ::memfd_create("point", MFD_CLOEXEC)};
    child_signal();
    const pid_t parent = ::getpid();
    std::fflush(stdout);  // or the child would print it again
    const pid_t pid = child.output < 0 ? -1 : ::fork();
    if (pid == 0) become_point(parent, descriptor, child);
    ::close(descriptor);
    if (pid < 0) {
        if (child.output >= 0) ::close(child.output);
        throw ConfigError("--jobs", "no more processes can be started, expected fewer jobs");
    }
    running_[pid] = child;
}

Children::Ended Children::look_at(const Child& child, int status)
{
    Ended ended{child.index, WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), ""};
    struct stat file = {};
    if (WIFEXITED(status) && ::fstat(child.output, &file) == 0) {
        ended.output.resize(static_cast<std::size_t>(file.st_size));
        const ssize_t got = ::pread(child.output, ended.output.data(), ended.output.size(), 0);
        ended.output.resize(got < 0 ? 0 : static_cast<std::size_t>(got));
    }
    ::close(child.output);
    return ended;
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
            list.push_back(look_at(child->second, status));
            running_.erase(child);
        }
        if (!list.empty()) return list;
        ::sigtimedwait(&set, nullptr, &kLook);
    }
    return list;
}

void Children::become_point(pid_t parent, int messages, const Child& child)
{
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(kInterrupted);  // it died before it could be watched
    ::dup2(messages, STDERR_FILENO);
    leave_pages_of_parent();
    std::signal(SIGXCPU, [](int) { ::_exit(kTooLong); });  // no core
    const rlimit limit{limit_, limit_ + 1};
    ::setrlimit(RLIMIT_CPU, &limit);
    const auto point = [&] {
        return work_(child.index, [&](std::string_view text) {
            while (!text.empty()) {
                const ssize_t n = ::write(child.output, text.data(), text.size());
                if (n < 0 && errno == EINTR) continue;
                if (n < 0) throw ConfigError("memory", std::string("cannot hold the results of a point (") + std::strerror(errno) + ")");
                text.remove_prefix(static_cast<std::size_t>(n));
            }
        });
    };
    ::_exit(guarded(point, kNoMemory));
}

}  // namespace dlasim
