#include "base/files/output_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/error.h"
#include "base/files/input.h"

namespace dlasim {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kResultBytes = 1 << 18;         // more than almost any result has
constexpr int kMaxWait = 30'000, kPause = 2;          // milliseconds
constexpr const char* kUnfinished = ".result.files";  // of a run that is in its turn

/// The time in which a run puts its files into a folder.
class Turn {
public:
    Turn(const fs::path& folder, bool (*give_up)()) : descriptor_(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC))
    {
        // A file system that locks no folders has no turns.
        for (int waited = 0; ::flock(descriptor_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK; waited += kPause) {
            ::usleep(1000 * kPause);
            const bool enough = give_up && give_up();
            if (!enough && waited < kMaxWait) continue;
            ::close(descriptor_);
            throw ConfigError(folder.string(), std::string("another run ") + (enough ? "writes" : "has been writing for half a minute") +
                                                   " into this folder, nothing written, expected another folder (--out)");
        }
    }
    ~Turn()
    {
        if (descriptor_ >= 0) ::close(descriptor_);
    }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

private:
    int descriptor_;
};

/// Names in the text of a list, except those that lead out of the folder.
std::set<std::string> listed(const std::string& text)
{
    using Event = nlohmann::json::parse_event_t;
    const auto wanted = [](int depth, Event event, const nlohmann::json& key) {  // of a result, which may be large
        return event != Event::key || depth != 1 || key == "schema" || key == kFilesKey.name;
    };
    const auto json = nlohmann::json::parse(text, wanted, false);
    if (!json.is_object() || !json.contains("schema") || !json.contains(kFilesKey.name)) return {};
    const auto& schema = json["schema"];
    const auto& list = json[std::string(kFilesKey.name)];
    if (!schema.is_string() || !schema.get_ref<const std::string&>().starts_with("dlasim.") || !list.is_array()) return {};
    std::set<std::string> names;
    for (const auto& name : list) {
        if (!name.is_string()) continue;
        const fs::path path = name.get<std::string>();
        const bool inside = !path.empty() && path.is_relative() && std::find(path.begin(), path.end(), "..") == path.end();
        if (inside) names.insert(path.string());
    }
    return names;
}

/// Not through a link.
bool is_own(const fs::path& folder, const std::string& name)
{
    std::error_code none;
    return !fs::is_symlink(folder / name, none) &&
           fs::canonical((folder / name).parent_path(), none) == (fs::canonical(folder, none) / name).parent_path();
}

fs::path made(const fs::path& folder)
{
    make_folder(folder);
    return folder;
}

}  // namespace

OutputFolder::OutputFolder(const fs::path& folder, Sync sync, const char* last)
    : folder_(made(folder)), last_name_(last), sync_(sync), last_(folder_ / last, kResultBytes, sync)
{
    for (const std::string& name : old_files()) expect_no_input(folder_ / name);
}

OutputFile& OutputFolder::file(const std::string& name, std::size_t reserve)
{
    const fs::path file = folder_ / name;
    if (file.parent_path() != folder_) make_folder(file.parent_path());
    names_.insert(name);
    return files_.emplace_back(file, reserve, sync_);
}

void OutputFolder::subfolder(const std::string& name)
{
    claims_.emplace_back(folder_ / name, OutputClaim::Extent::Folder);
    make_folder(folder_ / name);
    const OutputFile tried(folder_ / name / "tried");  // goes away again
}

void OutputFolder::write_result(nlohmann::ordered_json json, int indent)
{
    json[std::string(kFilesKey.name)] = names_;
    last_.finish(json.dump(indent, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n");
}

std::set<std::string> OutputFolder::old_files()
{
    std::set<std::string> names;
    for (const std::string& list : {last_name_, std::string(kUnfinished)}) {
        std::error_code none;
        if (!fs::is_regular_file(folder_ / list, none)) continue;
        std::string text = read_own_text((folder_ / list).string());
        Listed& known = lists_[list];
        if (known.text != text) {
            known.names = listed(text);
            known.text = std::move(text);
        }
        names.insert(known.names.begin(), known.names.end());
    }
    std::erase_if(names, [&](const std::string& name) { return !is_own(folder_, name); });
    return names;
}

void OutputFolder::publish(bool (*give_up)())
{
    const Turn turn(folder_, give_up);
    std::set<std::string> names = old_files();
    names.insert(dropped_.begin(), dropped_.end());
    const std::set<std::string> old = names;
    names.insert(names_.begin(), names_.end());
    const fs::path unfinished = folder_ / kUnfinished;
    if (sync_ == Sync::Now && !names.empty())
        OutputFile(unfinished, 0, Sync::Later).commit(nlohmann::ordered_json{{"schema", "dlasim.files/1"}, {kFilesKey.name, names}}.dump());
    remove_old_file(behind_links(folder_ / last_name_));  // a link stays a link
    for (const std::string& name : old) {
        if (names_.contains(name)) continue;
        remove_file(folder_ / name);
        std::error_code none;
        if (const fs::path below = (folder_ / name).parent_path(); below != folder_) fs::remove(below, none);  // if that was all
    }
    for (OutputFile& file : files_) file.commit();
    last_.commit();
    remove_old_file(unfinished);
}

}  // namespace dlasim
