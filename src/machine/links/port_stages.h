// The interface stages of a unit's DMA in front of its two memory interfaces: every port has its own,
// after the selection of the port.
//
//   unit ── push() ──►│ SKID stages (0) │── channel ──► MCIF
//                └───►│ SKID stages (1) │── channel ──► CVIF         ready() is a register
//
// Source  sdp.md 2.7, pdp.md 4.1, fabric.md 0.
#pragma once
#include <array>

#include "base/ring.h"
#include "elements/occupancy.h"
#include "links/wire.h"

namespace dlasim {

/// One or two stages, the last of which is a channel, with the items they hold. Each cycle: look() or skip_look(), at most one push(),
/// step().
template <class T>
class PortStages {
public:
    PortStages(unsigned stages, bool stalls) : stages_(stages)
    {
        for (elements::EitherSkid& stage : row_) stage.stalls = stalls;
    }
    /// Null: a port that never accepts.
    void connect(Channel<T>* channel) { channel_ = channel; }

    bool ready() const { return row_[0].ready(); }
    bool empty() const { return items_.empty(); }
    /// The channel offers an item.
    bool valid() const { return row_[stages_ - 1].valid(); }
    /// The interface takes something in this cycle; call after look().
    bool leaves() const { return port_ready_ && row_[stages_ - 1].valid(); }
    /// The interface takes something in cycle `now`, looked at or not.
    bool hands_over(Cycle now) const { return row_[stages_ - 1].valid() && channel_ && channel_->ready(now); }
    /// Nothing inside, and every stage will accept.
    bool at_rest() const { return items_.empty() && row_[0].at_rest() && (stages_ == 1 || row_[1].at_rest()); }

    /// The same, and nothing enters in this cycle: step() may be skipped.
    bool stays() const { return !pushed_ && at_rest(); }

    /// The place of the item that enters in this cycle; pre: ready().
    T& push()
    {
        pushed_ = true;
        return items_.extend();
    }
    /// Whether the interface takes what is offered in this cycle. A unit that evaluates quiet cycles afterwards says no: the
    /// channel does not remember them.
    void look(Cycle now) { port_ready_ = channel_ && channel_->ready(now); }
    void skip_look() { port_ready_ = false; }

    /// True if the next cycle may differ.
    bool step(Cycle now)
    {
        if (stays()) return false;
        elements::EitherSkid& last = row_[stages_ - 1];
        const bool was_valid = last.valid();
        elements::Flow flow{port_ready_};
        const bool leaves = was_valid && flow.ready;
        if (stages_ == 2) {
            row_[1].sweep(row_[0].valid(), flow);
            row_[0].sweep(pushed_, flow);
        } else {
            row_[0].sweep(pushed_, flow);
        }
        pushed_ = false;
        if (leaves) items_.pop_front();
        if (channel_ && (leaves || !was_valid)) {
            if (last.valid()) channel_->offer(now + 1, items_.front());
            else channel_->withdraw(now + 1);
        }
        return flow.changed;
    }

private:
    unsigned stages_;
    Channel<T>* channel_ = nullptr;
    std::array<elements::EitherSkid, 2> row_{};
    Ring<T> items_{4};
    bool pushed_ = false, port_ready_ = false;
};

}  // namespace dlasim
