// A small FIFO between registers, as occupancy: an input register, a few words, an output register.
//
//   write ──►│ in │──►│ kWords words │──►│ out │──► valid()
//   ready() ◄── register: falls after a write that finds the words full
//
// A word that is written in c is at the output in c + 2; kWords + 2 words fit. In the cycle in which the words
// are full nothing passes from the input register, even if a word leaves. Unlike LaneFifo the read ready is used in
// its own cycle.
//
// Source  open_points.md F2 (lanes of a packer, FIFOs of commands).
#pragma once
#include <cstdint>

namespace dlasim::elements {

template <std::uint8_t kWords>
class WordFifo {
public:
    static constexpr unsigned kLatency = 2, kCapacity = kWords + 2;

    bool valid() const { return out_; }
    bool ready() const { return !busy_in_; }
    unsigned held() const { return in_ + words_ + out_; }

    /// `write`: a word is offered, it enters if ready(); `read`: the word at the output is taken, if there is one.
    /// True if anything changed.
    bool step(bool write, bool read)
    {
        const WordFifo before = *this;
        const bool enters = in_ && !busy_, ahead = words_ != 0 || enters, waits = out_ && !read;
        const bool pops = ahead && !waits, full = !pops && words_ + enters == kWords;
        const bool kept = in_ && busy_;
        in_ = kept || (write && !before.busy_in_);
        busy_in_ = write ? full : kept && full;
        busy_ = full;
        words_ = static_cast<std::uint8_t>(words_ + enters - pops);
        out_ = ahead || waits;
        return !(*this == before);
    }
    bool operator==(const WordFifo&) const = default;

private:
    std::uint8_t words_ = 0;
    bool in_ = false, out_ = false, busy_ = false, busy_in_ = false;
};

}  // namespace dlasim::elements
