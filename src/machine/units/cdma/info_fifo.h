// The FIFOs between requests and responses: what was asked for, in order.
//
//   writer ─► input register ─► RAM ─► (credit, one cycle later) ─► RAM read ─► output register
//
// InfoFifo has the input register: written in w, at the output in w + 4, about 130 words in all. The
// writer sees not-ready in the cycle after an attempt that met a full RAM. ResponseFifo has none:
// written in w, at the output in w + 3; its write side sees a pop one cycle late.
//
// Source  cdma.md 3.2.
#pragma once
#include <array>
#include <cstdint>

#include "base/expects.h"
#include "facts/cdma.h"

namespace dlasim::cdma {

/// The common part: occupancy of the RAM and the way to the output register. Values are kept beside it.
class FifoCounters {
public:
    bool valid() const { return output_; }

protected:
    /// One cycle; `stored`: a word enters the RAM; `popped`: the output was consumed. Returns whether the RAM is full now.
    bool step(bool stored, bool popped, unsigned depth);
    /// Nothing is on its way inside: without a write or a pop the next step changes nothing.
    bool settled() const { return !freed_ && !credit_ && (!requested_ || output_); }

private:
    unsigned in_ram_ = 0, readable_ = 0;
    bool freed_ = false, credit_ = false, requested_ = false, output_ = false;
};

template <class T>
class InfoFifo : public FifoCounters {
public:
    /// Ready of this cycle.
    bool ready() const { return !busy_; }
    const T& head() const { return words_[head_]; }
    /// The word `ahead` places after the head, visible or not.
    const T& at(unsigned ahead) const { return words_[(head_ + ahead) % kSlots]; }
    unsigned size() const { return size_; }

    void pop();
    /// A write is attempted in this cycle; it is taken if ready.
    void attempt() { attempt_ = true; }
    void push(const T& word);
    /// End of the cycle. True if anything changed or will.
    bool step();

private:
    static constexpr unsigned kSlots = 256;
    std::array<T, kSlots> words_{};
    unsigned head_ = 0, size_ = 0;
    bool attempt_ = false, popped_ = false;
    bool input_ = false, full_ = false, busy_ = false, quiet_ = true;
};

class ResponseFifo : public FifoCounters {
public:
    /// Ready of this cycle.
    bool ready() const { return !full_; }
    /// End of the cycle; `offered`: a word comes, it enters if ready(). True if anything changed.
    bool step(bool offered, bool popped);

private:
    bool full_ = false, quiet_ = true;
};

template <class T>
void InfoFifo<T>::pop()
{
    DLASIM_EXPECTS(valid() && !popped_);
    head_ = (head_ + 1) % kSlots;
    --size_;
    popped_ = true;
}

template <class T>
void InfoFifo<T>::push(const T& word)
{
    DLASIM_EXPECTS(ready() && size_ < kSlots);
    words_[(head_ + size_++) % kSlots] = word;
}

template <class T>
bool InfoFifo<T>::step()
{
    if (!attempt_ && !popped_ && !input_ && quiet_) return false;
    const bool was_busy = busy_, was_full = full_, had_input = input_;
    const bool stored = input_ && !full_;
    const bool full_next = FifoCounters::step(stored, popped_, facts::cdma::kInfoDepth);
    const bool busy_next = attempt_ ? full_next : (input_ && full_next && !stored);
    if (!(input_ && full_)) input_ = attempt_ && !busy_;
    const bool moved = stored || popped_ || input_ != had_input || busy_next != was_busy || full_next != was_full;
    busy_ = busy_next;
    full_ = full_next;
    attempt_ = popped_ = false;
    quiet_ = settled() && !moved;
    return !quiet_;
}

}  // namespace dlasim::cdma
