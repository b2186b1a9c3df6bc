// EW: multiplier, ALU, look-up table. Narrower than the rest: a beat passes in pieces.
//
//   RigidYEngine (nv_full)           PACK(4) ─► MUL HLS(4) ─► FIFO-H(5) ─► ALU HLS(5) ─► [LUT] ─► UNPACK(4)
//     LUT                            index HLS(6) ─► PIPE ─► FIFO-R(2) ─► PIPE-SKID ─► interpolation HLS(13)
//   ElasticYEngine (configurable)    PACK ─► MUL 2 SKID ─► ALU 2 SKID ─► [LUT] ─► UNPACK
//     LUT                            index 4 SKID ─► SKID-B ─► FIFO-R(2) ─► SKID-B ─► interpolation 3 SKID
//
// A bypassed MUL or ALU is a wire in the configurable generation only, a bypassed LUT in both.
//
// Latency  of r pieces: rigid 10 + r, with LUT 32 + r; elastic 1 + r + 2 (MUL) + 2 (ALU) + 10 (LUT).
// Source   sdp.md 2.6; facts in facts/sdp.h.
#pragma once
#include <cstdint>

#include "elements/chain.h"
#include "elements/occupancy.h"
#include "facts/sdp.h"
#include "units/sdp/layer.h"
#include "units/sdp/x_engine.h"

namespace dlasim::sdp {

/// The table of the engine. `read` is the register whose word is looked up.
template <class Index, class Read, class Out, class Interpolate>
struct LutPath {
    Index index;
    Read read;
    elements::Places<facts::sdp::kLutFifo + 1> queue;
    Out data;
    Interpolate interpolate;
    bool valid() const { return interpolate.valid(); }
    /// True if a word entered `read`.
    bool sweep(bool in, elements::Flow& flow)
    {
        interpolate.sweep(data.valid(), flow);
        data.sweep(queue.valid(), flow);
        queue.sweep(read.valid(), flow);
        read.sweep(index.valid(), flow);
        const bool entered = index.valid() && flow.ready;
        index.sweep(in, flow);
        return entered;
    }
};

/// What both generations have alike.
class YEngine {
public:
    bool valid() const { return output_.valid(); }
    // A beat is here for many cycles; nothing is gained by knowing for how many.
    unsigned latency() const { return 0; }
    unsigned distance() const { return 0; }
    /// A word moved into the register whose table entries are read.
    bool looked_up() const { return looked_up_; }
    /// A piece of a beat entered the arithmetic.
    bool passed() const { return passed_; }

protected:
    explicit YEngine(std::uint32_t pieces) { input_.ratio = output_.ratio = static_cast<std::uint8_t>(pieces); }

    bool looked_up_ = false, passed_ = false;
    elements::Pack input_;
    elements::Unpack output_;
};

class RigidYEngine final : public YEngine {
public:
    explicit RigidYEngine(std::uint32_t pieces) : YEngine(pieces) {}
    void start(const EngineLayer& layer);
    OperandsTaken sweep(bool in, elements::Flow& flow, bool alu_valid, bool mul_valid);

private:
    using Index = elements::Rigid<facts::sdp::kRigidLutIndex>;
    using Interpolate = elements::Rigid<facts::sdp::kRigidLutInterpolate>;

    bool lut_on_ = false;
    elements::Rigid<facts::sdp::kRigidEwMul> mul_;
    elements::FallThrough<facts::sdp::kRigidEwFifo> to_alu_;
    elements::Rigid<facts::sdp::kRigidEwAlu> alu_;
    LutPath<Index, elements::Pipe, elements::Skid, Interpolate> lut_;
};

class ElasticYEngine final : public YEngine {
public:
    explicit ElasticYEngine(std::uint32_t pieces) : YEngine(pieces) {}
    void start(const EngineLayer& layer) { layer_ = layer; }
    OperandsTaken sweep(bool in, elements::Flow& flow, bool alu_valid, bool mul_valid);

private:
    using Index = elements::SkidRow<facts::sdp::kElasticLutIndex>;
    using Interpolate = elements::SkidRow<facts::sdp::kElasticLutInterpolate>;

    EngineLayer layer_;
    elements::SkidRow<2> mul_, alu_;
    LutPath<Index, elements::SkidB, elements::SkidB, Interpolate> lut_;
};

}  // namespace dlasim::sdp
