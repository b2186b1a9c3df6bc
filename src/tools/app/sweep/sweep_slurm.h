// dlasim sweep --slurm: the shards of a sweep as a job array of Slurm, waited for and put together. docs/SWEEPS.md.
//
//   sbatch --array ──► tasks: dlasim sweep --shard I/N --out DIR/shards/I --resume
//        ▲                  │ squeue: until none is left
//        └── what is missing └──► DIR/points.db, tables
//
// Whoever comes after a kill finds the job in DIR/shards/job.txt and waits for it.
#pragma once
#include <string>

#include "app/commands/sweep_command.h"
#include "app/sweep/sweep_folder.h"
#include "config/sweep/sweep.h"

namespace dlasim {

int slurm_points(const SweepOptions& options, const Sweep& sweep, const SweepIdentity& identity, SweepFolder& folder,
                 const PageFacts& facts);

}  // namespace dlasim
