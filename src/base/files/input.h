// Files that are read: bounded, so that a device or a slip of the pen cannot fill memory.
//
// Error  ConfigError naming the file: missing, a folder, unreadable, longer than it may be.
#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace dlasim {

inline constexpr std::uint64_t kMaxText = 64u << 20;  // bytes of a descriptor, a sweep or a case: far above any real one

inline constexpr std::size_t kMaxLetters = 4096;  // bytes of a name or a path in a file: no more goes into results and messages

inline constexpr std::size_t kBeginning = 16;  // bytes of a file that say what it is

/// The bytes of an input (claims.h), at most `most` of them. `judge` is given its beginning before more than a block is read - at least
/// up to kBeginning bytes - and throws if that is of something else.
std::string read_text(const std::string& path, std::uint64_t most = kMaxText, const std::function<void(std::string_view)>& judge = {});
/// `bytes` bytes of a regular file from `offset` on; `bytes` 0: to its end, at most `most`.
std::string read_range(const std::string& path, std::uint64_t offset, std::uint64_t bytes, std::uint64_t most);
/// Of a file that dlasim itself has written and may write again: no input.
std::string read_own_text(const std::string& path, std::uint64_t most = kMaxText, const std::function<void(std::string_view)>& judge = {});

/// A text file line by line, for what is too long to be held at once.
class LineReader {
public:
    /// `most`: bytes of the whole file. Throws if it cannot be opened.
    explicit LineReader(std::filesystem::path path, std::uint64_t most);
    LineReader(LineReader&&) noexcept;
    ~LineReader();

    /// The next line without its end; false after the last one.
    bool next(std::string& line);
    const std::filesystem::path& path() const { return path_; }
    std::uint64_t number() const { return number_; }  // of the line next() gave, from 1

private:
    bool refill();

    std::filesystem::path path_;
    std::uint64_t left_, number_ = 0;
    int descriptor_ = -1;
    std::string buffer_;
    std::size_t at_ = 0;
};

}  // namespace dlasim
