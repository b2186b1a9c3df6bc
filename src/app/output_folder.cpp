#include "app/output_folder.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/error.h"

namespace dlasim {
namespace {

constexpr off_t kClaim = 1 << 18;  // larger than any result

[[noreturn]] void refuse(const std::filesystem::path& path, const char* what)
{
    throw ConfigError(path.string(), std::string(what) + " (" + std::strerror(errno) + "), expected a folder that can be written (--out)");
}

}  // namespace

OutputFolder::OutputFolder(const std::filesystem::path& folder) : folder_(folder)
{
    std::error_code error;
    std::filesystem::create_directories(folder_, error);
    if (!std::filesystem::is_directory(folder_)) {
        errno = error ? error.value() : ENOTDIR;
        refuse(folder_, "is no folder and cannot become one");
    }
}

OutputFolder::File::File(const OutputFolder& folder, const std::string& name)
    : target_(folder.path() / name), temporary_(folder.path() / ("." + name + "." + std::to_string(::getpid())))
{
    descriptor_ = ::open(temporary_.c_str(), O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0644);
    if (descriptor_ < 0) refuse(temporary_, "cannot be written");
    if (const int error = ::posix_fallocate(descriptor_, 0, kClaim); error == ENOSPC || error == EFBIG || error == EDQUOT) {
        ::close(descriptor_);
        ::unlink(temporary_.c_str());
        errno = error;
        refuse(temporary_, "has no room");
    }
}

OutputFolder::File::~File()
{
    if (descriptor_ < 0) return;
    ::close(descriptor_);
    ::unlink(temporary_.c_str());
}

void OutputFolder::File::commit(const std::string& contents)
{
    std::size_t written = 0;
    while (written < contents.size()) {
        const ssize_t n = ::pwrite(descriptor_, contents.data() + written, contents.size() - written, static_cast<off_t>(written));
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) refuse(temporary_, "cannot be written");
        written += static_cast<std::size_t>(n);
    }
    if (::ftruncate(descriptor_, static_cast<off_t>(contents.size())) != 0) refuse(temporary_, "cannot be written");
    const int failed = ::close(descriptor_);
    descriptor_ = -1;
    if (failed != 0 || ::rename(temporary_.c_str(), target_.c_str()) != 0) {
        const int error = errno;
        ::unlink(temporary_.c_str());
        errno = error;
        refuse(target_, "cannot be written");
    }
}

}  // namespace dlasim
