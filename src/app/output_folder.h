// The output folder of a run. It is opened before anything runs, so that a folder that cannot be
// written, or a full disk, is refused first; files appear whole or not at all.
#pragma once
#include <cctype>
#include <filesystem>
#include <set>
#include <string>

#include "files/output.h"

namespace dlasim {

/// The table of a run, in the folder of its result.
inline constexpr const char* kReportFile = "report.txt";

/// Names of tensors as those of files of one folder, none twice: a_b.npy, a_b.2.npy, ..
class FileNames {
public:
    std::string of(const std::string& tensor)
    {
        std::string name;
        for (const char c : tensor.substr(0, kMost)) name += letter(static_cast<unsigned char>(c)) ? c : '_';
        std::string file = name + ".npy";
        for (int n = 2; !taken_.insert(file).second; ++n) file = name + "." + std::to_string(n) + ".npy";
        return file;
    }

private:
    static constexpr std::size_t kMost = 100;
    static bool letter(unsigned char c) { return std::isalnum(c) || c == '_' || c == '-' || c == '.'; }
    std::set<std::string> taken_;
};

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
