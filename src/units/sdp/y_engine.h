// EW: multiplier, ALU, look-up table. Narrower than the rest: a beat passes in pieces.
//
//   nv_full        PACK(4) ─► MUL HLS(4) ─► FIFO-H(5) ─► ALU HLS(5) ─► [LUT] ─► UNPACK(4)
//     LUT          index HLS(6) ─► PIPE ─► FIFO-R(2) ─► PIPE-SKID ─► interpolation HLS(13)
//   configurable   PACK ─► MUL 2 SKID ─► ALU 2 SKID ─► [LUT] ─► UNPACK
//     LUT          index 4 SKID ─► SKID-B ─► FIFO-R(2) ─► SKID-B ─► interpolation 3 SKID
//
// A bypassed MUL or ALU is a wire in the configurable generation only, a bypassed LUT in both.
//
// Source  sdp.md 2.6.
#pragma once
#include <algorithm>
#include <array>

#include "elements/occupancy.h"
#include "facts/sdp.h"
#include "units/sdp/layer.h"
#include "units/sdp/x_engine.h"

namespace dlasim::sdp {

/// `kDepth` SKID-PIPEs in a row.
template <unsigned kDepth>
struct SkidRow {
    std::array<elements::Skid, kDepth> stages{};
    bool valid() const { return stages[kDepth - 1].valid(); }
    void sweep(bool in, elements::Flow& flow)
    {
        for (unsigned i = kDepth - 1; i > 0; --i) stages[i].sweep(stages[i - 1].valid(), flow);
        stages[0].sweep(in, flow);
    }
};

/// The table behind the engine. `read` is the register whose word is looked up.
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

class FullYEngine {
public:
    explicit FullYEngine(const SdpHardware&) { input_.ratio = output_.ratio = kRatio; }
    void start(const EngineLayer& layer)
    {
        mul_.needs_operand = layer.mul_stream;
        alu_.needs_operand = layer.alu_stream;
        lut_on_ = layer.lut;
    }
    bool valid() const { return output_.valid(); }
    // A beat is here for many cycles; nothing is gained by knowing for how many.
    unsigned latency() const { return 0; }
    unsigned distance() const { return 0; }
    /// A word moved into the register whose table entries are read.
    bool looked_up() const { return looked_up_; }
    /// A piece of a beat entered the arithmetic.
    bool passed() const { return passed_; }
    OperandsTaken sweep(bool in, elements::Flow& flow, bool alu_valid, bool mul_valid)
    {
        const OperandsTaken taken{alu_.wants_operand(), mul_.wants_operand()};
        output_.sweep(lut_on_ ? lut_.valid() : alu_.valid(), flow);
        looked_up_ = lut_on_ && lut_.sweep(alu_.valid(), flow);
        alu_.sweep(to_alu_.valid(mul_.valid()), flow, alu_valid);
        to_alu_.sweep(mul_.valid(), flow);
        mul_.sweep(input_.valid(), flow, mul_valid);
        passed_ = input_.valid() && flow.ready;
        input_.sweep(in, flow);
        return taken;
    }

private:
    static constexpr std::uint8_t kRatio = 4;
    bool lut_on_ = false, looked_up_ = false, passed_ = false;
    elements::Pack input_;
    elements::Rigid<facts::sdp::kRigidEwMul> mul_;
    elements::FallThrough<facts::sdp::kRigidEwFifo> to_alu_;
    elements::Rigid<facts::sdp::kRigidEwAlu> alu_;
    LutPath<elements::Rigid<facts::sdp::kRigidLutIndex>, elements::Pipe, elements::Skid, elements::Rigid<facts::sdp::kRigidLutInterpolate>>
        lut_;
    elements::Unpack output_;
};

class ElasticYEngine {
public:
    explicit ElasticYEngine(const SdpHardware& hw)
    {
        input_.ratio = output_.ratio = static_cast<std::uint8_t>(std::max(1u, hw.max_throughput() / hw.ew_throughput));
    }
    void start(const EngineLayer& layer) { layer_ = layer; }
    bool valid() const { return output_.valid(); }
    // A beat is here for many cycles; nothing is gained by knowing for how many.
    unsigned latency() const { return 0; }
    unsigned distance() const { return 0; }
    bool looked_up() const { return looked_up_; }
    /// A piece of a beat entered the arithmetic.
    bool passed() const { return passed_; }
    OperandsTaken sweep(bool in, elements::Flow& flow, bool alu_valid, bool mul_valid)
    {
        OperandsTaken taken;
        const bool from_mul = layer_.mul ? mul_.valid() : input_.valid();
        const bool from_alu = layer_.alu ? alu_.valid() : from_mul;
        output_.sweep(layer_.lut ? lut_.valid() : from_alu, flow);
        looked_up_ = layer_.lut && lut_.sweep(from_alu, flow);
        if (layer_.alu) {
            const bool open = !layer_.alu_stream || alu_valid;
            alu_.sweep(from_mul && open, flow);
            taken.alu = layer_.alu_stream && flow.ready && from_mul;
            flow.ready = flow.ready && open;
        }
        if (layer_.mul) {
            const bool open = !layer_.mul_stream || mul_valid;
            mul_.sweep(input_.valid() && open, flow);
            taken.mul = layer_.mul_stream && flow.ready && input_.valid();
            flow.ready = flow.ready && open;
        }
        passed_ = input_.valid() && flow.ready;
        input_.sweep(in, flow);
        return taken;
    }

private:
    EngineLayer layer_;
    bool looked_up_ = false, passed_ = false;
    elements::Pack input_;
    SkidRow<2> mul_, alu_;
    LutPath<SkidRow<facts::sdp::kElasticLutIndex>, elements::SkidB, elements::SkidB, SkidRow<facts::sdp::kElasticLutInterpolate>> lut_;
    elements::Unpack output_;
};

}  // namespace dlasim::sdp
