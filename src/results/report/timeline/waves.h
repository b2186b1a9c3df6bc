// The signals of a run as a waveform (VCD), for GTKWave and Surfer.
#pragma once
#include <string>

#include "report/timeline/timeline.h"
#include "workload/run_result.h"

namespace dlasim {

/// Every probe of the run, a wire each, in a scope a unit; the interrupts; the phases of every unit as numbers: 0 gated, 1 issuing,
/// 2 starved, 3 blocked, 4 draining. A time step is a cycle of the core clock, 0 is t0. pre: the run recorded events.
std::string waves_text(const RunResult& run, const std::string& name, const TimelineSelection& shown);
/// Of a window the values at its begin come first.
/// Groups these signals for GTKWave: unit by unit, without those that never change. `waves`: the name of the waveform's file.
std::string waves_layout(const RunResult& run, const std::string& waves);

}  // namespace dlasim
