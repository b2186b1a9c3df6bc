// The output folder of a run. It is opened before anything runs, so that a folder that cannot be
// written, or a full disk, is refused first; files appear whole or not at all.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

namespace dlasim {

class OutputFolder {
public:
    /// Makes the folder if it is missing. Throws ConfigError if it cannot be written.
    explicit OutputFolder(const std::filesystem::path& folder);

    const std::filesystem::path& path() const { return folder_; }

    /// A file of the folder that will be written; its space is claimed now.
    class File {
    public:
        File(const OutputFolder& folder, const std::string& name);
        ~File();  // removes what was not committed
        File(const File&) = delete;
        File& operator=(const File&) = delete;
        /// Writes beside the target, then renames. Throws ConfigError if the disk refuses.
        void commit(const std::string& contents);

    private:
        std::filesystem::path target_, temporary_;
        int descriptor_ = -1;
    };

private:
    std::filesystem::path folder_;
};

}  // namespace dlasim
