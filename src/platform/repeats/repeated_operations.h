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
        std::uint64_t structure = 0;  // of the words: of what, in which order
        bool idle = false;            // no group of registers is enabled
        Software::Played played;
        std::size_t done = 0;               // operations that GLB knows of
        GroupTurns turns;                   // of units whose second group is next
        std::vector<std::uint64_t> values;  // of the words
        RegisterUses::Contents registers;
        std::vector<bool> asked;  // of registers, since the one before
        Snapshot counted;
    };
    static constexpr std::size_t kNone = SIZE_MAX;
    /// What came between two of them.
    struct Known {
        std::uint64_t digest = 0;  // of the first one
        bool returns = false;      // the second one is like it
        bool from_idle = false;
        Software::Part part;
        std::size_t from = 0, to = 0;  // operations that GLB has got to know of
        GroupTurns turns;              // at the first one
        std::vector<RegisterUses::Use> uses;
        std::vector<std::uint64_t> moves;                   // of the words
        std::vector<std::pair<std::size_t, Cycle>> since;   // words that say since when: so long before
        std::vector<std::pair<std::size_t, Cycle>> cycles;  // words that say another cycle: so much later than the first one
        struct Result {
            std::size_t word = 0, from = 0, other = 0;  // the larger of these two was, and `add` more; kNone: `add`
            std::uint64_t add = 0;
        };
        std::vector<Result> results;  // that operations leave
        struct OfLayer {
            std::size_t word = 0;
            std::uint64_t from = 0, to = 0;
        };
        std::vector<OfLayer> of_layers;                          // words that count in one
        SnapshotStep step;                                       // what is counted in it
        std::vector<std::pair<Cycle, SnapshotStep>> interrupts;  // so much later, and what had been counted since
        std::shared_ptr<const CriticalPath::Way> way;            // null without causes
    };
    /// It comes so many times next.
    struct Next {
        const Known* known = nullptr;
        std::vector<std::size_t> ends;  // entries of the program
    };
    void go_on(Seen here);
    bool take(Seen& seen);
    GroupTurns turns() const;
    void digest(Seen& seen);
    void learn(const Seen& now);
    bool is_known(const Seen& before, const Seen& now) const;
    std::optional<Known> between(const Seen& before, const Seen& now);
    std::vector<std::size_t> ends(const Known& known, const Seen& now) const;
    Next next(const Seen& now) const;
    std::vector<Known::Result> results(const Seen& before, const Seen& now) const;
    std::vector<std::uint64_t> moves(const Known& known, std::uint64_t times, const Seen& now) const;
    bool skip(const Known& known, const std::vector<std::size_t>& ends, Seen& now);
    std::vector<GlbCore::Done> done(const Known& known, std::uint64_t times, const Seen& now) const;
    void expect(const Known& known, std::uint64_t times, Seen now);
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
    // checked: what comes next, so often, and where that begins
    std::optional<Known> expected_;
    std::uint64_t left_ = 0;
    Seen since_;
    Cycle skipped_ = 0;
};

}  // namespace dlasim
