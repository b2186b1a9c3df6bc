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

FolderTurn::FolderTurn(const std::filesystem::path& folder, bool (*give_up)(), std::initializer_list<const char*> old)
    : descriptor_(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC))
{
    // A file system that locks no folders has no turns.
    for (int waited = 0; ::flock(descriptor_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK; waited += kPause) {
        ::usleep(1000 * kPause);
        const bool enough = give_up && give_up();
        if (!enough && waited < kPatience) continue;
        ::close(descriptor_);
        throw ConfigError(folder.string(), std::string("another run ") + (enough ? "writes" : "has been writing for half a minute") +
                                               " into this folder, nothing written, expected one of its own (--out)");
    }
    try {
        std::error_code none;
        for (const char* name : old)
            if (name == *old.begin()) remove_old_file(behind_links(folder / name));  // a link stays a link
            else if (!std::filesystem::is_symlink(folder / name, none)) remove_old_file(folder / name);
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
