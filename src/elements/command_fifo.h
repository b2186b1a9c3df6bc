// FIFOs of commands inside a unit, with the items they hold.
//
//   CommandQueue      push in p ──►│ RAM (n) │ output register │──► valid in p + 2        ready is a register
//   CommandRegister   ──►│ input register │ one word │──► falls through an empty word    ready is a register
//
// Source  pdp.md 4.2, 4.6.
#pragma once
#include <cstdint>

#include "base/cycle.h"
#include "base/ring.h"

namespace dlasim::elements {

/// A RAM and its output register. A slot is free one cycle after its word has moved to the output.
template <class T>
class CommandQueue {
public:
    explicit CommandQueue(std::uint32_t words) : words_(words) {}

    bool valid() const { return valid_; }
    const T& head() const { return head_; }  // pre: valid()
    bool ready() const { return held_ < words_; }
    bool empty() const { return !valid_ && waiting_.empty(); }

    /// True if anything is different or will be.
    bool clock(Cycle now, const T* pushed, bool pop)
    {
        bool took = false;
        if (pop || !valid_) {
            took = !waiting_.empty() && waiting_.front().from <= now;
            valid_ = took;
            if (took) {
                head_ = waiting_.front().word;
                waiting_.pop_front();
            }
        }
        const bool changed = pushed || took || pop || freed_ || (!valid_ && !waiting_.empty());
        held_ = held_ + (pushed != nullptr) - freed_;
        freed_ = took;
        if (pushed) waiting_.push_back({now + 1, *pushed});
        return changed;
    }

private:
    struct Entry {
        Cycle from = 0;  // it can move to the output in this cycle
        T word{};
    };
    std::uint32_t words_, held_ = 0;
    bool valid_ = false, freed_ = false;
    T head_{};
    Ring<Entry> waiting_{8};
};

/// One word behind an input register. An empty word is a wire.
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
