#include "base/files/output.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
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
constexpr int kMaxLinks = 40;  // from one to the next, as the system follows them

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

OutputFile::OutputFile(const fs::path& target, std::size_t reserve, Sync sync) : named_(target), target_(target), sync_(sync)
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
        expect_no_input(target);
        descriptor_ = ::open(target.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY);
        if (descriptor_ < 0) refuse("cannot be written");
        return;
    }
    target_ = behind_links(target);  // a link stays a link
    // It may have gone since: another run that has its turn in this folder begins with that.
    if (there && ::access(target_.c_str(), W_OK) != 0 && errno != ENOENT) refuse("cannot be written");
    claim_.emplace(target);
    temporary_ = target_.parent_path() / temporary_name(target_.filename().string());
    open_regular(there ? status.st_mode & 0777 : 0644);
    if (there) static_cast<void>(::fchmod(descriptor_, status.st_mode & 0777));  // whatever the umask is, where there are modes
    if (reserve == 0) return;
    const int full = ::posix_fallocate(descriptor_, 0, static_cast<off_t>(reserve));
    if (full == 0) reserved_ = reserve;
    if (full != ENOSPC && full != EFBIG && full != EDQUOT) return;
    abandon();
    errno = full;
    refuse("has no free space");
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

void OutputFile::shut()
{
    if (descriptor_ >= 0 && ::close(std::exchange(descriptor_, -1)) != 0) refuse("cannot be written");
}

void OutputFile::take_name()
{
    if (!has_name_) {
        const std::string nameless = name_of(descriptor_);
        const auto link = [&](const fs::path& as) { return ::linkat(AT_FDCWD, nameless.c_str(), AT_FDCWD, as.c_str(), AT_SYMLINK_FOLLOW); };
        if (link(target_) == 0) return;  // nothing was there: no other name on the way
        if (link(temporary_) != 0 && (errno != EEXIST || ::unlink(temporary_.c_str()) != 0 || link(temporary_) != 0))
            refuse("cannot be written");
        has_name_ = true;
    }
    if (::rename(temporary_.c_str(), target_.c_str()) != 0) refuse("cannot be written");
    has_name_ = false;
}

void OutputFile::refuse(const char* what) const
{
    throw OutputError(named_.string(), std::string(what) + " (" + std::strerror(errno) + "), expected a file that can be written");
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

void OutputFile::finish()
{
    if (finished_) return;
    drain(buffer_);
    buffer_.clear();
    if (regular()) {
        if (reserved_ > written_ && ::ftruncate(descriptor_, static_cast<off_t>(written_)) != 0) refuse("cannot be written");
        if (sync_ == Sync::Now && ::fsync(descriptor_) != 0 && errno != EINVAL && errno != EROFS) refuse("cannot be written");
    }
    finished_ = true;
}

void OutputFile::commit()
{
    finish();
    if (has_name_ || !regular()) shut();  // what the system has to say comes before the name
    if (regular()) take_name();
    shut();
    if (regular() && sync_ == Sync::Now) sync_folder(target_.parent_path());
}

void make_folder(const fs::path& folder)
{
    std::error_code error, none;
    fs::create_directories(folder, error);
    if (fs::is_directory(folder, none)) return;
    const std::string why = error ? error.message() : std::strerror(ENOTDIR);
    throw ConfigError(folder.string(), "is no folder and cannot become one (" + why + "), expected a folder that can be written");
}

std::pair<fs::path, bool> follow_links(fs::path file)
{
    std::error_code error;
    for (int links = 0; fs::is_symlink(fs::symlink_status(file, error)); ++links) {
        const fs::path to = fs::read_symlink(file, error);
        if (error || links == kMaxLinks) return {file, false};
        file = file.parent_path() / to;
    }
    return {file, true};
}

fs::path behind_links(const fs::path& file)
{
    const auto [end, there] = follow_links(file);
    if (!there) throw ConfigError(file.string(), "is a dangling link, expected a file that can be written");
    return end;
}

void remove_file(const fs::path& file)
{
    if (!is_output(file)) remove_old_file(file);
}

void remove_old_file(const fs::path& file)
{
    struct stat status = {};
    if (::lstat(file.c_str(), &status) != 0 || !(S_ISREG(status.st_mode) || S_ISLNK(status.st_mode))) return;
    expect_no_input(file);
    if (::unlink(file.c_str()) != 0 && errno != ENOENT)
        throw ConfigError(file.string(), std::string("is old and cannot be removed (") + std::strerror(errno) + ")");
}

void allow_many_files()
{
    rlimit files = {};
    if (::getrlimit(RLIMIT_NOFILE, &files) != 0) return;
    files.rlim_cur = files.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &files);
}

void remove_leftovers(const fs::path& folder, const std::string& name)
{
    const std::string start = "." + name + ".";
    std::error_code error;
    for (auto entry = fs::directory_iterator(folder, error); !error && entry != fs::directory_iterator(); entry.increment(error)) {
        const std::string file = entry->path().filename().string();
        if (file.starts_with(start) && file.find_first_not_of("0123456789.", start.size()) == std::string::npos && !is_input(entry->path()))
            ::unlink(entry->path().c_str());
    }
}

}  // namespace dlasim
