// The folder of a sweep: whose points it has, and what is cleared away before others come.
//
//   DIR/points.db             every point that has ended (sweep/store.h)
//   DIR/points/N/             result.json and messages.txt of a point
//   DIR/points/.lock          one sweep at a time; how many points and shards a sweep has put here: nothing else is ever removed
//   DIR/points.csv, .json     when all points have ended, and sweep.html; points.partial.csv when some have, or all of a shard
//   DIR/shards/               of --slurm, until all points are here
#pragma once
#include <chrono>
#include <memory>

#include "app/commands/sweep_command.h"
#include "app/folder_lock.h"
#include "base/files/output.h"
#include "config/sweep/sweep.h"
#include "sweep/page.h"
#include "sweep/store.h"

namespace dlasim {

/// Digests of all that decides the rows of a sweep.
SweepIdentity identity_of(const Sweep& sweep, const std::string& options);

class SweepFolder {
public:
    /// Takes the folder for this sweep. Refused: what no sweep has made; points of another sweep without `restart`; points of an
    /// unfinished one without `resume` and `restart`.
    SweepFolder(const std::filesystem::path& folder, const SweepIdentity& identity, std::size_t points, const SweepShard& shard,
                bool resume, bool restart);

    SweepStore& store() { return *store_; }
    std::filesystem::path point(std::size_t index) const;
    /// False where a point that has ended has to run again: its process was ended from outside, or a power cut has taken its files.
    bool keeps(std::size_t index, int status) const;
    /// Made, and without what an earlier try left in it.
    void prepare_point(std::size_t index) const;
    /// Writes the tables of what is kept; those of all points if it is complete, else the partial one. Gives the path of the CSV.
    std::filesystem::path write_tables(const PageFacts& facts, bool running = false);
    /// What there is while the sweep runs, for who looks on: in a twentieth of the time at most.
    void show_progress(const PageFacts& facts);
    /// A folder that can be taken from: it has points of this sweep. ConfigError if not.
    static std::unique_ptr<SweepStore> source(const std::filesystem::path& folder, const SweepIdentity& identity);
    /// Takes over what another folder has of the same sweep. ConfigError if it is of another one, or a point ended otherwise there.
    void take_from(const std::filesystem::path& folder, const SweepIdentity& identity);

    std::filesystem::path shards() const { return folder_ / "shards"; }
    /// Makes the folder of the tasks of a job. ConfigError if somebody else has made it.
    void begin_shards(std::size_t count);
    /// The folders of the tasks, when their points are here.
    void remove_shards();
    /// The number of the job that has been submitted; 0 if there is none. ConfigError if job.txt says another one.
    std::uint64_t job() const;
    void keep_job(std::uint64_t number);

private:
    /// All that a sweep writes or removes in its folder: no input is there.
    struct Claims {
        explicit Claims(const std::filesystem::path& folder);
        OutputClaim points, shards;
    };
    /// What a sweep has put into a folder. `points`: number of folders of points.
    static void remove_sweep(const std::filesystem::path& folder, std::uint64_t points);
    bool can_resume(const SweepIdentity& identity, std::size_t points, const SweepShard& shard, bool resume);
    void clear();

    Claims claims_;  // before anything is made
    std::filesystem::path folder_, points_;
    FolderLock lock_;
    std::unique_ptr<SweepStore> store_;
    std::chrono::steady_clock::time_point next_progress_ = std::chrono::steady_clock::now() + std::chrono::seconds(2);
};

}  // namespace dlasim
