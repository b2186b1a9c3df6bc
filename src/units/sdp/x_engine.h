// BS and BN: ALU, multiplier, truncation, ReLU.
//
//   nv_full        SKID ─► ALU HLS(5) ─► MUL HLS(5) ─► TRT HLS(1) ─► ReLU HLS(1)   always 13 cycles
//                          ▲ operand     ▲ operand     a FIFO-H(1) before each of the last three
//   configurable   PACK ─► ALU 2 SKID ─► MUL SKID ─► TRT SKID ─► ReLU SKID ─► UNPACK
//                          ▲ join        ▲ join       a bypassed ALU or MUL is a wire
//
// Source  sdp.md 2.4, 2.5.
#pragma once
#include <algorithm>

#include "elements/occupancy.h"
#include "facts/sdp.h"
#include "units/sdp/layer.h"

namespace dlasim::sdp {

/// The operands an engine takes from its streams in a cycle, if they are there.
struct OperandsTaken {
    bool alu = false, mul = false;
    bool any() const { return alu || mul; }
};

class FullXEngine {
public:
    explicit FullXEngine(const SdpHardware&, std::uint32_t /*throughput*/) {}
    void start(const EngineLayer& layer)
    {
        alu_.needs_operand = layer.alu_stream;
        mul_.needs_operand = layer.mul_stream;
    }
    bool valid() const { return relu_.valid(); }
    /// Cycles that a beat offered now takes at least to the output.
    unsigned latency() const { return 1 + alu_.kLatency + mul_.kLatency + kTail; }
    /// Cycles until the foremost beat is at the output at the earliest.
    unsigned distance() const
    {
        if (!relu_.empty() || to_relu_.held) return relu_.valid() ? 0 : 1;
        if (!truncate_.empty() || to_truncate_.held) return truncate_.valid() ? 1 : kTail;
        if (mul_.stage) return mul_.distance() + kTail;
        if (mul_.skid || to_mul_.held) return mul_.kLatency + kTail;
        if (alu_.stage) return alu_.distance() + mul_.kLatency + kTail;
        return alu_.skid || input_.valid() ? alu_.kLatency + mul_.kLatency + kTail : elements::kNoBeat;
    }
    OperandsTaken sweep(bool in, elements::Flow& flow, bool alu_valid, bool mul_valid)
    {
        const OperandsTaken taken{alu_.wants_operand(), mul_.wants_operand()};
        relu_.sweep(to_relu_.valid(truncate_.valid()), flow);
        to_relu_.sweep(truncate_.valid(), flow);
        truncate_.sweep(to_truncate_.valid(mul_.valid()), flow);
        to_truncate_.sweep(mul_.valid(), flow);
        mul_.sweep(to_mul_.valid(alu_.valid()), flow, mul_valid);
        to_mul_.sweep(alu_.valid(), flow);
        alu_.sweep(input_.valid(), flow, alu_valid);
        input_.sweep(in, flow);
        return taken;
    }

private:
    static constexpr unsigned kTail = facts::sdp::kRigidTruncate + facts::sdp::kRigidRelu;
    elements::Skid input_;
    elements::Rigid<facts::sdp::kRigidAlu> alu_;
    elements::Rigid<facts::sdp::kRigidMul> mul_;
    elements::Rigid<facts::sdp::kRigidTruncate> truncate_;
    elements::Rigid<facts::sdp::kRigidRelu> relu_;
    elements::FallThrough<1> to_mul_, to_truncate_, to_relu_;
};

class ElasticXEngine {
public:
    ElasticXEngine(const SdpHardware& hw, std::uint32_t throughput)
    {
        input_.ratio = output_.ratio = static_cast<std::uint8_t>(std::max(1u, hw.max_throughput() / throughput));
    }
    void start(const EngineLayer& layer) { layer_ = layer; }
    bool valid() const { return output_.valid(); }
    unsigned latency() const { return 4 + 2 * layer_.alu + layer_.mul; }
    unsigned distance() const
    {
        if (output_.valid()) return 0;
        if (relu_.valid()) return 1;
        if (truncate_.valid()) return 2;
        if (mul_.valid()) return 3;
        if (alu_out_.valid()) return 3 + layer_.mul;
        if (alu_in_.valid()) return 4 + layer_.mul;
        return input_.valid() ? latency() - 1 : elements::kNoBeat;
    }
    OperandsTaken sweep(bool in, elements::Flow& flow, bool alu_valid, bool mul_valid)
    {
        OperandsTaken taken;
        const bool from_alu = layer_.alu ? alu_out_.valid() : input_.valid();
        output_.sweep(relu_.valid(), flow);
        relu_.sweep(truncate_.valid(), flow);
        truncate_.sweep(layer_.mul ? mul_.valid() : from_alu, flow);
        if (layer_.mul) {
            const bool open = !layer_.mul_stream || mul_valid;
            mul_.sweep(from_alu && open, flow);
            taken.mul = layer_.mul_stream && flow.ready && from_alu;
            flow.ready = flow.ready && open;
        }
        if (layer_.alu) {
            const bool open = !layer_.alu_stream || alu_valid;
            alu_out_.sweep(alu_in_.valid(), flow);
            alu_in_.sweep(input_.valid() && open, flow);
            taken.alu = layer_.alu_stream && flow.ready && input_.valid();
            flow.ready = flow.ready && open;
        }
        input_.sweep(in, flow);
        return taken;
    }

private:
    EngineLayer layer_;
    elements::Pack input_;
    elements::Skid alu_in_, alu_out_, mul_, truncate_, relu_;
    elements::Unpack output_;
};

}  // namespace dlasim::sdp
