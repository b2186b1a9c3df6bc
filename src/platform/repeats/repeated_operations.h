// Operations that come again: the passes of a layer that does not fit, a block of a network. Where the machine has been in the same state
// at two interrupts, what came between them is known. Where it is in that state again, and what software is going to do is what it did
// then, the same happens again, as often as the program says so (platform/repeats/recurrence.h does the same inside of operations). So the
// time is taken in one step, with all that is counted in it.
//
//   program     writes, wait │ writes, wait │  others  │ writes, wait │ writes, wait    of addresses only what is below the granule counts
//   interrupt                ▲              ▲          ▲
//                            └──── known ───┘          └════ known ═══╧═══ known ═══►
//                            the state is equal, as seen from the groups of registers that work next
#pragma once
#include <deque>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "platform/repeats/register_uses.h"
#include "platform/repeats/repeats.h"
#include "platform/repeats/state_period.h"
#include "platform/software.h"
#include "platform/top.h"
#include "platform/window.h"
#include "units/csb/glb.h"

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
        GroupTurns turns;                   // of units whose second group is next
        std::vector<std::uint64_t> values;  // of the words
        RegisterUses::Contents registers;
        Snapshot counted;
    };
    /// What came between two of them.
    struct Known {
        std::uint64_t digest = 0;  // of both
        Software::Part part;
        std::size_t from = 0, to = 0;  // operations that GLB has got to know of
        GroupTurns turns;              // at the first one
        std::vector<RegisterUses::Use> uses;
        std::vector<std::uint64_t> moves;                        // of the words
        std::vector<std::pair<std::size_t, Cycle>> since;        // words that say since when: so long before
        SnapshotStep step;                                       // what is counted in it
        std::vector<std::pair<Cycle, SnapshotStep>> interrupts;  // so much later, and what had been counted since
        std::shared_ptr<const CriticalPath::Way> way;            // null without causes
    };
    /// It comes so many times next.
    struct Next {
        const Known* known = nullptr;
        std::uint64_t times = 0;
    };
    bool take(Seen& seen);
    GroupTurns turns() const;
    std::uint64_t digest(Cycle now);
    void learn(const Seen& now);
    std::optional<Known> between(const Seen& before, const Seen& now);
    std::uint64_t times(const Known& known, const Seen& now) const;
    Next next(const Seen& now) const;
    bool skip(const Known& known, std::uint64_t times, Seen& now);
    std::vector<GlbCore::Done> done(const Known& known, std::uint64_t times, const Seen& now) const;
    void expect(const Known& known, std::uint64_t times, const Seen& now);
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
    const RegisterUses uses_;

    std::deque<Seen> seen_;
    std::deque<Known> known_;
    StatePeriod::Words words_;
    StatePeriod states_;
    Cycle next_ = 0, period_ = 0;       // checked: where the state is compared
    std::uint64_t left_ = 0;            // so often
    Snapshot counted_;                  // and what had been counted before
    std::optional<SnapshotStep> step_;  // in a period
    Cycle skipped_ = 0;
};

}  // namespace dlasim
