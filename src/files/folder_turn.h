// Two runs into one folder leave the files of one of them, never some of each.
#pragma once
#include <filesystem>
#include <initializer_list>

namespace dlasim {

/// The time in which a run puts its files into a folder. Other runs wait for it; killed or not, whoever has it ends it.
///
///   FolderTurn turn(folder);     the old result.json is gone now, and tables that this run may not have: the folder is about to change
///   ..                           the other files appear
///   result.commit();             a folder with a result has all that belongs to it
class FolderTurn {
public:
    /// `give_up` ends the wait. `old`: names that go, first that of the file that comes last. Throws ConfigError if the turn does not
    /// come within half a minute, or an old file cannot be removed.
    explicit FolderTurn(const std::filesystem::path& folder, bool (*give_up)() = nullptr,
                        std::initializer_list<const char*> old = {"result.json", "layers.csv", "report.txt", "output.surface"});
    ~FolderTurn();
    FolderTurn(const FolderTurn&) = delete;
    FolderTurn& operator=(const FolderTurn&) = delete;

private:
    int descriptor_ = -1;
};

}  // namespace dlasim
