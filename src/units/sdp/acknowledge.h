// From the answer of memory to the interrupt: two layers may wait for their answer, in order. An answer
// of the other interface than that of the oldest layer is remembered, one per interface.
//
//   R  complete pulse ─► 2 flops (1) ─► match ─► release flop ─► output flop  R + 4 (R + 3) at GLB
//
// Source  sdp.md 1.9, 2.3.
#pragma once
#include <array>
#include <cstdint>

#include "base/ring.h"
#include "facts/sdp.h"
#include "links/wire.h"

namespace dlasim {

class Acknowledge {
public:
    Acknowledge(bool full, Pulse<std::uint32_t>& interrupt)
        : delay_(full ? facts::sdp::kFullAckToIrq : facts::sdp::kConfigurableAckToIrq), interrupt_(interrupt)
    {
    }

    /// A layer of `group` wrote its last data; its answer will come from that interface.
    void expect(unsigned group, bool primary) { layers_.push_back({group, primary}); }
    /// The complete pulse of an interface in cycle `at`.
    void complete(Cycle at, bool primary)
    {
        if (layers_.empty() || layers_.front().primary != primary) {
            early_[primary] = true;
            return;
        }
        release(at + delay_);
        // What came early is matched one cycle after its layer has become the oldest.
        for (Cycle next = at + delay_ + 1; !layers_.empty() && early_[layers_.front().primary]; ++next) {
            early_[layers_.front().primary] = false;
            release(next);
        }
    }
    /// The interrupt of a layer that waits for nothing.
    void raise(Cycle at, unsigned group) { insert(at, 1u << group); }

    /// Sends what is due; call in every evaluated cycle.
    void send(Cycle now)
    {
        while (!due_.empty() && due_.front().at <= now + 1) {
            interrupt_.put(due_.front().at, due_.front().mask);
            due_.pop_front();
        }
    }
    Cycle horizon() const { return due_.empty() ? kNever : due_.front().at - 1; }
    bool waiting() const { return !layers_.empty() || !due_.empty(); }

private:
    struct Layer {
        unsigned group = 0;
        bool primary = true;
    };
    struct Due {
        Cycle at = 0;
        std::uint32_t mask = 0;
    };
    void release(Cycle at)
    {
        insert(at, 1u << layers_.front().group);
        layers_.pop_front();
    }
    void insert(Cycle at, std::uint32_t mask)
    {
        due_.push_back({at, mask});
        for (std::size_t i = due_.size() - 1; i > 0 && due_[i - 1].at > due_[i].at; --i) std::swap(due_[i - 1], due_[i]);
    }

    Cycle delay_;
    Pulse<std::uint32_t>& interrupt_;
    Ring<Layer> layers_{2};
    Ring<Due> due_{4};
    std::array<bool, 2> early_{};
};

}  // namespace dlasim
