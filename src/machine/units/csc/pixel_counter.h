// Image: which element of its line the window needs last.
//
//   new output row ─► init        next window: + pixel step         (16 bits)
//   next kernel row ─► start of the channel slice
//   next channel slice ─► slice start + what the slice before has left
//   next stripe ─► stripe start + the pixel steps of a stripe
//
// Where an entry holds two slices (nv_full, int8) the half of it that a stripe begins in is kept, too.
//
// A defect of the configurable generation: what counts the slices looks at the package register and the counter of the stripe, not at
// whether an atom is under way. In a stripe of one atom both always say "end of the stripe", and the count goes on in every cycle until
// the next package comes (stand_until). From then on every slice is taken for the last, and begins too early.
//
// Source  csc.md 1.8.3, 1.14; open_points.md R1.
#pragma once
#include <cstdint>

#include "base/cycle.h"
#include "facts/csc.h"
#include "units/csc/package.h"

namespace dlasim::csc {

class PixelCounter {
public:
    PixelCounter(const facts::csc::Facts& silicon, std::uint32_t lanes) : silicon_(silicon), lanes_(lanes) {}

    /// `paired`: two channel slices share an entry.
    void start_layer(const LayerConfig& layer, bool paired);
    /// A package takes the place of the one before, in cycle `at` of the sequencer.
    void stand_until(Cycle at);
    /// The window slides on; `column_end`: it was the last one of its line.
    void advance(const Package& package, bool stripe_end, bool column_end);

    std::uint32_t element() const { return now_; }
    /// The slice begins in the upper half of an entry.
    bool odd() const { return odd_; }

private:
    void end_block(const Package& package, bool column_end);

    const facts::csc::Facts silicon_;
    const std::uint32_t lanes_;
    const LayerConfig* layer_ = nullptr;
    bool paired_ = false;
    std::uint32_t pixel_ = 0;                                         // PS: elements from window to window
    std::uint32_t first_ = 0, step_ = 0, chunk_ = 0, left_over_ = 0;  // init, add, CS, init_off
    std::uint32_t now_ = 0, slice_ = 0, stripe_ = 0;                  // pixel, pixel_o, pixel_c
    std::uint32_t slices_seen_ = 2;                                   // of the stripe; from 2 as the silicon counts
    bool counts_on_ = false;                                          // the current package is a stripe of one atom
    Cycle came_ = 0;                                                  // when it came
    bool odd_ = false, odd_stripe_ = false;
};

}  // namespace dlasim::csc
