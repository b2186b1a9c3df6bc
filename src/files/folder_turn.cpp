#include "files/folder_turn.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>

#include "base/error.h"
#include "files/output.h"

namespace dlasim {
namespace {

// The result first.
constexpr const char* kOfAnyRun[] = {"result.json", "layers.csv", "report.txt", "output.surface"};
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
    try {
        std::error_code none;
        for (const char* name : kOfAnyRun)
            if (!std::filesystem::is_symlink(folder / name, none)) remove_file(folder / name);  // a link stays a link
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
