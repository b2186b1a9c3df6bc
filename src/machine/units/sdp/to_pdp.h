// The way from SDP's converter to PDP: a stage beside the one in front of WDMA. A layer for PDP hands every result to
// both; WDMA counts it and nothing leaves.
//
//   converter ─┬─► output stage ─► WDMA
//              └─► stage ─► PDP                  both take a result in the same cycle, or neither
//
// Shapes   beat: the bytes of a WDMA input beat, with its last piece; those before it have none.
// Latency  1 cycle: PIPE in nv_full, SKID-PIPE-B in the configurable generation.
// Source   sdp.md 2.4, 2.5; pdp.md 1.8.
#pragma once
#include "base/ring.h"
#include "elements/chain.h"
#include "elements/occupancy.h"
#include "traffic/convolution.h"

namespace dlasim::sdp {

template <class Stage>
class ToPdp {
public:
    /// Null: PDP takes everything.
    void connect(Channel<PoolBeat>* channel) { channel_ = channel; }

    /// Nothing inside, and it will accept.
    bool empty() const { return beats_.empty() && at_rest(stage_); }
    /// What it offers in this cycle is taken.
    void look(Cycle now) { taken_ = !channel_ || channel_->ready(now); }
    /// A beat can enter in this cycle; after look().
    bool ready() const { return elements::ready_of(stage_, taken_); }
    /// The place of the beat that enters in this cycle; pre: ready().
    PoolBeat& push()
    {
        pushed_ = true;
        return beats_.extend();
    }
    void sweep(Cycle now, elements::Flow& flow)
    {
        const bool was_valid = stage_.valid(), leaves = was_valid && taken_;
        elements::Flow own{taken_, leaves};
        stage_.sweep(pushed_, own);
        pushed_ = false;
        if (leaves) beats_.pop_front();
        flow.changed |= own.changed;
        if (!channel_ || (was_valid && !leaves)) return;
        if (stage_.valid()) channel_->offer(now + 1, beats_.front());
        else channel_->withdraw(now + 1);
    }

private:
    static bool at_rest(const elements::Pipe&) { return true; }
    static bool at_rest(const elements::SkidB& stage) { return stage.go && !stage.shadow; }

    Stage stage_;
    Ring<PoolBeat> beats_{2};
    Channel<PoolBeat>* channel_ = nullptr;
    bool pushed_ = false, taken_ = false;
};

}  // namespace dlasim::sdp
