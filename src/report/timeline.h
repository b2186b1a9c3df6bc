// A timeline of a run, as ui.perfetto.dev opens it.
#pragma once
#include <string>
#include <vector>

#include "workload/run_result.h"

namespace dlasim {

/// A part of the work with a name: a step of a network, an operation. Cycles relative to t0; it has those behind `start` up to `done`.
struct Span {
    std::string name;
    std::int64_t start = 0, done = 0;
};

/// Tracks from top to bottom: the spans, interrupts, a lane a unit with its phases (gated cycles are gaps), every signal at a boundary
/// that was ever high, and beats that memory delivered to each client in 1,024 cycles. Perfetto's protobuf form; 1 ns stands for a cycle
/// of the core clock, 0 is t0. pre: the run recorded events.
std::string timeline_bytes(const RunResult& run, const std::string& name, const std::vector<Span>& spans);

}  // namespace dlasim
