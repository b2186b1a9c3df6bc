// Image: the window of one kernel row over two entries, the one read last and the one before.
//
//       ┌──── previous ────┬──── current ────┐
//       │         [ atom ] │                 │          shift: the byte at which the atom begins
//       └──────────────────┴─────────────────┘          after the previous entry the window is {current, zeros}
//
// The shift grows by a pixel step from atom to atom, less an entry where a new one comes in. A padded row reads as padding.
//
// Source  csc.md 1.8.4, 1.8.5.
#pragma once
#include <cstdint>
#include <vector>

#include "units/csc/data_ring.h"

namespace dlasim::csc {

class PixelWindow {
public:
    explicit PixelWindow(std::uint32_t entry_bytes);

    void start_layer();
    /// A fetch begins: nothing has come yet.
    void begin_fetch() { loaded_ = padded_ = false; }
    /// The row is outside of the image.
    void pad();
    /// A new entry comes in: the place for its bytes, where values are computed.
    std::uint8_t* load(bool values);
    /// To the next atom, `step` bytes further; `fetched`: over what came in. `paired_reads`: of entries, a padded row keeps its count.
    void slide(std::uint32_t step, bool fetched, bool paired_reads);
    /// The stripe is repeated, or the next one begins: at byte `start`.
    void end_stripe() { shift_ = start_; }
    void start_at(std::uint32_t start) { start_ = start; }

    /// `count` bytes of the atom.
    void copy(std::uint8_t* to, std::uint32_t count, const DataRing& ring) const;

private:
    const std::uint32_t entry_bytes_;
    std::vector<std::uint8_t> current_, previous_;
    bool current_pad_ = true, previous_pad_ = true;
    bool loaded_ = false, padded_ = false;  // by the last fetch
    std::uint32_t shift_ = 0, start_ = 0;
};

}  // namespace dlasim::csc
