// Several workloads that share one accelerator, each released at its rate: load and worst-case latency by simulation of a hyperperiod.
//
//   releases at k / rate ──► ready jobs ──► order: first come, priority, earliest deadline ──► one step at a time ──► latency
//
// A step is never interrupted; between two steps another job may take the accelerator. All workloads are released together at time 0,
// and the simulation ends with the first idle moment at or after the end of the hyperperiod.
#pragma once
#include <optional>
#include <string>
#include <vector>

namespace dlasim {

enum class FrameOrder { FirstCome, Priority, Deadline };

/// A workload that is released again and again.
struct PeriodicWork {
    double rate = 0;              // frames a second, a multiple of 0.001
    double deadline_us = 0;       // from release to end
    int priority = 0;             // the larger goes first
    std::vector<double> step_us;  // the steps of a frame, in their order
    double frame_us() const;
};

struct FrameLatency {
    double worst_us = 0;
    std::size_t frames = 0, missed = 0;  // frames of the hyperperiod, and those that ended after their deadline
};

/// A stretch of time in which the accelerator works for one frame.
struct FrameInterval {
    std::size_t work = 0, frame = 0;  // which workload, and which of its frames
    double start_us = 0, end_us = 0;
};

/// Share of the time in which the accelerator is taken: rate x time of a frame, over all.
double load_of(const std::vector<PeriodicWork>& works);
/// Of each workload. None where the load is above 1, so that latencies grow without bound, or a hyperperiod has more than a million steps.
/// `intervals`, if given: what ran when, from time 0 on, of as many hyperperiods as fill a second.
std::optional<std::vector<FrameLatency>> simulate_frames(const std::vector<PeriodicWork>& works, FrameOrder order,
                                                         std::vector<FrameInterval>* intervals = nullptr);

}  // namespace dlasim
