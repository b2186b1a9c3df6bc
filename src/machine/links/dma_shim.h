// How a unit that moves memory meets the memory interfaces: a two-place stage in front of each
// channel, and the order in which acknowledged writes are completed.
//
//   unit ── push() ──►│ two places │── channel ──► MCIF or CVIF      ready() is a register
//   unit ◄── take() ── registered, matched, registered ◄── complete
//
// Source  fabric.md 0 (PIPE2, STALLPIPE), 2.6.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>

#include "elements/stage.h"
#include "links/wire.h"

namespace dlasim {

/// A Stage whose output is a channel. Each cycle: begin(), at most one push(), end().
template <class T>
class DmaOutput {
public:
    explicit DmaOutput(Channel<T>& channel, bool stalls = false) : channel_(channel), stalls_(stalls) {}

    /// Buffer for one item; valid in this cycle until end().
    bool ready() const { return stage_.ready(); }
    bool empty() const { return !stage_.valid(); }

    void begin(Cycle now)
    {
        leaves_ = stage_.valid() && channel_.ready(now);
        enters_ = false;
    }
    /// pre: ready()
    T& push()
    {
        enters_ = true;
        return stage_.incoming();
    }
    /// True if the next cycle differs.
    bool end(Cycle now)
    {
        const bool shown = stage_.valid() && !leaves_;
        const bool changed = stage_.step(enters_, leaves_, stalls_);
        if (shown || !changed) return changed;
        if (stage_.valid()) channel_.offer(now + 1, stage_.head());
        else if (leaves_) channel_.withdraw(now + 1);
        return true;
    }

private:
    Channel<T>& channel_;
    const bool stalls_;
    elements::Stage<T> stage_;
    bool leaves_ = false, enters_ = false;
};

/// The outlets to the two memory interfaces.
template <class T>
class DmaOutputs {
public:
    DmaOutputs(Channel<T>& first, Channel<T>& second, bool stalls = false)
        : outlets_{DmaOutput<T>(first, stalls), DmaOutput<T>(second, stalls)}
    {
    }

    DmaOutput<T>& operator[](std::size_t port) { return outlets_[port]; }
    const DmaOutput<T>& operator[](std::size_t port) const { return outlets_[port]; }
    bool empty() const { return outlets_[0].empty() && outlets_[1].empty(); }
    void begin(Cycle now)
    {
        for (DmaOutput<T>& outlet : outlets_) outlet.begin(now);
    }
    /// True if the next cycle differs.
    bool end(Cycle now)
    {
        const bool first = outlets_[0].end(now), second = outlets_[1].end(now);
        return first || second;
    }

private:
    std::array<DmaOutput<T>, 2> outlets_;
};

/// Completes acknowledged writes in the order in which they were sent, whichever of the two interfaces
/// answers first. One early answer of each interface is remembered.
class WriteAcks {
public:
    static constexpr Cycle kLatency = 2;  // complete pulse to take()

    WriteAcks(Pulse<bool>& first, Pulse<bool>& second) : complete_{&first, &second} {}

    /// An acknowledged command was sent to interface `port`. A third one outstanding is lost.
    void expect(unsigned port)
    {
        if (expected_ < order_.size()) order_[expected_++] = port;
    }
    bool outstanding() const { return expected_ != 0 || completes_ != kNever; }

    /// One cycle. True if the oldest command is complete in this cycle.
    bool take(Cycle now)
    {
        const bool done = completes_ == now;
        if (done) completes_ = kNever;
        for (unsigned port = 0; port < 2; ++port) {
            if (registered_[port] == now) {
                registered_[port] = kNever;
                early_[port] = true;
            }
            if (complete_[port]->available(now)) {
                complete_[port]->take();
                registered_[port] = now + 1;
            }
        }
        if (expected_ != 0 && early_[order_[0]]) {
            early_[order_[0]] = false;
            order_[0] = order_[1];
            --expected_;
            completes_ = now + 1;
        }
        return done;
    }
    /// When take() has to be called next.
    Cycle next(Cycle now) const
    {
        Cycle at = std::min({completes_, registered_[0], registered_[1], complete_[0]->next(), complete_[1]->next()});
        if (expected_ != 0 && early_[order_[0]]) at = now + 1;
        return std::max(at, now + 1);
    }

private:
    std::array<Pulse<bool>*, 2> complete_;
    std::array<unsigned, 2> order_{};
    unsigned expected_ = 0;
    std::array<bool, 2> early_{};
    std::array<Cycle, 2> registered_{kNever, kNever};
    Cycle completes_ = kNever;
};

}  // namespace dlasim
