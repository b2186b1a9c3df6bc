// What each kind of work does when it runs: its files beside result.json, its report. And what it says of itself without running.
#pragma once
#include <string>

#include "app/run_options.h"

namespace dlasim {

/// Writes `out`/result.json and what belongs to it. Exit statuses: interfaces.md 1.
int run(PlannedLayer& planned, const RunOptions& options);
int run(PlannedNetwork& planned, const RunOptions& options);
int run(PlannedFile& planned, const RunOptions& options);
int run(PlannedRecording& planned, const RunOptions& options);

/// What would run; of a layer or a network also plan.json where a folder is given.
int show(const PlannedLayer& planned, const RunOptions& options);
int show(const PlannedNetwork& planned, const RunOptions& options);
int show(const PlannedFile& planned, const RunOptions& options);
int show(const PlannedRecording& planned, const RunOptions& options);

/// A compiler's file against the rules of NVIDIA's software, without a plan: it may be one that does not run here.
int check_file(const RunOptions& options);
/// How fast the host is: "cycles_per_write=N,interrupt_latency=M", each once, 0 without. ConfigError for anything else.
HostSpeed parse_cpu(const std::string& text);

}  // namespace dlasim
