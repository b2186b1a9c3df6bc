// dlasim loadable: a file of the NVDLA compiler through the machine. Exit statuses as of `run`.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "app/common_options.h"
#include "config/sweep/sweep.h"
#include "loadable/plan.h"
#include "replay/recording.h"
#include "report/loadable_result.h"

namespace dlasim {

struct LoadableOptions : CommonOptions {
    std::string loadable;             // the file
    std::vector<std::string> inputs;  // --input
    std::string form = "auto", mode = "overlap";
    std::uint64_t seed = 1, chains = UINT32_MAX;
    std::string manifest;  // --manifest
    std::string cpu;       // --cpu
    bool seeded = false;   // --seed is given
    bool describe = false, check = false, verify = true, tensors = true;
};

/// How fast the host is: "cycles_per_write=N,interrupt_latency=M", each once, 0 without. ConfigError for anything else.
HostSpeed parse_cpu(const std::string& text);

/// The program that would run. The file and the inputs are read.
loadable::LoadablePlan plan_of(const LoadableOptions& options);
/// Of a point of a sweep.
loadable::LoadablePlan plan_of(const LoadableWork& work, const Hardware& hardware, const MemorySpec& memory);

/// Runs it; writes `out`/result.json and the outputs.
int run_loadable(loadable::LoadablePlan plan, const LoadableOptions& options);
int loadable_command(LoadableOptions options);

}  // namespace dlasim
