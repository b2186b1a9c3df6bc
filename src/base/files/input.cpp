#include "base/files/input.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "base/files/claims.h"

namespace dlasim {
namespace {

constexpr std::size_t kBlock = 1 << 16, kLongestLine = 1 << 20;

/// Opens what can be read; the size is that of a regular file, 0 of anything else.
int open_file(const std::string& path, std::uint64_t& size)
{
    const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) throw ConfigError(path, std::string("cannot be opened (") + std::strerror(errno) + "), expected a readable file");
    struct stat status = {};
    if (::fstat(descriptor, &status) == 0 && S_ISDIR(status.st_mode)) {
        ::close(descriptor);
        throw ConfigError(path, "is a folder, expected a readable file");
    }
    size = S_ISREG(status.st_mode) ? static_cast<std::uint64_t>(status.st_size) : 0;
    return descriptor;
}

[[noreturn]] void too_long(const std::string& path, std::uint64_t most)
{
    throw ConfigError(path, "is longer than " + std::to_string(most) + " bytes, expected a shorter file");
}

/// Appends up to `count` bytes to the text; false at the end of the file.
bool read_more(int descriptor, const std::string& path, std::string& text, std::size_t count)
{
    const std::size_t before = text.size();
    text.resize(before + count);
    ssize_t n = -1;
    do n = ::read(descriptor, text.data() + before, count);
    while (n < 0 && errno == EINTR);
    text.resize(before + static_cast<std::size_t>(n < 0 ? 0 : n));
    if (n < 0) throw ConfigError(path, std::string("cannot be read (") + std::strerror(errno) + "), expected a readable file");
    return n > 0;
}

/// Closes at the end of its block.
struct Descriptor {
    int number;
    ~Descriptor() { ::close(number); }
};

}  // namespace

std::string read_text(const std::string& path, std::uint64_t most, const std::function<void(std::string_view)>& judge)
{
    claim_input(path);
    return read_own_text(path, most, judge);
}

std::string read_own_text(const std::string& path, std::uint64_t most, const std::function<void(std::string_view)>& judge)
{
    std::uint64_t size = 0;
    const Descriptor file{open_file(path, size)};
    if (size > most) too_long(path, most);
    std::string text;
    text.reserve(size + 1);
    bool judged = !judge;
    while (read_more(file.number, path, text, kBlock)) {
        if (text.size() > most) too_long(path, most);
        if (judged || text.size() < kBeginning) continue;
        judge(text);
        judged = true;
    }
    return text;
}

std::string read_range(const std::string& path, std::uint64_t offset, std::uint64_t bytes, std::uint64_t most)
{
    claim_input(path);
    std::uint64_t size = 0;
    const Descriptor file{open_file(path, size)};
    if (offset > size || bytes > size - offset)
        throw ConfigError(path, "has " + std::to_string(size) + " bytes, expected at least " + std::to_string(bytes) + " from byte " +
                                    std::to_string(offset) + " on");
    if (bytes == 0) bytes = size - offset;
    if (bytes > most) too_long(path, most);
    if (::lseek(file.number, static_cast<off_t>(offset), SEEK_SET) < 0) throw ConfigError(path, "cannot be read, expected a regular file");
    std::string text;
    text.reserve(bytes);
    while (text.size() < bytes && read_more(file.number, path, text, std::min<std::uint64_t>(kBlock, bytes - text.size())))
        ;
    if (text.size() != bytes) throw ConfigError(path, "ends while it is read, expected " + std::to_string(bytes) + " bytes");
    return text;
}

LineReader::LineReader(std::filesystem::path path, std::uint64_t most) : path_(std::move(path)), left_(most)
{
    claim_input(path_);
    std::uint64_t size = 0;
    descriptor_ = open_file(path_.string(), size);
    if (size > most) {
        ::close(descriptor_);
        too_long(path_.string(), most);
    }
}

LineReader::LineReader(LineReader&& other) noexcept
    : path_(std::move(other.path_)),
      left_(other.left_),
      number_(other.number_),
      descriptor_(std::exchange(other.descriptor_, -1)),
      buffer_(std::move(other.buffer_)),
      at_(other.at_)
{
}

LineReader::~LineReader()
{
    if (descriptor_ >= 0) ::close(descriptor_);
}

bool LineReader::refill()
{
    buffer_.erase(0, at_);
    at_ = 0;
    const std::size_t before = buffer_.size();
    if (!read_more(descriptor_, path_.string(), buffer_, kBlock)) return false;
    const std::size_t more = buffer_.size() - before;
    if (more > left_) throw ConfigError(path_.string(), "is too long, expected a shorter file");
    left_ -= more;
    return true;
}

bool LineReader::next(std::string& line)
{
    ++number_;
    for (std::size_t searched = at_;;) {
        if (const std::size_t end = buffer_.find('\n', searched); end != std::string::npos) {
            line.assign(buffer_, at_, end - at_);
            at_ = end + 1;
            return true;
        }
        if (buffer_.size() - at_ > kLongestLine)
            throw ConfigError(path_.string() + ":" + std::to_string(number_), "is a line of more than 1 MiB, expected shorter lines");
        searched = buffer_.size() - at_;
        if (!refill()) break;
    }
    if (at_ == buffer_.size()) return false;
    line.assign(buffer_, at_);
    at_ = buffer_.size();
    return true;
}

}  // namespace dlasim
