#include "base/files/console.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>

#include "base/error.h"
#include "base/files/terminal.h"

namespace dlasim {
namespace {

int g_lost = 0;  // errno of the first write that standard output refused

void note_loss()
{
    if (g_lost == 0) g_lost = errno != 0 ? errno : EIO;
}

}  // namespace

void open_standard_streams()
{
    for (int descriptor = 0; descriptor <= 2; ++descriptor)
        if (::fcntl(descriptor, F_GETFD) < 0 && errno == EBADF) {
            // A folder, so that using it is refused as before, under its name in /dev too.
            const int taken = ::open("/", O_RDONLY | O_DIRECTORY);
            if (taken >= 0 && taken != descriptor) ::close(taken);
        }
    std::signal(SIGXFSZ, SIG_IGN);  // a file that may not grow is an error message
    std::signal(SIGPIPE, SIG_IGN);  // a reader that has gone away ends no run
}

void say_error(std::string_view text) noexcept
{
    try {
        std::string left = printable(shortened(text), true);
        std::fflush(stderr);
        for (std::size_t written = 0; written < left.size();) {
            const ssize_t n = ::write(STDERR_FILENO, left.data() + written, left.size() - written);
            if (n < 0 && errno == EINTR) continue;
            if (n <= 0) return;
            written += static_cast<std::size_t>(n);
        }
    } catch (...) {  // no memory for a message
    }
}

void say(std::string_view text)
{
    static const std::size_t columns = terminal_columns(STDOUT_FILENO);
    std::string clean = printable(text, true);
    if (columns != 0) {
        clean = fitted(clean, columns);
        if (colours_wanted()) clean = coloured(clean);
    }
    if (std::fwrite(clean.data(), 1, clean.size(), stdout) != clean.size()) note_loss();
}

bool flush_standard_output()
{
    if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) note_loss();
    if (g_lost == 0) return true;
    const int lost = std::exchange(g_lost, 0);
    std::clearerr(stdout);
    if (lost == EPIPE) return false;
    throw ConfigError("standard output",
                      std::string("cannot be written (") + std::strerror(lost) + "), expected a writable file with free space");
}

}  // namespace dlasim
