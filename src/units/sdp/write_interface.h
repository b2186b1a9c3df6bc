// The way of SDP's write packets to one memory interface. There is one for each: WDMA steers commands and data by
// the destination of the running layer and only then are they buffered, so packets that wait for a slow port are
// not in the way of the next layer's on the other one.
//
//   WDMA ─┬─► stage ─► stage ─► MCIF       nv_full two SKID-PIPE, configurable generation one SKID-PIPE-B
//         └─► stage ─► stage ─► CVIF
//
// Source  sdp.md 1.8, 2.7.
#pragma once
#include <array>
#include <type_traits>

#include "base/ring.h"
#include "elements/occupancy.h"
#include "facts/sdp.h"
#include "traffic/memory.h"

namespace dlasim::sdp {

template <bool kFull>
class WriteInterface {
public:
    static constexpr unsigned kStages = kFull ? 2 : 1;

    /// A packet that is offered now is taken: extend() it before the cycle's sweep().
    bool ready() const { return stages_[0].ready(); }
    WritePacket& extend() { return packets_.extend(); }
    /// The packet that the port sees in the next cycle, null if none.
    const WritePacket* leaving() const { return stages_[kStages - 1].valid() ? &packets_.front() : nullptr; }
    /// Nothing is here, and nothing that was here still shows in the ready.
    bool at_rest() const
    {
        if constexpr (kFull) return packets_.empty();
        else return packets_.empty() && stages_[0].go && !stages_[0].shadow;
    }

    /// A cycle; true if anything changed.
    bool sweep(bool in, bool port_ready)
    {
        if (!in && at_rest()) return false;
        const bool leaves = stages_[kStages - 1].valid() && port_ready;
        elements::Flow flow{port_ready, leaves};
        for (unsigned i = kStages - 1; i > 0; --i) stages_[i].sweep(stages_[i - 1].valid(), flow);
        stages_[0].sweep(in, flow);
        if (leaves) packets_.pop_front();
        return flow.changed;
    }

private:
    using Stage = std::conditional_t<kFull, elements::Skid, elements::SkidB>;
    std::array<Stage, kStages> stages_{};
    Ring<WritePacket> packets_{4};
};

}  // namespace dlasim::sdp
