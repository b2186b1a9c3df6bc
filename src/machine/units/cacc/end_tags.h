// Which entries of the delivery buffer are the last of their layer: two tags, each a position of the ring.
//
//   last entry of a layer written ── set ─►[ tag 1 ]─►[ tag 0 ]─► equal to the position popped? ── clear ─► the beat ends its layer
//
// A defect of the configurable generation: set and clear in one cycle, with tag 0 alone valid, make tag 1 valid without a position. This
// ghost moves to tag 0 when the new layer ends, and signals the end of the layer after it to SDP at the first entry in its position: SDP
// takes no more, and the machine hangs. nv_full clears first.
//
// Source  cacc.md 3.7; open_points.md R2.
#pragma once
#include <array>
#include <cstdint>

#include "base/cycle.h"
#include "base/ring.h"

namespace dlasim::cacc {

class EndTags {
public:
    explicit EndTags(bool clears_first) : clears_first_(clears_first) {}

    /// The last entry of a layer is written at `position` in cycle `at`. Cycles ascend.
    void set(Cycle at, std::uint32_t position) { sets_.push_back({at, position}); }
    /// The entry at `position` is popped in cycle `at`; true: it ends its layer. Every set of a cycle up to `at` is known.
    bool pop(Cycle at, std::uint32_t position);

    /// When the ends of two layers met that left the ghost, once SDP has received it; kNever: it has not.
    Cycle met_at() const { return told_ ? met_at_ : kNever; }

private:
    struct Tag {
        bool valid = false, ghost = false;
        std::uint32_t position = 0;
    };
    struct Set {
        Cycle at = 0;
        std::uint32_t position = 0;
    };
    void step(const std::uint32_t* set, bool clear, Cycle at);

    const bool clears_first_;
    std::array<Tag, 2> tags_{};
    Ring<Set> sets_{8};  // not yet popped
    Cycle met_at_ = kNever;
    bool told_ = false;
};

}  // namespace dlasim::cacc
