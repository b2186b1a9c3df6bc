// The entry of an engine for one operand stream. It is open from the start of a layer to the last piece of the last beat
// of the stream; what its first stage holds is there before.
//
//   RigidGate (nv_full)           beat ─► PIPE ─► enable ──────────────────────────────► operand port
//     of EW                       beat ─► PIPE ─► enable ─► PACK(4) ─► converter HLS(2) ─► operand port
//   ElasticGate (configurable)    beat ─► PACK ─► enable ─► operand port
//     of EW                       beat ─► PACK ─► enable ─► converter 1 or 3 SKID ─► operand port
//
// Latency  1 cycle; of EW 4 in nv_full, elsewhere 2, or 4 with the converter.
// Source   sdp.md 2.2, 2.6, 2.8.
#pragma once
#include <array>
#include <cstdint>

#include "elements/occupancy.h"
#include "facts/sdp.h"

namespace dlasim::sdp {

class RigidGate {
public:
    RigidGate(bool ew, std::uint32_t pieces);
    /// A layer of the engine begins. `streams`: it takes operands of this stream.
    void start(bool streams, bool convert);
    /// The operand port is offered a piece.
    bool valid() const { return ew_ ? convert_.valid() : pipe_.valid() && open_; }
    /// `flow`: from the operand port to the reader. `last`: the beat that comes in is the last one of the stream.
    void sweep(bool in, bool last, elements::Flow& flow);

private:
    bool ew_, open_ = false, last_ = false;
    elements::Pipe pipe_;
    elements::Pack pack_;
    elements::Rigid<facts::sdp::kRigidEwOperand> convert_;
};

class ElasticGate {
public:
    ElasticGate(bool ew, std::uint32_t pieces);
    void start(bool streams, bool convert);
    bool valid() const { return depth_ ? convert_[depth_ - 1].valid() : offers(); }
    void sweep(bool in, bool last, elements::Flow& flow);

private:
    /// The enable is after the packer: a word of a later layer waits inside.
    bool offers() const { return pack_.valid() && open_; }

    bool ew_, open_ = false, last_ = false;
    unsigned depth_ = 0;  // of the converter
    elements::Pack pack_;
    std::array<elements::Skid, facts::sdp::kElasticEwOperand> convert_{};
};

}  // namespace dlasim::sdp
