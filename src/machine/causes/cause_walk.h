// The rules of the walk that finds the cause of every cycle: what an event waited for last.
//
//   at (wait point, cycle)  it sets its own pace: the cycles back to where it began to are its own; go on before them
//                           it waits for another one: go on there, in that cycle or as long before as the way takes
//   at (burst, stage)       the latest of what this stage of the burst waited for: the stage before, the burst before it, a credit, ..
//
// Where a walk goes from a point depends on nothing but the point and the logs, so that two walks that meet go on together. A loop of
// waits within a cycle is given to the wait itself.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "causes/burst_log.h"
#include "causes/wait_log.h"
#include "facts/causes.h"

namespace dlasim {

enum class BurstStage : std::uint8_t { Entered, Chunked, Granted, Accepted, First };

/// Where a walk is: at a wait point, or at a stage of a burst; and in which cycle.
struct PathPoint {
    WaitPoint place = WaitPoint::Software;
    bool sent = false;  // something has come from there
    bool burst = false, write = false;
    std::uint8_t port = 0;
    BurstStage stage = BurstStage::First;
    BurstLog::Number number = 0;
    Cycle at = 0;

    bool operator==(const PathPoint&) const = default;
};

/// The cycles after `after`, up to where the run before it begins.
struct PathRun {
    Cycle after = 0;
    ExactCause cause;
};

class CauseWalk {
public:
    /// pre: the logs live longer
    CauseWalk(const WaitLogs& logs, const std::array<BurstLogs, 2>& ports);

    void go_to(const PathPoint& point);
    const PathPoint& point() const { return point_; }
    /// One hop, back in time or to whom that cycle waited for. pre: the logs know the point's cycle
    void step();
    /// False at a burst that has been forgotten.
    bool knows() const { return !point_.burst || bursts().find(point_.number); }
    /// The segment in which the pace of a unit itself began, if the walk is there: walks meet there.
    const std::optional<std::size_t>& paced() const { return paced_; }
    /// What the cycles of all walks went to, the latest first.
    const std::vector<PathRun>& runs() const { return runs_; }
    /// For other walks, through logs that have changed.
    void begin();
    ExactCause last_cause() const { return last_cause_; }

    const BurstLog& bursts(unsigned port, bool write) const { return write ? ports_[port].writes : ports_[port].reads; }
    static Cycle time_of(const BurstRecord& burst, BurstStage stage)
    {
        switch (stage) {
            case BurstStage::Entered:
                return burst.entered();
            case BurstStage::Chunked:
                return burst.chunked();
            case BurstStage::Granted:
                return burst.granted;
            case BurstStage::Accepted:
                return burst.accepted();
            case BurstStage::First:
                return burst.first();
        }
        return 0;
    }
    /// The last one that it has reached before that cycle.
    static BurstStage stage_before(const BurstRecord& burst, Cycle before);

    /// The unit that reads or writes as this client.
    static WaitPoint unit_of(unsigned client);

private:
    using Number = BurstLog::Number;
    using Stage = BurstStage;
    static constexpr unsigned kInFlight = 5, kUses = 6;  // of back(): a stage each, and what is not back yet

    void spend(Cause cause, Cycle down_to, unsigned client = ExactCause::kNoClient);
    void spend_waits(const DramCycles& waits, Cycle down_to, unsigned client);
    void break_loop();
    void go(WaitPoint place);
    void go(WaitPoint family, unsigned client) { go(of_client(family, client)); }
    void go(Stage stage, Number number);
    void go(PathPoint burst);
    void go_to_sender(WaitPoint place);
    const WaitLog::Segment& segment();
    void step_place();
    bool step_sent();
    bool step_ask(unsigned client);
    void step_read(unsigned client);
    bool step_in_flight(unsigned client, Cycle answered);
    void step_turn(unsigned client, bool write);
    void step_answer(unsigned client);
    void step_burst();
    void step_first(const BurstRecord& burst);
    void step_accepted(const BurstRecord& burst);
    void step_granted(const BurstRecord& burst);
    void step_chunked(const BurstRecord& burst);
    void step_entered(const BurstRecord& burst);
    const BurstLog& bursts() const { return bursts(point_.port, point_.write); }
    const BurstRecord& burst(Number number) const { return *bursts().find(number); }
    template <class Later>
    Number back(unsigned port, bool write, unsigned client, bool answers, unsigned use, Cycle granted, const Later& later);
    const BurstRecord* find(unsigned client, bool write, Stage stage, Cycle at, PathPoint& point);
    bool step_stream(const BurstRecord& burst);
    bool streams(const BurstRecord& burst) const;

    const WaitLogs& logs_;
    const std::array<BurstLogs, 2>& ports_;
    PathPoint point_;
    std::optional<std::size_t> paced_;
    std::vector<PathRun> runs_;
    ExactCause last_cause_;
    unsigned hops_ = 0;                                                                   // in this cycle
    PathPoint marked_;                                                                    // of a loop, if it is one
    bool loops_ = false;                                                                  // it is
    WaitPoint lowest_ = WaitPoint::Software;                                              // of the places of a loop
    std::array<std::array<std::array<std::array<Number, kUses>, kClients>, 2>, 2> seen_;  // by port, write, client, use
    std::array<std::size_t, kWaitPoints> last_segment_{};                                 // asked for: the next one is near
};

}  // namespace dlasim
