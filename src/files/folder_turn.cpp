#include "files/folder_turn.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>

#include "base/error.h"
#include "files/output.h"

namespace dlasim {
namespace {

constexpr int kPatience = 30'000, kPause = 2;  // milliseconds

}  // namespace

FolderTurn::FolderTurn(const std::filesystem::path& folder) : descriptor_(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC))
{
    // A file system that locks no folders has no turns.
    for (int waited = 0; ::flock(descriptor_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK; waited += kPause) {
        if (waited >= kPatience) {
            ::close(descriptor_);
            throw ConfigError(folder.string(),
                              "another run has been writing into this folder for half a minute, expected one of its own (--out)");
        }
        ::usleep(1000 * kPause);
    }
    const std::filesystem::path old = folder / "result.json";
    std::error_code none;
    if (std::filesystem::is_symlink(old, none)) return;  // a link stays a link
    try {
        remove_file(old);
    } catch (...) {
        if (descriptor_ >= 0) ::close(descriptor_);
        throw;
    }
}

FolderTurn::~FolderTurn()
{
    if (descriptor_ >= 0) ::close(descriptor_);
}

}  // namespace dlasim
