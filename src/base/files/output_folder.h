// The folder of a run's results. It is opened before anything runs, so that a folder that cannot be written, or a full disk, is refused
// first; files appear together, and what an earlier run has left goes.
//
//   OutputFolder folder(path);               no input is there
//   folder.file("output.npy").finish(..)     opened before the run
//   folder.write_result(json)               result.json, with the names of all files of the run
//   folder.publish()                         in the folder's turn: the old result.json goes, then files that it lists and this
//                                            run does not write; files appear, result.json last: a folder that has one holds
//                                            all of that run
//
// Runs into one folder take turns; killed or not, whoever has it ends it. A run that is killed in its turn leaves .result.files, a list
// of what may be there, to the next one.
#pragma once
#include <filesystem>
#include <list>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/files/json_text.h"
#include "base/files/keys.h"
#include "base/files/output.h"

namespace dlasim {

/// Of every result.json.
inline constexpr KeyRow kFilesKey{"files", "list", "",
                                  "files of this run beside this one: a later run into the folder removes those that it does not write"};

class OutputFolder {
public:
    /// Makes the folder if it is missing. `last`: the file that comes last. Throws ConfigError if it cannot be written, or an input is in
    /// the place of a file that would go.
    explicit OutputFolder(const std::filesystem::path& folder, Sync sync = Sync::Now, const char* last = "result.json");

    const std::filesystem::path& path() const { return folder_; }

    /// A file of the folder or below it that will be written; `reserve` bytes are reserved now.
    OutputFile& file(const std::string& name, std::size_t reserve = 0);
    /// A folder in it for files that come after the run.
    void subfolder(const std::string& name);
    /// A file that appears with them, wherever it is.
    OutputFile& elsewhere(const std::filesystem::path& file) { return files_.emplace_front(file); }
    /// A file of the folder that goes when these appear.
    void drop(const std::string& name) { dropped_.insert(name); }
    /// The file that comes last.
    OutputFile& last() { return last_; }
    /// It is a result: adds kFilesKey.
    void write_result(nlohmann::ordered_json json, int indent = 2);
    /// All are complete. `give_up` ends the wait for others. Throws ConfigError if the turn does not come within half a minute.
    void publish(bool (*give_up)() = nullptr);

private:
    /// Of earlier runs, and none that a link leads to.
    std::set<std::string> old_files();
    /// What a list of files says: read in the beginning and again in the run's turn.
    struct Listed {
        std::string text;
        std::set<std::string> names;
    };

    std::filesystem::path folder_;
    std::string last_name_;
    Sync sync_;
    OutputFile last_;
    std::list<OutputFile> files_;
    std::set<std::string> names_;  // of those below the folder
    std::set<std::string> dropped_;
    std::list<OutputClaim> claims_;
    std::map<std::string, Listed> lists_;  // by name
};

}  // namespace dlasim
