// A context queue: what a read DMA remembers of its requests until their data come.
//
//   push in p ──► RAM (n) ──► output register, valid in p + 2        a place is free again one cycle late
//
// Occupancy only; the contexts are kept outside, in order.
//
// Source  cdp.md 4.1.
#pragma once
#include <cstdint>

namespace dlasim::elements {

class ContextFifo {
public:
    explicit ContextFifo(std::uint32_t places) : places_(places) {}
    bool valid() const { return out_; }
    bool ready() const { return !busy_; }
    /// `push` only if ready(). True if anything changed.
    bool clock(bool push, bool pop)
    {
        const bool moves = readable_ && (!out_ || pop);
        const std::uint32_t before = counted_;
        const bool was_busy = busy_, was_out = out_, was_freed = freed_, was_readable = readable_;
        busy_ = !freed_ && counted_ + push == places_;
        counted_ += push - freed_;
        freed_ = moves;
        held_ += push - moves;
        out_ = moves || (out_ && !pop);
        readable_ = held_ != 0;
        return push || moves || counted_ != before || busy_ != was_busy || out_ != was_out || freed_ != was_freed ||
               readable_ != was_readable;
    }

private:
    const std::uint32_t places_;
    std::uint32_t counted_ = 0;  // places in use, as the ready sees them
    std::uint32_t held_ = 0;     // in the RAM
    bool readable_ = false, out_ = false, busy_ = false, freed_ = false;
};

}  // namespace dlasim::elements
