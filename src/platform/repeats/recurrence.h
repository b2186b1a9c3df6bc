// A steady state is one step: when the machine is in the state of an earlier mark (base/state.h), what happened since then happens again,
// for as long as no loop comes to an end and nobody else has anything to do. So clock, counters, positions and trails move on
// by whole periods, and nothing is evaluated in between.
//
//   mark ────── P ──────► mark ────── P ──────► mark ═════════ n · P ═════════►
//   first digest          equal: all words      equal: what moved moves on n times
//                         are taken             (or, checked: it is simulated, and compared)
//
// Marks are where units say so: where CSC has sent what completes the sums of a stripe.
#pragma once
#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/state.h"
#include "links/module.h"
#include "platform/repeats/repeats.h"
#include "platform/repeats/state_period.h"

namespace dlasim {

class FollowedPath;
class Top;

class Recurrence {
public:
    /// `granule`: of addresses. `path`: null without causes. `limit`: the first cycle that must be evaluated whatever recurs. All live
    /// longer. `answered`: bursts, by memories that do not say their state; nothing while one owes an answer
    Recurrence(Clock& clock, Top& top, FollowedPath* path, Repeats repeats, std::uint64_t granule, std::function<Cycle()> limit,
               std::function<std::optional<std::uint64_t>()> answered);

    /// A mark: all of cycle `now` has been evaluated.
    void reached(Cycle now);
    /// A period is measured: what the trails say of it is not to be forgotten.
    bool measures() const { return period_ != 0; }
    /// The trails have become too long.
    void give_up() { period_ = left_ = 0; }
    /// Cycles so far.
    Cycle skipped() const { return skipped_; }

private:
    void say(State& s);
    /// A mark.
    struct Seen {
        Cycle at = 0;
        std::uint64_t digest = 0;
        std::vector<State::Loop> loops;
        /// Every inner loop is where it was, or has not been at its end since, and will not be when as much has happened twice more: a
        /// period is measured before others are skipped.
        bool may_follow(const Seen& before) const;
        /// Every inner loop is where it was, or has not been at its end since.
        bool follows(const Seen& before) const;
    };
    std::optional<Seen> digest(Cycle now);
    bool memory_rests();
    void forget();
    bool affordable();
    bool recurs(Cycle now);
    void look(Cycle now);
    void measure(Cycle now, Cycle period, bool again);
    bool measured(Cycle now);
    bool take(Cycle now, StatePeriod::Words& words);
    std::uint64_t times(Cycle now);
    void check(Cycle now);
    bool skip(Cycle now, std::uint64_t times);

    Clock& clock_;
    Top& top_;
    FollowedPath* path_;
    const Repeats repeats_;
    const std::uint64_t granule_;  // State::granule()
    const std::function<Cycle()> limit_;
    const std::function<std::optional<std::uint64_t>()> answered_;
    std::optional<std::uint64_t> answered_before_;  // at the last mark

    std::unordered_map<std::uint64_t, std::vector<Seen>> seen_;     // by digest
    std::size_t known_ = 0;                                         // of these
    Cycle period_ = 0, since_ = 0;                                  // that is measured, since this cycle
    Seen measured_;                                                 // its beginning
    StatePeriod states_;                                            // at its ends
    bool again_ = false;                                            // for the second time
    std::uint64_t left_ = 0;                                        // checked: periods to compare
    std::uint64_t budget_ = 0, evaluated_ = 0, measured_from_ = 0;  // of looks: evaluations that may be spent, and so far
    bool looking_ = true;
    Cycle skipped_ = 0;
};

}  // namespace dlasim
