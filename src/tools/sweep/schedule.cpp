#include "sweep/schedule.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>

namespace dlasim {
namespace {

constexpr double kMostSteps = 1e6;
constexpr double kShown = 1e6;  // microseconds at least, where intervals are wanted

struct FrameJob {
    std::size_t work = 0, step = 0, frame = 0;
    double release_us = 0, due_us = 0;
};

/// True if `a` gets the accelerator before `b`.
bool goes_first(const FrameJob& a, const FrameJob& b, const std::vector<PeriodicWork>& works, FrameOrder order)
{
    const auto key = [&](const FrameJob& job) {
        const double first = order == FrameOrder::Deadline   ? job.due_us
                             : order == FrameOrder::Priority ? -static_cast<double>(works[job.work].priority)
                                                             : job.release_us;
        return std::tuple(first, job.release_us, job.work);
    };
    return key(a) < key(b);
}

/// Microseconds after which all releases recur; rates are multiples of a thousandth.
double hyperperiod_us(const std::vector<PeriodicWork>& works)
{
    std::int64_t common = 0;
    for (const PeriodicWork& work : works) common = std::gcd(common, std::llround(1000 * work.rate));
    return common == 0 ? 0 : 1e9 / static_cast<double>(common);
}

/// Steps of one frame that follow each other are one interval.
void add_step(std::vector<FrameInterval>& intervals, const FrameInterval& step)
{
    if (!intervals.empty() && intervals.back().work == step.work && intervals.back().frame == step.frame &&
        intervals.back().end_us == step.start_us)
        intervals.back().end_us = step.end_us;
    else intervals.push_back(step);
}

}  // namespace

double PeriodicWork::frame_us() const { return std::accumulate(step_us.begin(), step_us.end(), 0.0); }

double load_of(const std::vector<PeriodicWork>& works)
{
    double load = 0;
    for (const PeriodicWork& work : works) load += 1e-6 * work.rate * work.frame_us();
    return load;
}

std::optional<std::vector<FrameLatency>> simulate_frames(const std::vector<PeriodicWork>& works, FrameOrder order,
                                                         std::vector<FrameInterval>* intervals)
{
    for (const PeriodicWork& work : works)
        if (work.rate > 0 && work.rate < 0.001) return std::nullopt;
    const double period_us = hyperperiod_us(works);
    const double end_us = intervals && period_us > 0 ? period_us * std::ceil(std::max(1.0, kShown / period_us)) : period_us;
    double steps = 0;
    for (const PeriodicWork& work : works) steps += 1e-6 * end_us * work.rate * static_cast<double>(work.step_us.size());
    if (load_of(works) > 1 || steps > kMostSteps) return std::nullopt;
    std::vector<FrameLatency> latencies(works.size());
    std::vector<std::size_t> released(works.size());
    std::vector<FrameJob> ready;
    const auto next_release = [&](std::size_t w) { return static_cast<double>(released[w]) * 1e6 / works[w].rate; };
    for (double now_us = 0;;) {
        double soonest = end_us;
        for (std::size_t w = 0; w < works.size(); ++w) {
            if (works[w].rate <= 0 || works[w].step_us.empty()) continue;
            for (double at = next_release(w); at <= now_us && at < end_us; at = next_release(w), ++latencies[w].frames) {
                ready.push_back({w, 0, released[w], at, at + works[w].deadline_us});
                ++released[w];
            }
            soonest = std::min(soonest, next_release(w));
        }
        if (ready.empty()) {
            if (soonest >= end_us) return latencies;
            now_us = soonest;
            continue;
        }
        const auto job = std::min_element(ready.begin(), ready.end(),
                                          [&](const FrameJob& a, const FrameJob& b) { return goes_first(a, b, works, order); });
        const PeriodicWork& work = works[job->work];
        if (intervals) add_step(*intervals, {job->work, job->frame, now_us, now_us + work.step_us[job->step]});
        now_us += work.step_us[job->step];
        if (++job->step < work.step_us.size()) continue;
        FrameLatency& latency = latencies[job->work];
        latency.worst_us = std::max(latency.worst_us, now_us - job->release_us);
        if (now_us > job->due_us + 1e-6) ++latency.missed;
        ready.erase(job);
    }
}

}  // namespace dlasim
