#include "app/folder_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <string>

#include "app/interrupt.h"
#include "base/error.h"
#include "base/files/input.h"
#include "base/files/number.h"

namespace dlasim {
namespace {

constexpr int kLockTimeout = 30'000, kPause = 5;  // milliseconds: until the children of a killed sweep are gone
constexpr const char *kLockFile = ".lock", *kOurs = "dlasim sweep";

/// Whether the process that wrote its number into the lock file is there.
bool holder_lives(int descriptor)
{
    char text[24] = {};
    if (::pread(descriptor, text, sizeof text - 1, 0) <= 0) return true;  // it has just taken the lock
    const long pid = std::strtol(text, nullptr, 10);
    return pid > 0 && (::kill(static_cast<pid_t>(pid), 0) == 0 || errno == EPERM);
}

}  // namespace

FolderLock::FolderLock(const std::filesystem::path& folder) : file_(folder / kLockFile)
{
    descriptor_ = ::open(file_.c_str(), O_CREAT | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0644);
    if (descriptor_ < 0)
        throw ConfigError(file_.string(),
                          std::string("cannot be written (") + std::strerror(errno) + "), expected a folder that can be written (--out)");
    for (int waited = 0; ::flock(descriptor_, LOCK_EX | LOCK_NB) != 0; waited += kPause) {
        const bool busy = errno == EWOULDBLOCK || errno == EINTR;
        if (busy && waited < kLockTimeout && !interrupted() && (waited < 10 * kPause || !holder_lives(descriptor_))) {
            ::usleep(1000 * kPause);
            continue;
        }
        const std::string why = busy
                                    ? "another sweep writes into this folder, expected a folder of its own (--out)"
                                    : std::string("cannot be locked (") + std::strerror(errno) + "), expected a folder that can be (--out)";
        ::close(descriptor_);
        throw ConfigError(folder.string(), why);
    }
    numbers_ = numbers_of(folder);
    write();
}

FolderLock::~FolderLock()
{
    if (descriptor_ >= 0) ::close(descriptor_);
}

bool FolderLock::held(const std::filesystem::path& folder)
{
    const int descriptor = ::open((folder / kLockFile).c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (descriptor < 0) return false;
    const bool busy = ::flock(descriptor, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    ::close(descriptor);
    return busy;
}

/// "12345", the process; "dlasim sweep"; "points 16", ..
FolderLock::Numbers FolderLock::numbers_of(const std::filesystem::path& folder)
{
    std::error_code none;
    Numbers numbers;
    if (!std::filesystem::is_regular_file(std::filesystem::symlink_status(folder / kLockFile, none))) return numbers;
    std::istringstream lines(read_own_text((folder / kLockFile).string()));
    std::string line;
    std::getline(lines, line);  // who holds it
    if (!std::getline(lines, line) || line != kOurs) return numbers;
    while (std::getline(lines, line)) {
        const std::size_t space = std::min(line.find(' '), line.size());
        const auto number = whole_number(std::string_view(line).substr(std::min(space + 1, line.size())));
        if (!number) break;
        numbers.emplace(line.substr(0, space), *number);
    }
    return numbers;
}

std::uint64_t FolderLock::number(const std::string& name) const
{
    const auto there = numbers_.find(name);
    return there == numbers_.end() ? 0 : there->second;
}

void FolderLock::keep(const std::string& name, std::uint64_t number)
{
    if (number == 0) numbers_.erase(name);
    else numbers_[name] = number;
    write();
}

/// Atomically: a killed process leaves the old text or the new one.
void FolderLock::write()
{
    std::string text = std::to_string(::getpid()) + "\n" + kOurs + "\n";
    for (const auto& [name, number] : numbers_) text += name + " " + std::to_string(number) + "\n";
    const auto size = static_cast<ssize_t>(text.size());
    if (::pwrite(descriptor_, text.data(), text.size(), 0) != size || ::ftruncate(descriptor_, size) != 0)
        throw ConfigError(file_.string(),
                          std::string("cannot be written (") + std::strerror(errno) + "), expected a folder that can be written (--out)");
}

}  // namespace dlasim
