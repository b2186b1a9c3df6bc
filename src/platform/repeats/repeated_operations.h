// Operations that come again: the passes of a layer that does not fit, a block of a network. Where the machine is in the state of an
// earlier interrupt, and what software does behind it is what it has done since that one, the same happens again, for as long as the
// program goes on like that (platform/repeats/recurrence.h does the same inside of operations). So the time is taken in one step, with all
// that is counted in it, as often as it comes.
//
//   program     writes, wait │ writes, wait │ writes, wait │ writes, wait      of addresses only what is below the granule is compared
//   interrupt                ▲              ▲ the state is equal
//                            └──── P ───────┴═════ P ══════╧═════ P ══════►
#pragma once
#include <deque>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "platform/repeats/repeats.h"
#include "platform/repeats/state_period.h"
#include "platform/software.h"
#include "platform/top.h"
#include "platform/window.h"

namespace dlasim {

class RepeatedOperations {
public:
    /// `path`: null without causes. `limit`: the first cycle that is not run, whatever repeats itself. All live longer. pre: memories
    /// behind the ports keep no state
    RepeatedOperations(Clock& clock, Top& top, Software& software, Window& window, FollowedPath* path, Repeats repeats,
                       std::uint64_t granule, Cycle limit);

    /// The state when all of cycle `now` has been evaluated, in which it was said that the pin shows an interrupt in cycle `pin`.
    void reached(Cycle now, Cycle pin);
    /// Cycles so far.
    Cycle skipped() const { return skipped_; }

private:
    /// An interrupt.
    struct Seen {
        Cycle at = 0, pin = 0;
        std::uint64_t digest = 0;
        Software::Played played;
        std::size_t done = 0;               // operations that GLB knows of
        std::vector<std::uint64_t> values;  // of the words
        Snapshot counted;
    };
    bool take(Cycle now);
    std::uint64_t digest(Cycle now);
    bool repeat(const Seen& before, const Seen& now);
    std::vector<Cycle> ends(const Seen& before, std::uint64_t times) const;
    void skip(const Seen& before, const Seen& now, std::uint64_t times);
    void check(Cycle now);

    Clock& clock_;
    Top& top_;
    Software& software_;
    Window& window_;
    FollowedPath* path_;
    const Repeats repeats_;
    const std::uint64_t granule_;
    const Cycle limit_;
    const std::vector<std::pair<std::string_view, RegisterFile*>> registers_;

    std::deque<Seen> seen_;
    StatePeriod::Words words_;
    StatePeriod states_;
    Cycle next_ = 0, period_ = 0;       // checked: where the state is compared
    std::uint64_t left_ = 0;            // so often
    Snapshot counted_;                  // and what had been counted before
    std::optional<SnapshotStep> step_;  // in a period
    Cycle skipped_ = 0;
};

}  // namespace dlasim
