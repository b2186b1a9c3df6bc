#include "app/sweep/child_program.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>

#include "base/error.h"

namespace dlasim {
namespace {

constexpr std::size_t kMaxText = 1 << 20;

struct Pipe {
    Pipe()
    {
        if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw ConfigError("pipe", std::string("cannot be made (") + std::strerror(errno) + ")");
    }
    ~Pipe()
    {
        for (const int end : ends)
            if (end >= 0) ::close(end);
    }
    Pipe(const Pipe&) = delete;
    Pipe& operator=(const Pipe&) = delete;
    void close_writer()
    {
        ::close(ends[1]);
        ends[1] = -1;
    }
    std::array<int, 2> ends{-1, -1};
};

/// Reads both to their ends.
void drain(const Pipe& a, std::string& text_a, const Pipe& b, std::string& text_b)
{
    std::array<pollfd, 2> waits{pollfd{a.ends[0], POLLIN, 0}, pollfd{b.ends[0], POLLIN, 0}};
    std::string* texts[] = {&text_a, &text_b};
    std::array<char, 4096> buffer{};
    while (waits[0].fd >= 0 || waits[1].fd >= 0) {
        if (::poll(waits.data(), waits.size(), -1) < 0 && errno != EINTR) return;
        for (std::size_t i = 0; i < waits.size(); ++i) {
            if (waits[i].fd < 0 || waits[i].revents == 0) continue;
            const ssize_t n = ::read(waits[i].fd, buffer.data(), buffer.size());
            if (n < 0 && errno == EINTR) continue;
            if (n <= 0) waits[i].fd = -1;
            else if (texts[i]->size() < kMaxText) texts[i]->append(buffer.data(), static_cast<std::size_t>(n));
        }
    }
}

}  // namespace

ProgramEnd run_program(const std::vector<std::string>& words)
{
    std::vector<char*> arguments;
    for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));  // NOLINT: execvp does not write
    arguments.push_back(nullptr);
    Pipe out, said;
    std::fflush(stdout);
    const pid_t pid = ::fork();
    if (pid < 0) throw ConfigError(words.front(), std::string("cannot be started (") + std::strerror(errno) + ")");
    if (pid == 0) {
        ::dup2(out.ends[1], STDOUT_FILENO);
        ::dup2(said.ends[1], STDERR_FILENO);
        std::signal(SIGPIPE, SIG_DFL);
        ::execvp(arguments.front(), arguments.data());
        ::_exit(127);
    }
    out.close_writer();
    said.close_writer();
    ProgramEnd end;
    drain(out, end.out, said, end.said);
    int status = 0;
    while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    end.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return end;
}

}  // namespace dlasim
