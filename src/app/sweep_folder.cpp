#include "app/sweep_folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <map>

#include "app/sweep_row.h"
#include "base/error.h"
#include "files/digest.h"
#include "files/input.h"
#include "sweep/neighbours.h"
#include "sweep/tables.h"

namespace dlasim {
namespace {

namespace fs = std::filesystem;

constexpr const char* kStore = "points.db";
constexpr const char* kPointFiles[] = {"result.json", "messages.txt", "layers.csv", "report.txt"};
constexpr const char* kTables[] = {"points.csv", "points.json", "points.partial.csv", "sweep.html"};
constexpr std::uint64_t kMostInput = std::uint64_t{1} << 32, kMostBinary = std::uint64_t{1} << 30;
constexpr std::size_t kBlock = 1 << 16;

/// Block by block: a tensor need not be held.
void add_bytes(Digest& digest, const fs::path& file)
{
    std::ifstream in(file, std::ios::binary);
    std::vector<char> block(kBlock);
    while (in.read(block.data(), static_cast<std::streamsize>(block.size())) || in.gcount() != 0)
        digest.add({block.data(), static_cast<std::size_t>(in.gcount())});
}

/// Adds the contents of all files that texts of `json` name: descriptors and the tensors that these name.
void add_files(Digest& digest, const Sweep& sweep, const Json& json, const fs::path& folder, int depth = 0)
{
    if (json.is_structured())
        for (const Json& value : json) add_files(digest, sweep, value, folder, depth);
    if (!json.is_string() || depth > 2) return;
    std::string text = json.get<std::string>();
    if (const std::size_t options = text.find(".json:"); options != std::string::npos) text.resize(options + 5);  // of a memory
    std::error_code none;
    for (const fs::path& file : {folder / text, fs::path(text)}) {
        if (!fs::is_regular_file(file, none)) continue;
        if (file.extension() != ".json") return add_bytes(digest, file);
        const std::string contents = read_text(file.string());
        digest.add(contents);
        try {
            add_files(digest, sweep, parse_json(contents, file.string()), file.parent_path(), depth + 1);
        } catch (const ConfigError&) {  // who reads it as what it should be says why it is not
        }
        return;
    }
}

}  // namespace

SweepIdentity identity_of(const Sweep& sweep, const std::string& options)
{
    Digest inputs, binary;
    const Json json = parse_json(sweep.text, sweep.file);
    inputs.add(parse_ordered_json(sweep.text).dump(-1, ' ', false, OrderedJson::error_handler_t::replace));
    add_files(inputs, sweep, json, fs::path(sweep.file).parent_path());
    binary.add(read_text("/proc/self/exe", kMostBinary));
    return {inputs.text(), binary.text(), options};
}

SweepFolder::SweepFolder(const fs::path& folder, const SweepIdentity& identity, std::size_t points, const SweepShard& shard, bool resume,
                         bool restart)
    : folder_(folder), points_(folder / "points"), lock_(points_.path())
{
    for (const char* name : kTables) remove_leftovers(folder_.path(), name);
    const fs::path file = folder_.path() / kStore;
    std::error_code none;
    if (fs::exists(file, none) && !restart) {
        store_ = std::make_unique<SweepStore>(file);
        if (store_->foreign())
            throw ConfigError(file.string(), "is no table of a sweep, expected --restart to remove it, or another folder (--out)");
        const bool begun = store_->begun();
        if (begun && resume && store_->identity() == identity && store_->points() != points)
            throw ConfigError(file.string(), fmt::format("is damaged: its sweep has {} points, not {}", store_->points(), points));
        if (begun && resume && store_->identity() != identity)
            throw ConfigError(folder_.path().string(),
                              "holds points of another sweep: " + difference_text(store_->identity(), identity) +
                                  " differ; expected the same, --restart to begin again, or another folder (--out)");
        if (begun && resume && store_->shard() != shard.text())
            throw ConfigError(folder_.path().string(), fmt::format("holds points of shard {}, expected another folder for {} (--out)",
                                                                   store_->shard(), shard.text()));
        if (begun && !resume && store_->kept() != 0 && !store_->ended())
            throw ConfigError(folder_.path().string(),
                              fmt::format("holds {} of {} points of an unfinished sweep, expected --resume to go on, "
                                          "--restart to begin again, or another folder (--out)",
                                          store_->kept(), store_->own_points()));
        if (begun && resume) return;
        store_.reset();
    }
    clear();
    store_ = std::make_unique<SweepStore>(file);
    store_->begin(identity, points, shard);
}

fs::path SweepFolder::point(std::size_t index) const { return points_.path() / fmt::format("{:04}", index); }

bool SweepFolder::keeps(std::size_t index, int status) const
{
    if (!has_result(status)) return !was_killed(status);
    std::error_code none;
    return fs::file_size(point(index) / "result.json", none) > 0 && !none;
}

void SweepFolder::prepare_point(std::size_t index) const
{
    make_folder(point(index));
    for (const char* name : kPointFiles) {
        remove_file(point(index) / name);
        remove_leftovers(point(index), name);
    }
}

void SweepFolder::remove_shards()
{
    std::error_code error;
    const fs::path shards = folder_.path() / "shards";
    if (fs::is_regular_file(shards / "job.txt", error)) fs::remove_all(shards, error);
}

/// What an earlier sweep has left, and nothing else.
void SweepFolder::clear()
{
    remove_shards();
    for (const char* suffix : {"", "-journal", "-wal", "-shm"}) remove_file(folder_.path() / (std::string(kStore) + suffix));
    for (const char* name : kTables) remove_file(folder_.path() / name);
    std::vector<fs::path> old;
    std::error_code error;
    for (auto entry = fs::directory_iterator(points_.path(), error); !error && entry != fs::directory_iterator(); entry.increment(error)) {
        const std::string name = entry->path().filename().string();
        if (entry->is_directory(error) && !entry->is_symlink(error) && name.find_first_not_of("0123456789") == std::string::npos)
            old.push_back(entry->path());
    }
    for (const fs::path& folder : old) {
        for (const char* name : kPointFiles) {
            remove_file(folder / name);
            remove_leftovers(folder, name);
        }
        fs::remove(folder, error);  // if that was all there is
    }
}

fs::path SweepFolder::write_tables(const PageFacts& facts)
{
    const bool complete = store_->ended() && store_->own_points() == store_->points();
    const std::vector<std::string> columns = columns_of(*store_);
    if (columns.empty()) return {};
    const std::map<std::size_t, std::string> slower = slower_points(*store_, facts.swept);
    const auto fill_in = [&](KeptPoint& kept) {
        if (const auto why = slower.find(kept.point); why != slower.end()) kept.row[std::string(kSlowerColumn.name)] = why->second;
    };
    const char* name = complete ? "points.csv" : "points.partial.csv";
    OutputFile csv = folder_.file(name);
    CsvTable csv_rows(columns, csv);
    if (!complete) {
        store_->write_table(columns, fill_in, [&](const KeptPoint& kept) { csv_rows.row(kept); });
        csv.commit();
        return folder_.path() / name;
    }
    OutputFile json = folder_.file("points.json"), page = folder_.file("sweep.html");
    JsonTable json_rows(json);
    SweepPage page_rows(columns, facts, page);
    store_->write_table(columns, fill_in, [&](const KeptPoint& kept) {
        csv_rows.row(kept);
        json_rows.row(kept);
        page_rows.row(kept);
    });
    json_rows.end();
    page_rows.end();
    for (OutputFile* file : {&csv, &json, &page}) file->settle();
    for (OutputFile* file : {&csv, &json, &page}) file->commit();
    remove_file(folder_.path() / "points.partial.csv");
    return folder_.path() / name;
}

std::unique_ptr<SweepStore> SweepFolder::source(const fs::path& folder, const SweepIdentity& identity)
{
    std::error_code none;
    if (!fs::exists(folder / kStore, none))
        throw ConfigError(folder.string(), std::string("has no ") + kStore + ", expected the folder of a sweep or of a shard of it");
    auto store = std::make_unique<SweepStore>(folder / kStore, Database::Use::Read);
    if (!store->begun() || store->identity() != identity)
        throw ConfigError(folder.string(), "holds points of another sweep: " +
                                               (store->begun() ? difference_text(store->identity(), identity) : std::string("all")) +
                                               " differ, expected the same");
    return store;
}

void SweepFolder::take_from(const fs::path& folder, const SweepIdentity& identity)
{
    const std::unique_ptr<SweepStore> other = source(folder, identity);
    if (other->points() != store_->points())
        throw ConfigError(folder.string(), fmt::format("is damaged: its sweep has {} points, not {}", other->points(), store_->points()));
    std::error_code none;
    std::map<std::size_t, std::string> here;
    store_->each([&](const KeptPoint& kept) {
        if (keeps(kept.point, kept.status)) here[kept.point] = kept.row.dump();
    });
    std::vector<KeptPoint> rows;
    other->each([&](const KeptPoint& kept) {
        const auto there = here.find(kept.point);
        if (there == here.end()) rows.push_back(kept);
        else if (there->second != kept.row.dump())
            throw ConfigError(folder.string(),
                              fmt::format("point {} ended otherwise than in a folder before, expected the same row", kept.point));
    });
    for (const KeptPoint& kept : rows) {
        prepare_point(kept.point);
        for (const char* name : kPointFiles)
            if (const fs::path file = folder / "points" / point(kept.point).filename() / name; fs::is_regular_file(file, none))
                OutputFile(point(kept.point) / name).commit(read_text(file.string(), kMostInput));
    }
    store_->keep(rows);
}

}  // namespace dlasim
