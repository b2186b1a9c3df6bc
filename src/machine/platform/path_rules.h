// The rules of the walk that finds the cause of every cycle: what an event waited for last.
//
//   at (place, cycle)   it sets its own pace: the cycles back to where it began to are its own; go on before them
//                       it waits for another place: go on there, in that cycle or as long before as the way takes
//   at (burst, stage)   the latest of what this stage of the burst waited for: the stage before, the burst before it, a credit, ..
//
// Where a walk goes from a spot depends on nothing but the spot and the trails, so that two walks that meet go on together. A loop of
// waits within a cycle is given to the wait itself.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "facts/causes.h"
#include "links/trail.h"
#include "traffic/port_trail.h"

namespace dlasim {

enum class BurstStage : std::uint8_t { Entered, Chunked, Granted, Accepted, First };

/// The point of a walk: a place, or a stage of a burst; and the cycle.
struct PathSpot {
    TrailPlace place = TrailPlace::Software;
    bool sent = false;  // something has come from there
    bool burst = false, write = false;
    std::uint8_t port = 0;
    BurstStage stage = BurstStage::First;
    BurstTrail::Number number = 0;
    Cycle at = 0;

    bool operator==(const PathSpot&) const = default;
};

/// The cycles after `after`, up to where the run before it begins.
struct PathRun {
    Cycle after = 0;
    ExactCause cause;
};

class PathRules {
public:
    /// pre: the trails live longer
    PathRules(const Trails& trails, const std::array<PortTrail, 2>& ports);

    void stand(const PathSpot& spot);
    const PathSpot& spot() const { return spot_; }
    /// One hop, back in time or to whom that cycle waited for. pre: the trails know the spot's cycle
    void step();
    /// False at a burst that has been forgotten.
    bool knows() const { return !spot_.burst || bursts().find(spot_.number); }
    /// The segment in which the pace of a unit itself began, if the walk is there: walks meet there.
    const std::optional<std::size_t>& paced() const { return paced_; }
    /// What the cycles of all walks went to, the latest first.
    const std::vector<PathRun>& runs() const { return runs_; }
    /// For other walks, through trails that have changed.
    void begin();
    ExactCause last_cause() const { return last_cause_; }

    const BurstTrail& bursts(unsigned port, bool write) const { return write ? ports_[port].writes : ports_[port].reads; }
    static Cycle time_of(const TrailBurst& burst, BurstStage stage)
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
    static BurstStage stage_before(const TrailBurst& burst, Cycle before);

    /// The unit that reads or writes as this client.
    static TrailPlace unit_of(unsigned client);

private:
    using Number = BurstTrail::Number;
    using Stage = BurstStage;
    static constexpr unsigned kInFlight = 5, kUses = 6;  // of back(): a stage each, and what is not back yet

    void spend(Cause cause, Cycle down_to, unsigned client = ExactCause::kNoClient);
    void spend_waits(const DramCycles& waits, Cycle down_to, unsigned client);
    void break_loop();
    void go(TrailPlace place);
    void go(TrailPlace family, unsigned client) { go(of_client(family, client)); }
    void go(Stage stage, Number number);
    void go(PathSpot burst);
    void go_to_sender(TrailPlace place);
    const Trail::Segment& segment();
    void step_place();
    bool step_sent();
    bool step_ask(unsigned client);
    void step_read(unsigned client);
    bool step_in_flight(unsigned client, Cycle answered);
    void step_turn(unsigned client, bool write);
    void step_answer(unsigned client);
    void step_burst();
    void step_first(const TrailBurst& burst);
    void step_accepted(const TrailBurst& burst);
    void step_granted(const TrailBurst& burst);
    void step_chunked(const TrailBurst& burst);
    void step_entered(const TrailBurst& burst);
    const BurstTrail& bursts() const { return bursts(spot_.port, spot_.write); }
    const TrailBurst& burst(Number number) const { return *bursts().find(number); }
    template <class Later>
    Number back(unsigned port, bool write, unsigned client, bool answers, unsigned use, Cycle granted, const Later& later);
    const TrailBurst* find(unsigned client, bool write, Stage stage, Cycle at, PathSpot& spot);
    bool step_stream(const TrailBurst& burst);
    bool streams(const TrailBurst& burst) const;

    const Trails& trails_;
    const std::array<PortTrail, 2>& ports_;
    PathSpot spot_;
    std::optional<std::size_t> paced_;
    std::vector<PathRun> runs_;
    ExactCause last_cause_;
    unsigned hops_ = 0;                                                                   // in this cycle
    PathSpot marked_;                                                                     // of a loop, if it is one
    bool loops_ = false;                                                                  // it is
    TrailPlace lowest_ = TrailPlace::Software;                                            // of the places of a loop
    std::array<std::array<std::array<std::array<Number, kUses>, kClients>, 2>, 2> seen_;  // by port, write, client, use
    std::array<std::size_t, kTrailPlaces> last_segment_{};                                // asked for: the next one is near
};

}  // namespace dlasim
