// dlasim sweep: every point in a process of its own, so that points can run side by side and none
// can spoil another; rows are in the order of the axes whatever finishes first. docs/SWEEPS.md.
//
//   points ──► children (forks of this process) ──► DIR/points/N/result.json ──► DIR/points.db ──► points.csv, points.json
//
// A folder has one sweep at a time: DIR/points/.lock is locked by the sweep and by all its children,
// who die with it. So a folder that can be locked has nobody left who could write into it.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/files/keys.h"

namespace dlasim {

struct SweepOptions {
    std::string sweep, out = "out";
    std::string technology;        // a table's name or file, instead of the sweep's
    unsigned jobs = 0;             // points side by side; 0: as many as there are processors, of a task of Slurm one
    std::uint64_t limit = 86'400;  // seconds of CPU time that a point may take
    bool timing_only = false, causes = true, quiet = false;
    bool pages = false;                    // a page of every point in its folder
    bool resume = false, restart = false;  // what becomes of points that the folder has
    bool list = false;                     // say which points there are, run none
    std::size_t shard = 1, shards = 1;     // every shards-th point, starting with number shard
    std::size_t slurm = 0;                 // tasks of a job array of Slurm that run the points; 0: this machine runs them
    std::size_t search = 0;                // points that a search may run; 0: all points run
    std::string best;                      // figure of the table: which machine has the best of those that meet everything
    std::string sort;                      // figure by which all machines are listed
    bool prove = false;                    // run only machines that may be the best
    std::optional<std::size_t> machine;    // the point of a machine whose workloads alone run
    std::uint32_t seed = 1;                // of the search
    std::vector<std::string> collect;      // folders whose points are put together; none runs
};

/// The status is the worst of the points: 3 before 1, then 2 if no point has a result, 4 if some have none.
int sweep_command(SweepOptions options);

/// Columns of points.csv, keys of points.json.
std::vector<PlacedKey> point_keys();

}  // namespace dlasim
