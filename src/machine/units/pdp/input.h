// The stages before the horizontal one: the gated input from memory, the gated input from SDP, and the input
// stage both share.
//
//   PDP_RDMA ─►(gate)─► NaN stage ──────────────────┐
//                                                   ├─► [fp16 to fp17] ─► input stage ─►
//   SDP ─► SKID stage (1) ─► FIFOs of a beat, r ─► ──┘
//
// A gate opens with the start of a layer and closes with its last beat. A beat that SDP offers at a closed gate enters
// (1) as a void one, which is never acknowledged and dropped after it. The r FIFOs are written together and read in
// turn; where a beat of SDP is one of PDP there are none.
//
// Source  pdp.md 4.1, 4.3, 5.
#pragma once
#include <array>
#include <cstdint>

#include "elements/pipe_row.h"
#include "facts/pdp.h"
#include "units/pdp/layer.h"

namespace dlasim::pdp {

class Input {
public:
    explicit Input(const facts::pdp::Facts& silicon) : silicon_(silicon), ratio_(silicon.sdp_ratio(1))
    {
        stage_.stalls = sdp_.stalls = silicon.stalls;
    }

    /// The gate of the layer's source opens from the next cycle on.
    void start(const LayerConfig& layer);
    /// The source that the registers select, a running layer or not.
    void select(bool flying) { flying_ = flying; }

    bool valid() const { return stage_.valid(); }
    /// SDP's beat of the next cycle would be taken.
    bool sdp_ready() const { return sdp_.ready() && sdp_open(); }

    /// With a beat of PDP_RDMA in, not the last, and one out every cycle it stays as it is, as long as SDP offers none.
    bool flows() const
    {
        return memory_open_ && !flying_ && nan_.full && stage_.flows() && !fp16_average_ && fifo_held_ == 0 && sdp_.at_rest();
    }

    struct Answer {
        bool memory_ready = false;  // the beat of PDP_RDMA is taken
        bool sdp_taken = false;
    };
    /// One cycle. `flow.ready`: the horizontal stage takes the beat.
    Answer sweep(bool from_memory, bool memory_last, bool from_sdp, elements::Flow& flow);

private:
    bool sdp_open() const { return flying_ && sdp_open_; }
    bool sdp_beat_valid() const { return sdp_.valid() && !voids_[0]; }
    void sweep_sdp(bool offered, elements::Flow& flow);

    const facts::pdp::Facts& silicon_;
    bool flying_ = true;
    bool memory_open_ = false, sdp_open_ = false;
    elements::Pipe nan_;
    // on the fly
    std::uint32_t ratio_;  // r
    elements::EitherSkid sdp_;
    std::array<bool, 2> voids_{};  // of the beats in it, oldest first
    unsigned sdp_held_ = 0;
    std::uint32_t fifo_held_ = 0, piece_ = 0;
    std::uint64_t sdp_left_ = 0;  // beats of SDP still to come
    // both
    bool fp16_average_ = false;
    elements::Pipe wider_;
    elements::EitherSkid stage_;
};

}  // namespace dlasim::pdp
