// BS and BN: ALU, multiplier, truncation, ReLU.
//
//   RigidXEngine (nv_full)           SKID ─► ALU HLS(5) ─► MUL HLS(5) ─► TRT HLS(1) ─► ReLU HLS(1)
//                                            ▲ operand     ▲ operand     a FIFO-H(1) before each of the last three
//   ElasticXEngine (configurable)    PACK ─► ALU 2 SKID ─► MUL SKID ─► TRT SKID ─► ReLU SKID ─► UNPACK
//                                            ▲ join        ▲ join       a bypassed ALU or MUL is a wire
//
// Latency  rigid 13 cycles, whatever is bypassed; elastic 4 + 2 (ALU) + 1 (MUL).
// Source   sdp.md 2.4, 2.5; facts in facts/sdp.h.
#pragma once
#include <cstdint>

#include "elements/chain.h"
#include "elements/occupancy.h"
#include "facts/sdp.h"
#include "units/sdp/layer.h"

namespace dlasim::sdp {

/// The operands an engine takes from its streams in a cycle, if they are there.
struct OperandsTaken {
    bool alu = false, mul = false;
    bool any() const { return alu || mul; }
};

class RigidXEngine {
public:
    /// Beats pass whole.
    explicit RigidXEngine(std::uint32_t /*pieces*/) {}
    void start(const EngineLayer& layer);
    bool valid() const { return relu_.valid(); }
    /// Cycles that a beat offered now takes at least to the output.
    unsigned latency() const { return 1 + alu_.kLatency + mul_.kLatency + kTail; }
    /// Cycles until the foremost beat is at the output at the earliest.
    unsigned distance() const;
    OperandsTaken sweep(bool in, elements::Flow& flow, bool alu_valid, bool mul_valid);

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
    explicit ElasticXEngine(std::uint32_t pieces) { input_.ratio = output_.ratio = static_cast<std::uint8_t>(pieces); }
    void start(const EngineLayer& layer) { layer_ = layer; }
    bool valid() const { return output_.valid(); }
    unsigned latency() const { return 4 + 2 * layer_.alu + layer_.mul; }
    unsigned distance() const;
    OperandsTaken sweep(bool in, elements::Flow& flow, bool alu_valid, bool mul_valid);

private:
    EngineLayer layer_;
    elements::Pack input_;
    elements::SkidRow<2> alu_, tail_;  // tail: truncation, ReLU
    elements::Skid mul_;
    elements::Unpack output_;
};

}  // namespace dlasim::sdp
