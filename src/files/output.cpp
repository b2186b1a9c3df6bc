#include "files/output.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <streambuf>
#include <utility>

#include "base/error.h"

namespace dlasim {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kBuffered = 1 << 16;

/// /dev/stdout may be a regular file; who names it wants what is written there. Folders of /dev/shm are folders.
bool belongs_to_the_system(const fs::path& path)
{
    const std::string text = fs::absolute(path).lexically_normal().string();
    return (text.starts_with("/dev/") && !text.starts_with("/dev/shm/")) || text.starts_with("/proc/");
}

/// A name of its own for every file of every process: .NAME.PID, .NAME.PID.2, ...
std::string temporary_name(const std::string& name)
{
    static std::atomic<unsigned> count = 0;
    const unsigned number = ++count;
    const std::string first = fmt::format(".{}.{}", name, ::getpid());
    return number == 1 ? first : fmt::format("{}.{}", first, number);
}

/// Where the system keeps an open file that has no name.
std::string name_of(int descriptor) { return fmt::format("/proc/self/fd/{}", descriptor); }

/// Brings the name in the folder to the disk. Not every file system can; nothing is lost then but time.
void sync_folder(const fs::path& folder)
{
    const int descriptor = ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor < 0) return;
    ::fsync(descriptor);
    ::close(descriptor);
}

}  // namespace

/// A stream's way into the file.
class OutputFile::Buffer final : public std::streambuf {
public:
    explicit Buffer(OutputFile& file) : file_(file) {}

protected:
    int_type overflow(int_type c) override
    {
        if (c != traits_type::eof()) {
            const char byte = traits_type::to_char_type(c);
            file_.write({&byte, 1});
        }
        return traits_type::not_eof(c);
    }
    std::streamsize xsputn(const char* text, std::streamsize count) override
    {
        file_.write({text, static_cast<std::size_t>(count)});
        return count;
    }

private:
    OutputFile& file_;
};

OutputFile::OutputFile(const fs::path& target, std::size_t claim, Sync sync) : named_(target), target_(target), sync_(sync)
{
    if (target.empty()) throw ConfigError("output", "found an empty name, expected a file");
    struct stat status = {};
    const bool there = ::stat(target.c_str(), &status) == 0;
    if (there && S_ISDIR(status.st_mode)) {
        errno = EISDIR;
        refuse("cannot be written");
    }
    if (!target.has_filename()) {
        errno = ENOTDIR;
        refuse("cannot be written");
    }
    if ((there && !S_ISREG(status.st_mode)) || belongs_to_the_system(target)) {
        descriptor_ = ::open(target.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY);
        if (descriptor_ < 0) refuse("cannot be written");
        return;
    }
    std::error_code error;
    if (there) target_ = fs::canonical(target, error);  // a link stays a link
    if (error) target_ = target;
    if (there && ::access(target_.c_str(), W_OK) != 0) refuse("cannot be written");
    temporary_ = target_.parent_path() / temporary_name(target_.filename().string());
    open_regular(there ? status.st_mode & 0777 : 0644);
    if (claim == 0) return;
    const int full = ::posix_fallocate(descriptor_, 0, static_cast<off_t>(claim));
    if (full == 0) claim_ = claim;
    if (full != ENOSPC && full != EFBIG && full != EDQUOT) return;
    abandon();
    errno = full;
    refuse("has no room");
}

OutputFile::~OutputFile() { abandon(); }

void OutputFile::abandon()
{
    if (descriptor_ >= 0) ::close(descriptor_);
    if (has_name_) ::unlink(temporary_.c_str());
    descriptor_ = -1;
    has_name_ = false;
}

void OutputFile::open_regular(mode_t mode)
{
    const fs::path folder = temporary_.has_parent_path() ? temporary_.parent_path() : ".";
    const bool possible = ::access(temporary_.c_str(), F_OK) == 0 || errno == ENOENT;  // the name, in time
    descriptor_ = possible ? ::open(folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, mode) : -1;
    if (descriptor_ >= 0 && ::access(name_of(descriptor_).c_str(), F_OK) == 0) return;
    abandon();  // without /proc it could get no name
    descriptor_ = ::open(temporary_.c_str(), O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, mode);
    if (descriptor_ < 0) refuse("cannot be written");
    has_name_ = true;
}

void OutputFile::give_name()
{
    if (has_name_) return;
    const std::string nameless = name_of(descriptor_);
    const auto link = [&] { return ::linkat(AT_FDCWD, nameless.c_str(), AT_FDCWD, temporary_.c_str(), AT_SYMLINK_FOLLOW); };
    if (link() != 0 && (errno != EEXIST || ::unlink(temporary_.c_str()) != 0 || link() != 0)) refuse("cannot be written");
    has_name_ = true;
}

void OutputFile::refuse(const char* what) const
{
    throw OutputError(named_.string(), std::string(what) + " (" + std::strerror(errno) + "), expected a place that can be written");
}

void OutputFile::drain(std::string_view text)
{
    while (!text.empty()) {
        const ssize_t n = ::write(descriptor_, text.data(), text.size());
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) refuse("cannot be written");
        text.remove_prefix(static_cast<std::size_t>(n));
        written_ += static_cast<std::size_t>(n);
    }
}

void OutputFile::write(std::string_view text)
{
    if (buffer_.size() + text.size() < kBuffered) {
        buffer_ += text;
        return;
    }
    drain(buffer_);
    buffer_.clear();
    if (text.size() < kBuffered) buffer_ += text;
    else drain(text);
}

std::ostream& OutputFile::stream()
{
    if (!stream_) {
        stream_buffer_ = std::make_unique<Buffer>(*this);
        stream_ = std::make_unique<std::ostream>(stream_buffer_.get());
        stream_->exceptions(std::ios::badbit);
    }
    return *stream_;
}

void OutputFile::settle()
{
    if (settled_) return;
    drain(buffer_);
    buffer_.clear();
    if (regular()) {
        if (claim_ > written_ && ::ftruncate(descriptor_, static_cast<off_t>(written_)) != 0) refuse("cannot be written");
        if (sync_ == Sync::Now && ::fsync(descriptor_) != 0 && errno != EINVAL && errno != EROFS) refuse("cannot be written");
    }
    settled_ = true;
}

void OutputFile::commit()
{
    settle();
    if (regular()) give_name();
    const int failed = ::close(std::exchange(descriptor_, -1));
    if (failed != 0 || (regular() && ::rename(temporary_.c_str(), target_.c_str()) != 0)) refuse("cannot be written");
    has_name_ = false;
    if (regular() && sync_ == Sync::Now) sync_folder(target_.parent_path());
}

void make_folder(const fs::path& folder)
{
    std::error_code error;
    fs::create_directories(folder, error);
    if (fs::is_directory(folder, error)) return;
    const std::string why = error ? error.message() : std::strerror(ENOTDIR);
    throw ConfigError(folder.string(), "is no folder and cannot become one (" + why + "), expected a folder that can be written");
}

void remove_file(const fs::path& file)
{
    struct stat status = {};
    if (::lstat(file.c_str(), &status) != 0 || !(S_ISREG(status.st_mode) || S_ISLNK(status.st_mode))) return;
    if (::unlink(file.c_str()) != 0 && errno != ENOENT)
        throw ConfigError(file.string(), std::string("is old and cannot be removed (") + std::strerror(errno) + ")");
}

void remove_leftovers(const fs::path& folder, const std::string& name)
{
    const std::string start = "." + name + ".";
    std::error_code error;
    for (auto entry = fs::directory_iterator(folder, error); !error && entry != fs::directory_iterator(); entry.increment(error)) {
        const std::string file = entry->path().filename().string();
        if (file.starts_with(start) && file.find_first_not_of("0123456789.", start.size()) == std::string::npos)
            ::unlink(entry->path().c_str());
    }
}

}  // namespace dlasim
