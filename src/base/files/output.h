// Files that are written. A regular file appears whole or not at all: it is written beside its
// target, brought to the disk and renamed. A device, a FIFO or a socket is written through.
//
//   OutputFile(path)          before the run: what cannot be written is refused here
//      │ write(), stream()    a file of the same folder that has no name, so that a killed process leaves none;
//      │                      .NAME.PID... where the file system must have names
//      ▼
//   finish()                  flush, fsync: whatever can fail but the name
//      ▼
//   commit()                  finish() if it was not, and the name; without it nothing remains
//
// Error  ConfigError naming the file and what the system says.
#pragma once
#include <sys/types.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/files/claims.h"

namespace dlasim {

/// Whether a file is brought to the disk before it appears. Later: a kill loses nothing, a power cut may leave it empty.
enum class Sync { Now, Later };

/// A place that cannot be written, or is full: no fault of what would have been written.
class OutputError : public ConfigError {
public:
    using ConfigError::ConfigError;
};

class OutputFile {
public:
    /// Opens it; `reserve` bytes of a regular file are reserved now, so that a full disk is seen before
    /// the run. Missing folders are an error, and so is a file that is an input or that another OutputFile has: claims.h.
    explicit OutputFile(const std::filesystem::path& target, std::size_t reserve = 0, Sync sync = Sync::Now);
    ~OutputFile();  // removes what was not committed
    OutputFile(const OutputFile&) = delete;
    OutputFile& operator=(const OutputFile&) = delete;

    void write(std::string_view text);
    /// The same as a stream; a write that fails throws.
    std::ostream& stream();
    /// All of it is on the disk; the old file is still the one that is seen.
    void finish();
    /// After this the file is where it belongs. Once.
    void commit();
    void finish(std::string_view contents)
    {
        write(contents);
        finish();
    }
    void commit(std::string_view contents)
    {
        write(contents);
        commit();
    }
    bool regular() const { return !temporary_.empty(); }

private:
    class Buffer;
    [[noreturn]] void refuse(const char* what) const;
    void open_regular(mode_t mode);
    void shut();
    void take_name();
    void abandon();
    void drain(std::string_view text);

    std::filesystem::path named_, target_, temporary_;  // as the user names it; where it really is; empty when written through
    int descriptor_ = -1;
    std::optional<OutputClaim> claim_;          // none where it is written through
    bool has_name_ = false, finished_ = false;  // has_name_: the one of temporary_
    Sync sync_;
    std::size_t reserved_ = 0, written_ = 0;
    std::string buffer_;
    std::unique_ptr<Buffer> stream_buffer_;
    std::unique_ptr<std::ostream> stream_;
};

/// Makes a folder with all above it. Throws ConfigError if that cannot be.
void make_folder(const std::filesystem::path& folder);

/// The output tensor's name in the folder of a result.
inline constexpr const char* kTensorFile = "output.npy";

/// What a link leads to, there or not, through all links; a file that is none. False for a circle.
std::pair<std::filesystem::path, bool> follow_links(std::filesystem::path file);
/// The same; throws ConfigError for a circle.
std::filesystem::path behind_links(const std::filesystem::path& file);

/// Removes a file, if there is one, that no longer belongs beside what is written. A folder of that name stays, and a file of this
/// command. Throws ConfigError if that cannot be, and for an input of this command.
void remove_file(const std::filesystem::path& file);
/// The same of a file that this command is about to rewrite.
void remove_old_file(const std::filesystem::path& file);

/// As many files may be open as the system allows this process: every file of a run is, until all of them are complete.
void allow_many_files();

/// Removes the temporary files that killed writers of `name` have left in the folder. Nobody may be
/// writing it.
void remove_leftovers(const std::filesystem::path& folder, const std::string& name);

}  // namespace dlasim
