// The window that a report is about: what was counted between two cycles, and what the cycles between them went to.
//
//   cycle t0: mark ──► snapshot at its end ─┐
//   an interrupt   ──► snapshot at its end ─┴─► difference ──► RunResult
#pragma once
#include <algorithm>
#include <deque>
#include <functional>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "dram/statistics.h"
#include "platform/critical_path.h"
#include "platform/top.h"
#include "workload/run_result.h"

namespace dlasim {

/// Everything that is counted, at the edge between two cycles.
struct Snapshot {
    std::vector<UnitReport> units;
    std::vector<dram::Statistics> primary, secondary;  // by channel
};

/// What is counted between two snapshots.
class SnapshotStep {
public:
    SnapshotStep(const Snapshot& from, const Snapshot& to);
    /// The snapshot when as much has been counted once more. pre: no memory that counts
    void add_to(Snapshot& snapshot) const;

private:
    std::vector<UnitReport> less_;  // by unit, from - to
};

/// Units with the names of a report.
std::vector<UnitReport> reports(const Snapshot& from, const Snapshot& to);
PortTraffic port_traffic(const TrafficLog& log, Cycle last);

/// The cycles at whose end snapshots are taken, and the snapshots: after t0, and after the last interrupt so far.
class Window {
public:
    using Seen = std::function<void(Cycle relative, bool interrupt, const Snapshot& from, const Snapshot& now)>;
    /// `seen` gets the snapshots behind t0: those of interrupts, the `samples`, and beside these `even` ones at most, evenly over the run.
    Window(std::function<Snapshot(Cycle)> take, Seen seen, Samples samples, std::size_t even = 0)
        : take_(std::move(take)), seen_(std::move(seen)), samples_(samples), even_(even)
    {
        due_ = {0};
    }

    /// The window begins behind cycle `t0`.
    void mark(Cycle t0)
    {
        mark_ = t0;
        due_.insert(t0);
        if (samples_.every != 0) sample_ = t0 + std::max(samples_.every, samples_.from);
        if (even_ != 0) even_sample_ = t0 + (even_every_ = kMinEven);
        even_taken_ = 0;
    }
    void interrupt(Cycle at) { due_.insert(at); }
    /// A snapshot is due for the interrupt of cycle `at`, and no other one: those of interrupts that are not simulated follow from others.
    bool waits_only_for(Cycle at) const { return due_.size() == 1 && *due_.begin() == at && sample_ == kNever && even_sample_ == kNever; }
    /// One that is not shown: all cycles before `end` have run.
    Snapshot take(Cycle end) const { return take_(end); }
    /// Snapshots of interrupts are kept from now on, as many as that.
    void keep(std::size_t interrupts) { keeps_ = interrupts; }
    /// Of an interrupt.
    struct Sample {
        Cycle cycle = 0;
        Snapshot snapshot;
    };
    /// Those that are kept from the interrupt of cycle `first` on; none if that is not.
    std::vector<Sample> since(Cycle first) const;
    /// The interrupts of these come next, and again `times` times in all, so many `cycles` apart. `counted`: what is counted in these.
    void repeat(std::vector<Sample> interrupts, std::uint64_t times, Cycle cycles, const SnapshotStep& counted);
    /// The first cycle that must not run before a snapshot.
    Cycle next() const
    {
        const Cycle at = std::min({due_.empty() ? kNever : *due_.begin(), sample_, even_sample_});
        return at == kNever ? kNever : at + 1;
    }
    /// All cycles before `now` have run.
    void look(Cycle now)
    {
        while (next() <= now) {
            const Cycle cycle = next() - 1;
            const bool interrupt = due_.erase(cycle) != 0;
            Snapshot taken = take_(now);
            if (cycle == mark_) {
                from_ = std::move(taken);
                continue;
            }
            if (cycle == sample_) sample_ = cycle - mark_ + samples_.every < samples_.to ? cycle + samples_.every : kNever;
            if (cycle == even_sample_) {
                if (++even_taken_ == even_) {
                    even_taken_ /= 2;
                    even_every_ *= 2;
                }
                even_sample_ = cycle + even_every_ - (cycle - mark_) % even_every_;
            }
            if (seen_ && cycle > mark_) seen_(cycle - mark_, interrupt, from_, taken);
            if (!interrupt) continue;
            if (keeps_ != 0) kept_.push_back({cycle, taken});
            if (kept_.size() > keeps_) kept_.pop_front();
            to_ = std::move(taken);
            done_ = cycle;
        }
    }
    bool interrupted() const { return done_ > mark_; }
    const Snapshot& from() const { return from_; }
    /// The last interrupt behind the mark: its cycle, and the snapshot; if there was none, the end.
    Cycle done(Cycle end) const { return done_ > mark_ ? done_ : end; }
    const Snapshot& to(const Snapshot& last) const { return done_ > mark_ ? to_ : last; }

private:
    static constexpr Cycle kMinEven = 64;
    std::function<Snapshot(Cycle)> take_;
    Seen seen_;
    Samples samples_;
    Cycle sample_ = kNever;
    std::size_t even_ = 0, even_taken_ = 0;
    Cycle even_every_ = kMinEven, even_sample_ = kNever;
    std::set<Cycle> due_;
    Cycle mark_ = 0, done_ = 0;
    Snapshot from_, to_;
    std::size_t keeps_ = 0;
    std::deque<Sample> kept_;  // of the last interrupts
};

/// The critical path of a machine that runs.
class FollowedPath {
public:
    /// pre: it lives longer
    /// `every`: looks are taken so many cycles apart; 0: as memory allows.
    explicit FollowedPath(Top& top, Cycle every = 0);
    const std::vector<Cycle>* stamps = nullptr;  // of the software, at which slices end too
    CriticalPath& path() { return path_; }
    Trails& trails() { return path_.trails; }
    /// All cycles before `now` have run, and no later one.
    void look(Cycle now);
    /// As CriticalPath::repeat().
    std::uint64_t repeat(Cycle first, Cycle second, std::uint64_t times);
    /// As CriticalPath::remember().
    bool remember(Cycle now, std::size_t most);
    /// As CriticalPath::way().
    std::shared_ptr<const CriticalPath::Way> way(Cycle first, Cycle second) const { return path_.way(first, second); }
    /// As the other CriticalPath::repeat().
    bool repeat(const CriticalPath::Way& way, std::uint64_t times, const std::vector<Cycle>& ends)
    {
        return path_.repeat(way, times, ends);
    }
    /// Of the cycles behind t0 up to `done`. Once, at the end.
    Causes causes(Cycle t0, Cycle done, bool interrupt);

private:
    void cut();

    Top& top_;
    CriticalPath path_;
    std::size_t cut_done_ = 0, cut_stamps_ = 0;  // operations that the path knows of
};

}  // namespace dlasim
