// One writer a folder: a locked file in it, held until the last process that inherited it has ended.
#pragma once
#include <filesystem>

namespace dlasim {

class FolderLock {
public:
    /// Throws ConfigError if somebody else holds it. Waits a while for the dying children of a holder
    /// that has gone already.
    explicit FolderLock(const std::filesystem::path& folder);
    ~FolderLock();
    FolderLock(const FolderLock&) = delete;
    FolderLock& operator=(const FolderLock&) = delete;

private:
    int descriptor_ = -1;
};

}  // namespace dlasim
