// From the answer of memory to the interrupt: two layers may wait for their answer, in order. An answer
// of the other interface than that of the oldest layer is remembered, one per interface.
//
//   R  complete pulse ─► flops (1) ─► match ─► release flop ─► output flop  R + silicon.complete_to_interrupt at GLB
//
// (1) one or two.
//
// Source  sdp.md 1.9, 2.3.
#pragma once
#include <array>
#include <cstdint>

#include "base/cycle.h"
#include "base/ring.h"
#include "causes/wait_log.h"
#include "facts/client.h"
#include "links/wire.h"

namespace dlasim::sdp {

class Acknowledge {
public:
    Acknowledge(Cycle complete_to_interrupt, Pulse<std::uint32_t>& interrupt) : delay_(complete_to_interrupt), interrupt_(interrupt) {}

    /// A layer of `group` wrote its last data; its answer will come from that interface.
    void expect(unsigned group, bool primary) { layers_.push_back({group, primary}); }
    /// The complete pulse of an interface in cycle `at`.
    void complete(Cycle at, bool primary);
    /// The interrupt of a layer that waits for nothing.
    void raise(Cycle at, unsigned group)
    {
        insert(at, 1u << group);
        if (log) log->event(at, WaitPoint::Sdp, Cause::Drain, 1);
    }

    /// Sends what is due; call in every evaluated cycle.
    void send(Cycle now);
    Cycle horizon() const { return due_.empty() ? kNever : due_.front().at - 1; }
    /// The log of the interrupts; null: none.
    WaitLog* log = nullptr;
    bool waiting() const { return !layers_.empty() || !due_.empty(); }

private:
    struct LayerConfig {
        unsigned group = 0;
        bool primary = true;
    };
    struct Due {
        Cycle at = 0;
        std::uint32_t mask = 0;
    };
    void release(Cycle at);
    void insert(Cycle at, std::uint32_t mask);

    Cycle delay_;
    Pulse<std::uint32_t>& interrupt_;
    Ring<LayerConfig> layers_{2};
    Ring<Due> due_{4};
    std::array<bool, 2> early_{};
};

}  // namespace dlasim::sdp
