// dlasim run: one job through the machine. Exit statuses: interfaces.md 1.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "config/descriptor.h"
#include "facts/memory_spec.h"
#include "files/json_text.h"
#include "files/output.h"
#include "lowering/layer_contents.h"

namespace dlasim {

struct RunOptions {
    std::string layer;  // the descriptor's path
    std::string hardware = "nv_full";
    std::string memory = "ideal";
    std::vector<std::string> settings;  // --set
    std::string out = "out";
    std::size_t point = 0;  // of a sweep, with has_point
    bool has_point = false;
    bool has_out = false;
    std::string events;  // file of probes and bus logs, none if empty
    std::uint64_t seed = 0;
    bool has_seed = false, timing_only = false, check_dram = false, quiet = false, stepping = false, hazards = false, times = false,
         tensors = true, plan = false, report = false;  // report: the table in report.txt too
    Sync sync = Sync::Now;
    std::function<void(const nlohmann::ordered_json&)> on_result;  // gets what result.json says
};

/// Runs what has been read, and writes `out`/result.json and `out`/output.npy.
int run_job(Descriptor descriptor, const Hardware& hardware, const MemorySpec& memory, const RunOptions& options,
            std::shared_ptr<const SharedLayer> shared = nullptr);
/// Says what would run, without running; writes plan.json where a folder is given.
int plan_job(Descriptor descriptor, const Hardware& hardware, const MemorySpec& memory, const RunOptions& options);
int run_command(const RunOptions& options);

}  // namespace dlasim
