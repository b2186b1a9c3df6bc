// The requests whose words are still to come: a RAM FIFO.
//
//   push in p ──► RAM ──► output register, valid in p + 2        the slot of an entry that moves in q is free in q + 2
//
// The output register is a place of its own. An operand reader leaves an entry there until its last word is used; MRDMA
// moves entries ahead.
//
// Source  sdp.md 2.1, 2.8.
#pragma once
#include <cstdint>

#include "base/cycle.h"
#include "base/ring.h"

namespace dlasim::sdp {

class ContextQueue {
public:
    explicit ContextQueue(std::uint32_t entries) : entries_(entries) {}
    bool empty() const { return pushed_.empty(); }
    bool ready(Cycle at);
    /// It is full, and will not be without anything else happening.
    bool clears() const { return !freed_.empty(); }
    /// An entry is in the output register, or on its way there.
    bool valid(Cycle at) const { return !pushed_.empty() && moved_ < at; }
    bool arrives(Cycle at) const { return !pushed_.empty() && moved_ >= at; }
    void push(Cycle at);
    /// The entry in front leaves the output register.
    void pop(Cycle at);

private:
    static constexpr Cycle kWay = 2, kRelease = 2;
    void move(Cycle at);

    std::uint32_t entries_;
    Cycle moved_ = 0;                   // the entry in front, to the output register
    Ring<Cycle> pushed_{8}, freed_{4};  // entries by the cycle of their push; slots that are not free yet
};

}  // namespace dlasim::sdp
