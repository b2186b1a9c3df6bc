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
    /// The first cycle that must not run before look().
    Cycle next() const { return next_; }
    /// True if it is time for a look at next(), else that is a later one.
    bool wants_to_look();
    /// All cycles before next() have run, and what units put off has been done.
    void look();
    /// Looks are taken at this cycle at the earliest.
    void reach(Cycle now) { next_ = std::max(next_, now); }
    /// Of the cycles behind t0 up to `done`: the last interrupt, or where software was at its end. Once, at the end.
    Causes causes(Cycle t0, Cycle done, bool interrupt);

private:
    using Node = PastTree::Node;
    struct SpotHash {
        std::size_t operator()(const PathSpot& spot) const;
    };
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

    void begin_walks();
    void walk_from(Cycle last, Cycle floor);
    void walk(const PathSpot& spot, Cycle floor);
    bool meets();
    void mark();
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
    Cycle last_ = 0;  // of all interrupts
    bool ended_ = false;
    Node interrupted_ = PastTree::kRoot;  // the last one up to the floor
    bool any_interrupt_ = false;
    Spots spots_;  // where the walks of the last look came to, up to the floor
    // of a look
    std::vector<Walk> walks_;
    std::array<std::vector<Mark>, kTrailPlaces> met_at_places_;      // by segment
    std::array<std::array<std::vector<Mark>, 2>, 2> met_at_bursts_;  // by port, write; by number from the trail's first on
    std::uint32_t round_ = 0;
};

}  // namespace dlasim
