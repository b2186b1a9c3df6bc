#include "app/sweep/sweep_folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <map>
#include <set>

#include "app/sweep/child_program.h"
#include "app/sweep/sweep_row.h"
#include "base/error.h"
#include "base/files/digest.h"
#include "base/files/input.h"
#include "base/files/number.h"
#include "sweep/answer.h"
#include "sweep/neighbours.h"
#include "sweep/tables.h"

namespace dlasim {
namespace {

namespace fs = std::filesystem;

constexpr const char* kStore = "points.db";
constexpr const char* kStoreFiles[] = {"points.db", "points.db-journal", "points.db-wal", "points.db-shm"};
constexpr const char* kPointFiles[] = {"result.json", "messages.txt", "layers.csv", "report.txt", "run.html"};
constexpr const char* kJob = "job.txt";
constexpr std::size_t kTableBytes = 1 << 18;  // reserved, so that a full disk is seen
constexpr const char* kTables[] = {"points.csv", "points.json", "points.partial.csv", "machines.csv", "machines.json", "sweep.html"};
constexpr std::uint64_t kMaxInput = std::uint64_t{1} << 32;

/// Adds the contents of all files that texts of `json` name, from one of the folders on: descriptors and the tensors that these name. They
/// are inputs of this command.
void add_files(Digest& digest, const Json& json, const std::set<fs::path>& folders, int depth = 0)
{
    if (json.is_structured())
        for (const Json& value : json) add_files(digest, value, folders, depth);
    if (!json.is_string() || depth > 2) return;
    std::set<fs::path> files;
    for (const fs::path& folder : folders)
        for (const fs::path& file : files_named(json.get<std::string>(), folder)) files.insert(file);
    std::error_code none;
    for (const fs::path& file : files) {
        if (!fs::is_regular_file(file, none)) continue;
        if (file.extension() != ".json") {
            claim_input(file);
            digest.add_file(file);
            continue;
        }
        const std::string contents = read_text(file.string());
        digest.add(contents);
        try {
            add_files(digest, parse_json(contents, file.string()), {file.parent_path()}, depth + 1);
        } catch (const ConfigError&) {  // who reads it as what it should be says why it is not
        }
    }
}

/// The value of a key, which is no longer there; null if it was not.
OrderedJson taken_out(OrderedJson& object, const char* key)
{
    if (!object.is_object() || !object.contains(key)) return {};
    OrderedJson value = std::move(object[key]);
    object.erase(key);
    return value;
}

/// Where paths of a sweep begin: at its file, and what an axis lays over a layer at the file of that.
std::set<fs::path> folders_of(const Sweep& sweep)
{
    std::set<fs::path> folders{sweep.folder};
    const auto add = [&](const Json& layer) {
        if (layer.is_string()) folders.insert(fs::path(resolve(sweep, layer.get<std::string>())).parent_path());
    };
    if (!sweep.kind().fields) return folders;
    add(sweep.work);
    for (const SweepAxis& axis : sweep.axes)
        if (axis.kind == SweepAxis::Kind::Work) std::for_each(axis.values.begin(), axis.values.end(), add);
    return folders;
}

}  // namespace

SweepIdentity identity_of(const Sweep& sweep, const std::string& options)
{
    Digest inputs, binary, require;
    const Json json = parse_json(sweep.text, sweep.file);
    OrderedJson work = parse_ordered_json(sweep.text);
    const auto text = [](const OrderedJson& value) { return value.dump(-1, ' ', false, OrderedJson::error_handler_t::replace); };
    require.add(text(taken_out(work, "require")));
    if (work.contains("workloads"))
        for (OrderedJson& workload : work["workloads"]) require.add(text(taken_out(workload, "require")));
    inputs.add(text(work));
    add_files(inputs, json, folders_of(sweep));
    binary.add_file("/proc/self/exe");
    std::error_code none;
    return {inputs.text(), binary.text(), options, fs::weakly_canonical(sweep.file, none).string(), require.text()};
}

SweepFolder::Claims::Claims(const fs::path& folder)
    : points(folder / "points", OutputClaim::Extent::Folder), shards(folder / "shards", OutputClaim::Extent::Folder)
{
    for (const char* name : kTables) expect_no_input(folder / name);
    for (const char* name : kStoreFiles) expect_no_input(folder / name);
}

namespace {

[[noreturn]] void refuse_foreign(const fs::path& place)
{
    throw ConfigError(place.string(), "exists and was not written by a sweep, expected another folder (--out)");
}

void remove_point_files(const fs::path& point)
{
    for (const char* name : kPointFiles) {
        remove_file(point / name);
        remove_leftovers(point, name);
    }
}

/// There, or a link.
bool is_there(const fs::path& place)
{
    std::error_code none;
    return fs::exists(fs::symlink_status(place, none));
}

/// The folder of the points, made. Existing files with names of a sweep must be a sweep's.
fs::path own_points(const fs::path& folder)
{
    fs::path points = folder / "points";
    std::error_code none;
    make_folder(folder);
    if (fs::is_symlink(points, none)) refuse_foreign(points);
    if (FolderLock::numbers_of(points).empty()) {
        if (fs::exists(folder / kStore, none))
            throw ConfigError((folder / kStore).string(), "is no table of a sweep in this folder, expected another folder (--out)");
        for (const char* name : kTables)
            if (is_there(folder / name)) refuse_foreign(folder / name);
        // One that was killed before it had begun has left a lock.
        for (auto entry = fs::directory_iterator(points, none); !none && entry != fs::directory_iterator(); entry.increment(none))
            if (entry->path().filename() != ".lock") refuse_foreign(points);
    }
    make_folder(points);
    return points;
}

}  // namespace

SweepFolder::SweepFolder(const fs::path& folder, const SweepIdentity& identity, std::size_t points, const SweepShard& shard, bool resume,
                         bool restart)
    : claims_(folder), folder_(folder), points_(own_points(folder)), lock_(points_)
{
    if (restart && job() != 0) run_program({"scancel", std::to_string(job())});
    for (const char* name : kTables) remove_leftovers(folder_, name);
    if (!restart && is_there(folder_ / kStore) && can_resume(identity, points, shard, resume)) return;
    store_.reset();
    clear();
    lock_.keep("points", points);
    store_ = std::make_unique<SweepStore>(folder_ / kStore);
    store_->begin(identity, points, shard);
}

/// Opens the table. False if nothing in it is to be kept.
bool SweepFolder::can_resume(const SweepIdentity& identity, std::size_t points, const SweepShard& shard, bool resume)
{
    const fs::path file = folder_ / kStore;
    store_ = std::make_unique<SweepStore>(file);
    if (!store_->begun() || (!resume && store_->kept() == 0)) return false;
    const SweepIdentity there = store_->identity();
    if (there == identity && store_->points() != points)
        throw ConfigError(file.string(), fmt::format("is damaged: its sweep has {} points, not {}", store_->points(), points));
    const bool judged_anew = there == identity && there.require != identity.require && store_->shard() == shard.text();
    if (judged_anew && (resume || store_->ended())) {
        store_->judge_anew(identity.require);
        return true;
    }
    if (!resume && !store_->ended())
        throw ConfigError(folder_.string(), fmt::format("holds {} of {} points of an unfinished sweep, expected --resume to continue, "
                                                        "--restart to start over, or another folder (--out)",
                                                        store_->kept(), store_->own_points()));
    if (resume && there != identity)
        throw ConfigError(folder_.string(), "holds points of another sweep: " + difference_text(there, identity) +
                                                " differ; expected the same, --restart to start over, or another folder (--out)");
    if (!resume && there.file != identity.file && there.sweep != identity.sweep)
        throw ConfigError(folder_.string(),
                          fmt::format("holds the sweep of {}, expected --restart to remove it, or another folder (--out)", there.file));
    if (store_->shard() != shard.text())
        throw ConfigError(folder_.string(),
                          fmt::format("holds points of shard {}, expected another folder for {} (--out)", store_->shard(), shard.text()));
    return resume;
}

fs::path SweepFolder::point(std::size_t index) const { return points_ / fmt::format("{:04}", index); }

bool SweepFolder::keeps(std::size_t index, int status) const
{
    if (!has_result(status)) return !runs_again(status);
    std::error_code none;
    return fs::file_size(point(index) / "result.json", none) > 0 && !none;
}

void SweepFolder::prepare_point(std::size_t index) const
{
    if (std::error_code none; fs::is_symlink(point(index), none)) refuse_foreign(point(index));
    make_folder(point(index));
    remove_point_files(point(index));
}

void SweepFolder::remove_sweep(const fs::path& folder, std::uint64_t points)
{
    for (const char* name : kStoreFiles) remove_file(folder / name);
    for (const char* name : kTables) remove_file(folder / name);
    std::vector<fs::path> old;
    std::error_code error;
    for (auto entry = fs::directory_iterator(folder / "points", error); !error && entry != fs::directory_iterator();
         entry.increment(error)) {
        const auto number = whole_number(entry->path().filename().string());
        if (number && *number < points && entry->is_directory(error) && !entry->is_symlink(error)) old.push_back(entry->path());
    }
    for (const fs::path& point : old) {
        remove_point_files(point);
        fs::remove(point, error);  // if that was all there is
    }
}

void SweepFolder::clear()
{
    remove_shards();
    remove_sweep(folder_, lock_.number("points"));
}

void SweepFolder::begin_shards(std::size_t count)
{
    if (lock_.number("shards") == 0 && is_there(shards())) refuse_foreign(shards());
    lock_.keep("shards", std::max<std::uint64_t>(count, lock_.number("shards")));
    make_folder(shards());
}

void SweepFolder::remove_shards()
{
    const std::uint64_t count = lock_.number("shards");
    std::error_code none;
    if (count == 0 || fs::is_symlink(shards(), none)) return;
    for (std::uint64_t i = 1; i <= count; ++i) {
        const fs::path shard = shards() / std::to_string(i), points = shard / "points";
        remove_file(shards() / fmt::format("task-{}.txt", i));
        if (fs::is_symlink(shard, none) || fs::is_symlink(points, none)) continue;
        const FolderLock::Numbers numbers = FolderLock::numbers_of(points);
        if (const auto made = numbers.find("points"); made != numbers.end()) {
            remove_sweep(shard, made->second);
            remove_file(points / ".lock");
        }
        fs::remove(points, none);
        fs::remove(shard, none);
    }
    remove_file(shards() / kJob);
    fs::remove(shards(), none);
    lock_.keep("job", 0);
    lock_.keep("shards", 0);
}

std::uint64_t SweepFolder::job() const
{
    const std::uint64_t number = lock_.number("job");
    std::error_code none;
    const fs::path file = shards() / kJob;
    if (number == 0 || !fs::is_regular_file(file, none)) return number;
    const std::string text = read_own_text(file.string());
    if (text != std::to_string(number) + "\n")
        throw ConfigError(file.string(), fmt::format("found \"{}\", expected the number of the job of this sweep, {}: no job is ended or "
                                                     "waited for that may be another one; remove the file if that is the one",
                                                     text.substr(0, 40), number));
    return number;
}

void SweepFolder::keep_job(std::uint64_t number)
{
    lock_.keep("job", number);
    OutputFile(shards() / kJob).commit(std::to_string(number) + "\n");
}

namespace {

std::vector<std::string> columns_of(const std::vector<SweptMachine>& machines)
{
    std::vector<std::string> columns;
    if (!machines.empty())
        for (const auto& [name, value] : machines.front().row.items()) columns.push_back(name);
    return columns;
}

void write_machines(const std::vector<SweptMachine>& machines, OutputFile& csv, OutputFile& json)
{
    const std::vector<std::string> columns = columns_of(machines);
    CsvTable csv_rows(columns, csv);
    JsonTable json_rows(json);
    for (const SweptMachine& machine : machines) {
        const KeptPoint row{machine.point, 0, machine.row};
        csv_rows.row(row);
        json_rows.row(row);
    }
    json_rows.end();
}

/// A page whose rows are machines.
void write_page(const std::vector<SweptMachine>& machines, PageFacts facts, OutputFile& page, SweepPage::State state)
{
    const std::vector<std::string> columns = columns_of(machines);
    facts.axes = facts.machines.axes;
    facts.points = machines.size();
    facts.answer = answer_json(machines, facts.machines);
    SweepPage rows(columns, facts, page, state);
    for (const SweptMachine& machine : machines) rows.row({machine.point, 0, machine.row});
    rows.end();
}

}  // namespace

void SweepFolder::show_progress(const PageFacts& facts)
{
    using Clock = std::chrono::steady_clock;
    constexpr int kTimes = 20;
    const Clock::time_point start = Clock::now();
    if (start < next_progress_) return;
    write_tables(facts, true);
    const Clock::time_point end = Clock::now();
    next_progress_ = end + std::max<Clock::duration>(std::chrono::seconds(2), kTimes * (end - start));
}

fs::path SweepFolder::write_tables(const PageFacts& facts, bool running)
{
    const bool complete = store_->ended() && store_->own_points() == store_->points();
    const std::vector<std::string> columns = columns_of(*store_);
    if (columns.empty()) return {};
    const std::map<std::size_t, std::string> slower = slower_points(*store_, facts.swept);
    const auto fill_in = [&](KeptPoint& kept) {
        if (const auto why = slower.find(kept.point); why != slower.end()) kept.row[std::string(kSlowerColumn.name)] = why->second;
    };
    const char* name = complete ? "points.csv" : "points.partial.csv";
    const Sync sync = running ? Sync::Later : Sync::Now;
    OutputFile csv(folder_ / name, kTableBytes, sync);
    CsvTable csv_rows(columns, csv);
    if (store_->own_points() != store_->points()) {  // of a shard
        store_->write_table(columns, fill_in, [&](const KeptPoint& kept) { csv_rows.row(kept); });
        csv.commit();
        return folder_ / name;
    }
    using State = SweepPage::State;
    const State state = complete ? State::Complete : running ? State::Running : State::Stopped;
    const std::vector<SweptMachine> machines = facts.machines.asked() ? machines_of(*store_, facts.machines) : std::vector<SweptMachine>{};
    OutputFile page(folder_ / "sweep.html", kTableBytes, sync);
    std::optional<OutputFile> json;
    std::optional<JsonTable> json_rows;
    std::optional<SweepPage> page_rows;
    if (complete) json_rows.emplace(json.emplace(folder_ / "points.json", kTableBytes));
    if (!facts.machines.asked()) page_rows.emplace(columns, facts, page, state);
    store_->write_table(columns, fill_in, [&](const KeptPoint& kept) {
        csv_rows.row(kept);
        if (json_rows) json_rows->row(kept);
        if (page_rows) page_rows->row(kept);
    });
    if (page_rows) page_rows->end();
    else write_page(machines, facts, page, state);
    if (!complete) {
        csv.commit();
        page.commit();
        return folder_ / name;
    }
    json_rows->end();
    std::vector<OutputFile*> files{&csv, &*json, &page};
    std::optional<OutputFile> machines_csv, machines_json;
    if (facts.machines.asked()) {
        machines_csv.emplace(folder_ / "machines.csv", kTableBytes);
        machines_json.emplace(folder_ / "machines.json", kTableBytes);
        write_machines(machines, *machines_csv, *machines_json);
        files.insert(files.end(), {&*machines_csv, &*machines_json});
    }
    for (OutputFile* file : files) file->finish();
    for (OutputFile* file : files) file->commit();
    remove_file(folder_ / "points.partial.csv");
    return folder_ / name;
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
    if (other->points() != store_->points() || other->own_points() > other->points())
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
                              fmt::format("point {} has another result than in an earlier folder, expected the same row", kept.point));
    });
    for (const KeptPoint& kept : rows) {
        prepare_point(kept.point);
        for (const char* name : kPointFiles)
            if (const fs::path file = folder / "points" / point(kept.point).filename() / name; fs::is_regular_file(file, none))
                OutputFile(point(kept.point) / name).commit(read_own_text(file.string(), kMaxInput));
    }
    store_->keep(rows);
}

}  // namespace dlasim
