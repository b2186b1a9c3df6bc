// FIFOs of commands inside a unit, with the items they hold.
//
//   CommandQueue      push in p ──►│ RAM (n) │ output register │──► valid in p + 2        context_fifo.h
//   CommandRegister   ──►│ input register │ one word │──► falls through an empty word    ready is a register
//
// Source  pdp.md 4.2, 4.6.
#pragma once
#include <cstdint>

#include "base/ring.h"
#include "elements/context_fifo.h"

namespace dlasim::elements {

/// A ContextFifo with its items.
template <class T>
class CommandQueue {
public:
    explicit CommandQueue(std::uint32_t words) : fifo_(words), items_(words + 1) {}

    bool valid() const { return fifo_.valid(); }
    const T& head() const { return items_.front(); }  // pre: valid()
    bool ready() const { return fifo_.ready(); }
    bool empty() const { return items_.empty(); }

    /// `pushed` only if ready(); `pop`: what is valid is taken. True if anything changed.
    bool clock(const T* pushed, bool pop)
    {
        if (pop && valid()) items_.pop_front();
        if (pushed) items_.push_back(*pushed);
        return fifo_.clock(pushed != nullptr, pop);
    }

private:
    ContextFifo fifo_;
    Ring<T> items_;
};

/// One word after an input register. An empty word is a wire.
template <class T>
class CommandRegister {
public:
    bool valid() const { return word_full_ || in_full_; }
    const T& head() const { return word_full_ ? word_ : in_; }  // pre: valid()
    bool ready() const { return !busy_; }

    /// `pushed`, where it is given and the register ready, is taken. True if anything moved.
    bool clock(const T* pushed, bool pop)
    {
        const bool was_full = word_full_, was_busy = busy_, passed = in_full_ && !was_full, accepts = pushed && !busy_;
        if (passed) {
            word_ = in_;
            word_full_ = true;
        }
        if (pop) word_full_ = false;
        busy_ = pushed ? word_full_ : in_full_ && word_full_ && !passed;
        if (!(in_full_ && was_full)) {
            in_full_ = accepts;
            if (accepts) in_ = *pushed;
        }
        return passed || pop || accepts || busy_ != was_busy;
    }

private:
    T in_{}, word_{};
    bool in_full_ = false, word_full_ = false;
    bool busy_ = false;  // as the pusher sees it
};

}  // namespace dlasim::elements
