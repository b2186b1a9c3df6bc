// The output folder of a run. It is opened before anything runs, so that a folder that cannot be
// written, or a full disk, is refused first; files appear whole or not at all.
#pragma once
#include <cctype>
#include <filesystem>
#include <string>

#include "files/output.h"

namespace dlasim {

/// The table of a run, in the folder of its result.
inline constexpr const char* kReportFile = "report.txt";

/// A tensor's name as that of a file.
inline std::string file_name(const std::string& tensor)
{
    std::string file;
    for (const char c : tensor) file += std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '-' || c == '.' ? c : '_';
    return file + ".npy";
}

class OutputFolder {
public:
    /// Makes the folder if it is missing. Throws ConfigError if it cannot be written.
    explicit OutputFolder(const std::filesystem::path& folder, Sync sync = Sync::Now) : folder_(folder), sync_(sync)
    {
        make_folder(folder_);
    }

    const std::filesystem::path& path() const { return folder_; }

    /// A file of the folder that will be written; its space is claimed now.
    OutputFile file(const std::string& name) const { return OutputFile(folder_ / name, kClaim, sync_); }

private:
    static constexpr std::size_t kClaim = 1 << 18;  // larger than any result

    std::filesystem::path folder_;
    Sync sync_;
};

}  // namespace dlasim
