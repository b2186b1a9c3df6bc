// The way from SDP's converter to PDP: a stage beside the one in front of WDMA. A layer for PDP hands every result to
// both; WDMA counts it and nothing leaves.
//
//   converter ─┬─► output stage ─► WDMA
//              └─► stage ─► PDP                  both take a result in the same cycle, or neither
//
// Source  sdp.md 2.4, 2.5; pdp.md 1.8.
#pragma once
#include <type_traits>

#include "base/ring.h"
#include "elements/occupancy.h"
#include "traffic/convolution.h"

namespace dlasim::sdp {

template <bool kFull>
class ToPdp {
public:
    bool valid() const { return stage_.valid(); }
    bool empty() const { return beats_.empty() && at_rest(); }
    const PoolBeat& head() const { return beats_.front(); }
    bool ready(bool taken) const
    {
        if constexpr (kFull) return stage_.ready(taken);
        else return stage_.ready();
    }
    /// The place of the beat that enters in this cycle; pre: ready().
    PoolBeat& push() { return beats_.extend(); }
    void sweep(bool in, bool taken, elements::Flow& flow)
    {
        const bool leaves = stage_.valid() && taken;
        elements::Flow own{taken, leaves};
        stage_.sweep(in, own);
        if (leaves) beats_.pop_front();
        flow.changed |= own.changed;
    }

private:
    using Stage = std::conditional_t<kFull, elements::Pipe, elements::SkidB>;
    bool at_rest() const
    {
        if constexpr (kFull) return true;
        else return stage_.go && !stage_.shadow;
    }

    Stage stage_;
    Ring<PoolBeat> beats_{2};
};

}  // namespace dlasim::sdp
