#include "app/folder_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <string>

#include "app/interrupt.h"
#include "base/error.h"

namespace dlasim {
namespace {

constexpr int kPatience = 30'000, kPause = 5;  // milliseconds: until the children of a killed sweep are gone

/// Whether the process that wrote its number into the lock file is there.
bool holder_lives(int descriptor)
{
    char text[24] = {};
    if (::pread(descriptor, text, sizeof text - 1, 0) <= 0) return true;  // it has just taken the lock
    const long pid = std::strtol(text, nullptr, 10);
    return pid > 0 && (::kill(static_cast<pid_t>(pid), 0) == 0 || errno == EPERM);
}

}  // namespace

FolderLock::FolderLock(const std::filesystem::path& folder)
{
    const std::filesystem::path file = folder / ".lock";
    descriptor_ = ::open(file.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0644);
    if (descriptor_ < 0)
        throw ConfigError(file.string(),
                          std::string("cannot be written (") + std::strerror(errno) + "), expected a folder that can be written (--out)");
    for (int waited = 0; ::flock(descriptor_, LOCK_EX | LOCK_NB) != 0; waited += kPause) {
        const bool busy = errno == EWOULDBLOCK || errno == EINTR;
        if (busy && waited < kPatience && !interrupted() && (waited < 10 * kPause || !holder_lives(descriptor_))) {
            ::usleep(1000 * kPause);
            continue;
        }
        const std::string why = busy
                                    ? "another sweep writes into this folder, expected a folder of its own (--out)"
                                    : std::string("cannot be locked (") + std::strerror(errno) + "), expected a folder that can be (--out)";
        ::close(descriptor_);
        throw ConfigError(folder.string(), why);
    }
    const std::string pid = std::to_string(::getpid()) + "\n";
    if (::ftruncate(descriptor_, 0) != 0 || ::pwrite(descriptor_, pid.data(), pid.size(), 0) < 0) return;  // a courtesy only
}

FolderLock::~FolderLock()
{
    if (descriptor_ >= 0) ::close(descriptor_);
}

}  // namespace dlasim
