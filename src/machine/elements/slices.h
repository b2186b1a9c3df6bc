// FIFOs side by side, one a slice of a memory atom, between a wide side and a narrow one. The narrow side
// goes through the slices in order, a pass of pixels each, so how many words are in a FIFO is counted
// from the outermost slices.
//
//            ┌──► slice 0 ──┐                              ┌──► slice 0 ──┐
//   word ────┼──► slice 1 ──┼──► pieces       pieces ──────┼──► slice 1 ──┼──► word
//            └──► slice F-1 ┘                              └──► slice F-1 ┘
//            Cutter                                        Gatherer
//
// A word may be two atoms: then there are F FIFOs for each, and the pixels of a pass take turns.
// Each is FIFO-R(depth): depth + 1 places, registered ready, latency 1.
//
// Source  cdp.md 4.1, 4.4.
#pragma once
#include <array>
#include <cstdint>

namespace dlasim::elements {

inline constexpr unsigned kMaxSlices = 64, kMaxHalves = 2;

/// Counters of words through the FIFOs.
class SliceCounters {
public:
    SliceCounters(unsigned slices, unsigned depth) : slices_(slices), places_(depth + 1) {}

protected:
    const unsigned slices_, places_;
    std::array<std::uint32_t, kMaxHalves> words_{};                           // through the wide side
    std::array<std::array<std::uint32_t, kMaxSlices>, kMaxHalves> pieces_{};  // through the narrow side
};

/// Wide in, narrow out.
class Cutter : public SliceCounters {
public:
    using SliceCounters::SliceCounters;
    /// A word of that many atoms can be taken. The slice read last is the fullest.
    bool ready(unsigned atoms) const
    {
        for (unsigned half = 0; half < atoms; ++half)
            if (words_[half] - pieces_[half][slices_ - 1] == places_) return false;
        return true;
    }
    bool valid(unsigned half, unsigned slice) const { return words_[half] != pieces_[half][slice]; }
    void push(unsigned atoms)
    {
        for (unsigned half = 0; half < atoms; ++half) ++words_[half];
    }
    void pop(unsigned half, unsigned slice) { ++pieces_[half][slice]; }
};

/// Narrow in, wide out.
class Gatherer : public SliceCounters {
public:
    using SliceCounters::SliceCounters;
    bool ready(unsigned half, unsigned slice) const { return pieces_[half][slice] - words_[half] != places_; }
    /// All slices of a word of that many atoms are there. The slice written last is the emptiest.
    bool valid(unsigned atoms) const
    {
        for (unsigned half = 0; half < atoms; ++half)
            if (pieces_[half][slices_ - 1] == words_[half]) return false;
        return true;
    }
    void push(unsigned half, unsigned slice) { ++pieces_[half][slice]; }
    void pop(unsigned atoms)
    {
        for (unsigned half = 0; half < atoms; ++half) ++words_[half];
    }
};

}  // namespace dlasim::elements
