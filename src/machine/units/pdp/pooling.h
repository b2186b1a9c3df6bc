// The two stages that pool: windows along the line, then lines of a window. They carry occupancy; which beats take an
// input and which carry an output is a fixed sequence (schedule.h), what they are worth is in values.h.
//
//   horizontal  input ─► 4 PIPEs, 8 window units in lock step ─► beats with an output ─► pad adder, 1 (fp16 average 4) ─►
//   vertical    ─► RAM read, operand, accumulate, pad, width, height: 6 PIPEs ─► [fp16 average: 15] ─► beats with an output
//
// As long as a run of beats of one kind lasts and the path is free, a number of cycles is one step: flow().
//
// Beats without output leave where the drawing says so, but need the ready of the next stage like the others.
//
// Source  pdp.md 4.4, 4.5, 5.
#pragma once
#include <bit>
#include <cstdint>

#include "base/cycle.h"
#include "elements/pipe_row.h"
#include "facts/pdp.h"
#include "units/pdp/layer.h"
#include "units/pdp/schedule.h"

namespace dlasim::pdp {

class Horizontal {
public:
    explicit Horizontal(const facts::pdp::Facts& silicon)
        : schedule_(silicon), windows_(facts::pdp::kWindowStages), pad_(facts::pdp::kPadStages)
    {
    }

    /// Takes input from the next cycle on.
    void start(const LayerConfig& layer)
    {
        schedule_.start(layer);
        pad_ = elements::FlaggedRow(layer.fp16_average ? facts::pdp::kFp16PadStages : facts::pdp::kPadStages);
    }
    bool valid() const { return pad_.valid(); }
    bool empty() const { return windows_.empty() && pad_.empty() && !schedule_.more(); }

    /// One cycle. `flow.ready`: the vertical stage takes the beat, then: this stage takes the input's. True if a beat entered.
    bool sweep(bool in, elements::Flow& flow)
    {
        pad_.sweep(windows_.valid() && windows_.flag(), true, flow);
        const bool more = schedule_.more(), needs = more && schedule_.takes_input();
        const bool offered = more && (in || !needs);
        windows_.sweep(offered, more && schedule_.gives_output(), flow);
        const bool entered = offered && flow.ready;
        flow.ready = flow.ready && needs;
        if (entered) {
            flow.changed = true;
            schedule_.next();
        }
        return entered;
    }
    /// The cycles in which, one after the other, an input beat can enter while everything moves.
    Cycle flows() const { return schedule_.input_left(); }
    /// A number of them: the beats that the vertical stage takes, the first in bit 0.
    std::uint32_t flow(unsigned cycles)
    {
        const std::uint32_t all = (1u << cycles) - 1;
        return pad_.flow(cycles, windows_.flow(cycles, all, schedule_.pass(cycles)), all);
    }

private:
    HorizontalSchedule schedule_;
    elements::FlaggedRow windows_, pad_;
};

class Vertical {
public:
    explicit Vertical(const facts::pdp::Facts& silicon)
        : schedule_(silicon), lines_(facts::pdp::kLineStages), fp16_(facts::pdp::kFp16OutputStages)
    {
    }

    void start(const LayerConfig& layer)
    {
        schedule_.start(layer);
        fp16_average_ = layer.fp16_average;
    }
    bool valid() const { return fp16_average_ ? fp16_.valid() : lines_.valid() && lines_.flag(); }
    bool empty() const { return lines_.empty() && fp16_.empty() && !schedule_.more(); }
    /// Cycles until an output can be valid, at the earliest.
    Cycle distance() const
    {
        if (fp16_average_) return fp16_.distance() != elements::kNoBeat ? fp16_.distance() : 0;
        if (lines_.distance() != elements::kNoBeat) return lines_.distance();
        // after those that enter without an output, one a cycle
        return lines_.stages() + (schedule_.run().output ? 0 : schedule_.run().beats);
    }

    /// One cycle. `flow.ready`: WDMA takes the beat, then: this stage takes the horizontal stage's.
    void sweep(bool in, elements::Flow& flow)
    {
        if (fp16_average_) fp16_.sweep(lines_.valid() && lines_.flag(), true, flow);
        const bool more = schedule_.more(), needs = more && schedule_.takes_input();
        const bool offered = more && (in || !needs);
        lines_.sweep(offered, more && schedule_.gives_output(), flow);
        ready_ = flow.ready && (needs || !more);
        const bool entered = offered && flow.ready;
        flow.ready = flow.ready && needs;
        if (entered) {
            flow.changed = true;
            schedule_.next();
        }
    }
    /// The cycles in which everything moves and what comes is taken, as long as WDMA takes what leaves.
    Cycle flows() const { return schedule_.run().input && !fp16_average_ ? schedule_.run().beats : 0; }
    /// A number of them, with the beats that enter: those that WDMA takes. The first is in bit 0.
    std::uint32_t flow(unsigned cycles, std::uint32_t in)
    {
        const std::uint32_t out = lines_.flow(cycles, in, schedule_.gives_output() ? in : 0);
        if (in != 0) schedule_.next(static_cast<unsigned>(std::popcount(in)));
        ready_ = true;
        return out;
    }
    /// As it was at the input in the cycle evaluated last: between layers, too.
    bool was_ready() const { return ready_; }

private:
    VerticalSchedule schedule_;
    elements::FlaggedRow lines_, fp16_;
    bool fp16_average_ = false, ready_ = false;
};

}  // namespace dlasim::pdp
