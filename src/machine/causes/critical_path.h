// Finds the cause of every cycle: the walk back from the last interrupt over what each event waited for last (cause_walk.h). Every
// cycle up to the interrupt is passed once, so the cycles of all causes add up.
//
// Which interrupt is the last one is known at the end, and notes are too many to be kept until then. So from time to time the older ones
// are summed up. A walk that comes later leaves the younger cycles at one of a few points: a unit in the cycle in which something that is
// still going on began, a stage of a burst that is on its way. From each of them the walk through the older cycles is made now: what its
// cycles went to is kept, the notes are not.
//
//     kept as sums      │ notes kept from here on   │ now          │ time
//         points ◄── walks ── points ◄┼── later walks come from there
//                floor so far       floor
//
// The points are all that a later walk can reach, so causes do not depend on when cycles are summed up; tests compare every choice.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "causes/cause_tree.h"
#include "causes/cause_walk.h"

namespace dlasim {

class CriticalPath {
public:
    WaitLogs logs;
    std::array<BurstLogs, 2> ports;  // primary, secondary

    CriticalPath() = default;
    CriticalPath(const CriticalPath&) = delete;
    CriticalPath& operator=(const CriticalPath&) = delete;

    /// Cycles are summed up at this interval, however few notes there are; kNever: at the end only. Before the first one.
    void compact_every(Cycle cycles)
    {
        window_ = next_ = cycles;
        enough_ = 0;
    }
    /// The pin shows an interrupt in cycle `at`: the run may end there. In order.
    void interrupt(Cycle at)
    {
        if (ended_) return;
        interrupts_.push_back(at);
        last_ = at;
    }
    /// The last interrupt so far is the one to walk back from, whatever follows it.
    void end() { ended_ = last_ != 0; }
    /// In cycle `at` something ends that is reported on by itself.
    void cut(Cycle at) { tree_.cut(at); }
    /// The first cycle that must not run before compact().
    Cycle next() const { return next_; }
    /// True if there are notes enough to sum up at next(), else that is a later cycle.
    bool should_compact();
    /// All cycles before next() have run, what units put off has been done, and ports have noted what is pending.
    void compact();
    /// Not before this cycle.
    void delay_compaction_until(Cycle now) { next_ = std::max(next_, now); }
    /// Of the cycles after t0 up to `done`: the last interrupt, or where software was at its end. Once, at the end, as compact().
    Causes causes(Cycle t0, Cycle done, bool interrupt);
    /// Walks that reached a point of older cycles that was not prepared: 0, else their causes are wrong.
    unsigned unforeseen() const { return unforeseen_; }

private:
    using Node = CauseTree::Node;
    struct PointHash {
        std::size_t operator()(const PathPoint& point) const;
    };
    /// The first walk that came there in this round, and how far it had come.
    struct Mark {
        std::uint32_t round = 0, walk = 0;
        std::uint32_t runs_and_stage = 0;  // 8 * runs + stage
        std::uint32_t at = 0;              // the lower half: walks reach the same burst or segment only at cycles closer than that

        std::uint32_t runs() const { return runs_and_stage / 8; }
        std::uint32_t stage() const { return runs_and_stage % 8; }
    };
    struct Walk {
        PathPoint from, to;
        std::uint32_t first_run = 0, last_run = 0;  // the following one
        ExactCause last_cause;
        std::optional<Mark> joins;  // there it joins another one
    };
    using Points = std::unordered_map<PathPoint, Node, PointHash>;

    void begin_walks();
    void walk(const PathPoint& point);
    bool arrived() const;
    bool joins_earlier_walk();
    void add_crossings(Cycle floor);
    void add_crossings(WaitPoint place, Cycle floor);
    void add_crossings(unsigned port, bool write, Cycle floor);
    void add_stages(unsigned port, bool write, BurstLog::Number number, Cycle floor);
    void add(const PathPoint& point);
    void add(WaitPoint place, bool sent, Cycle at);
    PathPoint named(PathPoint point) const;
    void sum_up_to(Cycle floor);
    std::vector<Node> sum_up();
    Node end_of(const Walk& walk);
    void forget();
    void drop_pending();
    std::size_t size() const;

    CauseWalk rules_{logs, ports};
    CauseTree tree_;
    // Cycles between two chances to sum up, taken if there are that many notes more since.
    Cycle window_ = 1u << 12;
    std::size_t enough_ = 1u << 16;
    Cycle floor_ = 0, next_ = window_;
    std::size_t size_ = 0;  // when cycles were summed up last
    std::vector<Cycle> interrupts_;
    Cycle last_ = 0;  // of all interrupts
    bool ended_ = false;
    Node interrupted_ = CauseTree::kRoot;  // the last one up to the floor
    bool any_interrupt_ = false;
    Points points_;  // up to the floor: what a walk finds there
    unsigned unforeseen_ = 0;
    // while cycles are summed up
    Points crossings_;                                         // of the next floor: the walk from there
    std::array<std::array<BurstLog::Number, 2>, 2> needed_{};  // by port, write: bursts from there on are kept
    std::vector<Walk> walks_;
    std::array<std::vector<Mark>, kWaitPoints> met_at_places_;       // by segment
    std::array<std::array<std::vector<Mark>, 2>, 2> met_at_bursts_;  // by port, write; by number from the log's first on
    std::uint32_t round_ = 0;
};

}  // namespace dlasim
