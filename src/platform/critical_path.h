// Finds the cause of every cycle: the walk back from the last interrupt over what each event waited for last (path_rules.h). Every
// cycle up to the interrupt is passed once, so the cycles of all causes add up.
//
// Which interrupt is the last one is known at the end, and trails are too long to be kept until then. So from time to time the walks
// begin that later ones can come to: one at every place, one at every burst on its way. They meet soon; where they leave the youngest
// cycles few are left. These go on through the older ones to where the walks before them have come to, what their cycles went to is
// summed up, and these cycles are forgotten.
//
//     summed up │ older cycles              │ youngest      │ time
//         spots ◄┼────── few walks ── spots ◄┼──── walks ───┤ places, bursts on their way
//             floor                      middle          next()
//
// A later walk comes to the same spots, whenever looks are taken: the causes do not depend on it. Where one comes to another spot
// all the same, the cycles to the next known one are given to what it came from; no measured or random program has shown that.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "platform/past_tree.h"
#include "platform/path_rules.h"

namespace dlasim {

class CriticalPath {
public:
    Trails trails;
    std::array<PortTrail, 2> ports;  // primary, secondary

    CriticalPath() = default;
    CriticalPath(const CriticalPath&) = delete;
    CriticalPath& operator=(const CriticalPath&) = delete;

    /// Looks are taken so many cycles apart, however short the trails are. Before the first one.
    void look_every(Cycle cycles)
    {
        window_ = next_ = cycles;
        enough_ = youngest_ = 0;
    }
    /// The pin shows an interrupt in cycle `at`: the run may end there. In order.
    void interrupt(Cycle at) { interrupts_.push_back(at); }
    /// In cycle `at` something ends that is reported on by itself.
    void cut(Cycle at) { tree_.cut(at); }
    /// The first cycle that must not run before look().
    Cycle next() const { return next_; }
    /// True if it is time for a look at next(), else that is a later one.
    bool wants_to_look();
    /// All cycles before next() have run, and what units put off has been done.
    void look();
    /// The trails should not grow without a look.
    bool full() const;
    /// Looks are taken at this cycle at the earliest.
    void reach(Cycle now) { next_ = std::max(next_, now); }
    /// The time in (first, second] comes up to so many `times` times more, in front of all that is known of later cycles, which moves on:
    /// how often; 0 if it is no longer known or not over. Units move on all that they know of trails. (critical_path_repeat.cpp)
    std::uint64_t repeat(Cycle first, Cycle second, std::uint64_t times);
    /// The cycles up to a little before `now`, of which all has run and no later one, are summed up; what walks find there is remembered by
    /// this name, for way(), of the last `most` of these. False if too little has happened. (critical_path_floors.cpp)
    bool remember(Cycle now, std::size_t most);
    /// What walks find in the time behind cycle `first` up to `second`, two that are remembered, the latter now. Null if that does not
    /// repeat itself.
    struct Way;
    std::shared_ptr<const Way> way(Cycle first, Cycle second) const;
    /// Such a time comes `times` times more behind now, which is remembered. False, and nothing has changed, if walks do not find the same
    /// in it. Units move on all that they know of trails. `cuts`: as cut(), of that time.
    bool repeat(const Way& way, std::uint64_t times, const std::vector<Cycle>& cuts);
    /// Of the cycles behind t0 up to `done`: the last interrupt, or where software was at its end. Once, at the end.
    Causes causes(Cycle t0, Cycle done, bool interrupt);

private:
    using Node = PastTree::Node;
    struct SpotHash {
        std::size_t operator()(const PathSpot& spot) const;
    };
    static constexpr std::size_t kMostKept = 1u << 19;  // bursts and segments: no period that is measured or copied makes them more
    /// The first walk that came there in this round, and how far it had come.
    struct Mark {
        std::uint32_t round = 0, walk = 0;
        std::uint32_t runs_and_stage = 0;  // 8 * runs + stage
        std::uint32_t at = 0;  // the lower half: no two cycles at which walks come to the same burst or segment are that far apart

        std::uint32_t runs() const { return runs_and_stage / 8; }
        std::uint32_t stage() const { return runs_and_stage % 8; }
    };
    struct Walk {
        PathSpot from, to;
        std::uint32_t first_run = 0, last_run = 0;  // the one behind it
        ExactCause last_cause;
        std::optional<Mark> joins;  // there it meets another one
    };
    using Spots = std::unordered_map<PathSpot, Node, SpotHash>;

    /// Time that repeats itself: behind `first`, in so many `cycles` as many bursts of every port, read and written.
    struct Period {
        Cycle first = 0, cycles = 0;
        std::array<std::array<BurstTrail::Number, 2>, 2> bursts{};
        std::size_t told = 1;  // bursts and segments

        /// So many of them as one.
        Period times(std::uint64_t times) const;
        /// The same `periods` later; `periods` may be negative.
        PathSpot moved(PathSpot spot, std::int64_t periods) const;
    };
    /// A spot that walks come to, and on from there through a period.
    struct Passage {
        PathSpot from;                   // of the last copy in front of the floor
        bool stays = false;              // of before the copies: it is the same one for all of them
        std::size_t next = 0;            // otherwise: the passage from where the walk comes to, in the copy before
        std::vector<SpentRuns> spent{};  // on the way, the earliest first
    };

    /// A floor that was remembered, and what was known in front of it.
    struct Floor {
        struct Bursts {
            BurstTrail::Number behind = 0;  // the first one granted behind the floor
            BurstTrail::Known known;
        };
        Cycle name = 0, at = 0;
        std::vector<PathSpot> spots;
        std::vector<Node> nodes;                                   // theirs
        std::unordered_map<PathSpot, std::size_t, SpotHash> from;  // of spots that are known now: of which of these they come
        std::array<std::vector<Trail::Segment>, kTrailPlaces> segments;
        std::array<std::array<Bursts, 2>, 2> bursts;  // by port, write
        std::vector<Cycle> interrupts;                // behind it
    };
    /// Where a walk from a spot of a floor comes to at one before it.
    struct Landing {
        std::size_t from = 0;            // of its spots
        bool stays = false;              // the same one
        bool exact = false;              // what it does there has ended in front of that floor: it cannot be longer
        std::vector<SpentRuns> spent{};  // on the way, the earliest first
    };
    void remember(Cycle name, const std::vector<PathSpot>& spots);
    void forget_floors(std::size_t most);
    void follow_floors(const std::vector<std::pair<PathSpot, PathSpot>>& from);
    static bool long_ago(const ForgottenBurst& forgotten, const Floor& floor);
    static bool alike(const Floor& first, const Floor& second);
    static std::optional<std::size_t> spot_of(const std::vector<PathSpot>& spots, PathSpot spot);
    static Period period(const Floor& first, const Floor& second);
    static std::optional<std::vector<std::size_t>> placed(const Way& way, const Period& later, const std::vector<PathSpot>& now);
    void become(const Way& way, const Period& later, const Period& period, std::uint64_t more);

    std::optional<Period> period(Cycle first, Cycle second);
    void copy(const Period& period, Cycle end, std::uint64_t times);
    static std::uint64_t copies_behind(const Period& period);
    std::uint64_t copies_before(const Period& period) const;
    bool fold(const Period& period, Cycle end, std::uint64_t times);
    bool alike(const Period& period, Cycle floor, Cycle end) const;
    bool mark(const Period& period, Cycle floor);
    std::vector<Passage> passages(const Period& period, Cycle floor, Cycle last);
    bool pass(const Period& period, Cycle floor, std::vector<Passage>& passages);
    std::vector<Node> pass_all(const Period& period, const std::vector<Passage>& passages, std::vector<Node> nodes, std::uint64_t times);
    static std::vector<std::pair<PathSpot, PathSpot>> passed(const Period& period, const std::vector<Passage>& passages,
                                                             std::uint64_t times);
    void move(const Period& period, std::uint64_t times, Cycle since);

    void begin_walks();
    void walk_from(Cycle last, Cycle floor, std::optional<Cycle> since);
    void walk(const PathSpot& spot, Cycle floor);
    bool meets();
    void mark();
    std::vector<PathSpot> landed() const;
    std::vector<PathSpot> youngest_spots(Cycle last);
    void to_floor(const std::vector<PathSpot>& spots);
    void older(const std::vector<PathSpot>& spots, std::optional<Cycle> interrupt);
    void compress();
    std::vector<Node> sum_up();
    Node landing(const Walk& walk);
    void forget();
    static Cycle margin(const PortTrail& port);
    std::size_t size() const;

    PathRules rules_{trails, ports};
    PastTree tree_;
    // A look may begin or end every so many cycles. It does if the trails have grown by that many bursts and segments since.
    Cycle window_ = 1u << 12;
    std::size_t enough_ = 1u << 14;
    std::size_t youngest_ = 1u << 10;  // to end
    Cycle floor_ = 0, middle_ = 0, next_ = window_;
    bool begun_ = false;    // a look
    std::size_t size_ = 0;  // at the end of the last one
    std::vector<Cycle> interrupts_;
    Node interrupted_ = PastTree::kRoot;  // the last one up to the floor
    bool any_interrupt_ = false;
    Spots spots_;  // where the walks of the last look came to, up to the floor
    std::deque<Floor> floors_;
    // of a look
    std::vector<Walk> walks_;
    std::array<std::vector<Mark>, kTrailPlaces> met_at_places_;      // by segment
    std::array<std::array<std::vector<Mark>, 2>, 2> met_at_bursts_;  // by port, write; by number from the trail's first on
    std::uint32_t round_ = 0;
};

struct CriticalPath::Way {
    Floor from, to;
    std::vector<Landing> landings;  // of the latter
};

}  // namespace dlasim
