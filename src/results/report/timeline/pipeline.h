// Stripes as instructions of a pipeline, as Konata shows them.
#pragma once
#include <string>

#include "report/timeline/timeline.h"
#include "workload/run_result.h"

namespace dlasim {

/// Kanata 0004. A stripe is an instruction with the stages
///
///   W  CSC loads its weights       M  its atoms pass CMAC                        O  SDP takes its results: of stripes that
///   S  CSC reads its first atom    A  CACC adds its sums, or has its results          complete sums
///
/// and is retired when it has left the last of them. A cycle is one of the core clock, 0 is t0. Stripes that are in the array in the
/// cycles that are shown. pre: the run recorded events.
std::string pipeline_text(const RunResult& run, const TimelineSelection& shown);

}  // namespace dlasim
