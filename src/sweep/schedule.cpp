#include "sweep/schedule.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>

namespace dlasim {
namespace {

constexpr double kMostSteps = 1e6;

struct FrameJob {
    std::size_t work = 0, step = 0;
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

}  // namespace

double PeriodicWork::frame_us() const { return std::accumulate(step_us.begin(), step_us.end(), 0.0); }

double load_of(const std::vector<PeriodicWork>& works)
{
    double load = 0;
    for (const PeriodicWork& work : works) load += 1e-6 * work.rate * work.frame_us();
    return load;
}

std::optional<std::vector<FrameLatency>> simulate_frames(const std::vector<PeriodicWork>& works, FrameOrder order)
{
    for (const PeriodicWork& work : works)
        if (work.rate > 0 && work.rate < 0.001) return std::nullopt;
    const double end_us = hyperperiod_us(works);
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
                ready.push_back({w, 0, at, at + works[w].deadline_us});
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
        now_us += work.step_us[job->step];
        if (++job->step < work.step_us.size()) continue;
        FrameLatency& latency = latencies[job->work];
        latency.worst_us = std::max(latency.worst_us, now_us - job->release_us);
        if (now_us > job->due_us + 1e-6) ++latency.missed;
        ready.erase(job);
    }
}

}  // namespace dlasim
