// One writer a folder: a locked file in it, held until the last process that inherited it has ended. The file says what the folder has of
// that writer: whatever else is there is not its own.
#pragma once
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

namespace dlasim {

class FolderLock {
public:
    /// Throws ConfigError if somebody else holds it. Waits a while for the dying children of a holder
    /// that has gone already.
    explicit FolderLock(const std::filesystem::path& folder);
    ~FolderLock();
    FolderLock(const FolderLock&) = delete;
    FolderLock& operator=(const FolderLock&) = delete;

    /// Whether a process holds the lock of a folder now.
    static bool held(const std::filesystem::path& folder);

    using Numbers = std::map<std::string, std::uint64_t>;
    /// What the file of a folder says; nothing without one, or if it is somebody else's.
    static Numbers numbers_of(const std::filesystem::path& folder);
    /// A number that it says; 0 without.
    std::uint64_t number(const std::string& name) const;
    /// In the file when it returns. 0: no longer there.
    void keep(const std::string& name, std::uint64_t number);

private:
    void write();

    std::filesystem::path file_;
    int descriptor_ = -1;
    Numbers numbers_;
};

}  // namespace dlasim
