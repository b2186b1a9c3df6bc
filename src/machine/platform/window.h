// The window that a report is about: what was counted between two cycles, and what the cycles between them went to.
//
//   cycle t0: mark ──► snapshot at its end ─┐
//   an interrupt   ──► snapshot at its end ─┴─► difference ──► RunResult
#pragma once
#include <algorithm>
#include <functional>
#include <set>
#include <utility>
#include <vector>

#include "causes/critical_path.h"
#include "dram/statistics.h"
#include "platform/top.h"
#include "workload/run_result.h"

namespace dlasim {

/// Everything that is counted, at the edge between two cycles.
struct Snapshot {
    std::vector<UnitReport> units;
    std::vector<dram::Statistics> primary, secondary;  // by channel
};

/// Units with the names of a report.
std::vector<UnitReport> reports(const Snapshot& from, const Snapshot& to);
PortTraffic port_traffic(const TrafficLog& log, Cycle last);

/// The cycles at whose end snapshots are taken, and the snapshots: after t0, and after the last interrupt so far.
class Window {
public:
    using Observer = std::function<void(Cycle relative, bool interrupt, const Snapshot& from, const Snapshot& now)>;
    /// `seen` gets the snapshots after t0: those of interrupts, those at the interval `every` (0: none), and beside these `even` ones at
    /// most, evenly over the run.
    Window(std::function<Snapshot(Cycle)> take, Observer seen, Cycle every, std::size_t even = 0)
        : take_(std::move(take)), seen_(std::move(seen)), every_(every), even_(even)
    {
        due_ = {0};
    }

    /// The window begins after cycle `t0`.
    void mark(Cycle t0)
    {
        mark_ = t0;
        due_.insert(t0);
        if (every_ != 0) sample_ = t0 + every_;
        if (even_ != 0) even_sample_ = t0 + (even_every_ = kMinEven);
        even_taken_ = 0;
    }
    void interrupt(Cycle at) { due_.insert(at); }
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
            if (cycle == sample_) sample_ += every_;
            if (cycle == even_sample_) {
                if (++even_taken_ == even_) {
                    even_taken_ /= 2;
                    even_every_ *= 2;
                }
                even_sample_ = cycle + even_every_ - (cycle - mark_) % even_every_;
            }
            if (seen_ && cycle > mark_) seen_(cycle - mark_, interrupt, from_, taken);
            if (!interrupt) continue;
            to_ = std::move(taken);
            done_ = cycle;
        }
    }
    bool interrupted() const { return done_ > mark_; }
    const Snapshot& from() const { return from_; }
    /// The last interrupt after the mark: its cycle, and the snapshot; if there was none, the end.
    Cycle done(Cycle end) const { return done_ > mark_ ? done_ : end; }
    const Snapshot& to(const Snapshot& last) const { return done_ > mark_ ? to_ : last; }

private:
    static constexpr Cycle kMinEven = 64;
    std::function<Snapshot(Cycle)> take_;
    Observer seen_;
    Cycle every_;
    Cycle sample_ = kNever;
    std::size_t even_ = 0, even_taken_ = 0;
    Cycle even_every_ = kMinEven, even_sample_ = kNever;
    std::set<Cycle> due_;
    Cycle mark_ = 0, done_ = 0;
    Snapshot from_, to_;
};

/// The critical path of a machine that runs.
class CriticalPathRecorder {
public:
    /// pre: it lives longer
    /// `every`: compaction interval in cycles; 0: as memory allows.
    explicit CriticalPathRecorder(Top& top, Cycle every = 0);
    const std::vector<Cycle>* stamps = nullptr;  // of the software, at which slices end too
    CriticalPath& path() { return path_; }
    WaitLogs& logs() { return path_.logs; }
    /// All cycles before `now` have run, and no later one.
    void look(Cycle now);
    /// Of the cycles after t0 up to `done`. Once, at the end.
    Causes causes(Cycle t0, Cycle done, bool interrupt);

private:
    void catch_up(Cycle now);
    void cut();

    Top& top_;
    CriticalPath path_;
    std::size_t cut_done_ = 0, cut_stamps_ = 0;  // operations that the path knows of
};

}  // namespace dlasim
