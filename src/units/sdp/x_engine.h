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

#include "facts/sdp.h"
#include "units/sdp/layer.h"
#include "units/sdp/stages.h"

namespace dlasim {

/// What an engine answers in a cycle.
struct EngineAnswer {
    bool ready = false;                       // to the beat in front
    bool alu_taken = false, mul_taken = false;  // to its operand streams
};

class FullXEngine {
public:
    bool operator==(const FullXEngine&) const = default;
    explicit FullXEngine(const SdpHardware&, std::uint32_t /*throughput*/) {}
    void start(const SdpEngineLayer& layer)
    {
        alu_.needs_operand = layer.alu_stream;
        mul_.needs_operand = layer.mul_stream;
    }
    bool valid() const { return relu_.valid(); }
    EngineAnswer sweep(bool in, bool out, bool alu_valid, bool mul_valid)
    {
        EngineAnswer answer;
        answer.alu_taken = alu_.wants_operand();
        answer.mul_taken = mul_.wants_operand();
        out = relu_.sweep(to_relu_.valid(truncate_.valid()), out);
        out = to_relu_.sweep(truncate_.valid(), out);
        out = truncate_.sweep(to_truncate_.valid(mul_.valid()), out);
        out = to_truncate_.sweep(mul_.valid(), out);
        out = mul_.sweep(to_mul_.valid(alu_.valid()), out, mul_valid);
        out = to_mul_.sweep(alu_.valid(), out);
        out = alu_.sweep(input_.valid(), out, alu_valid);
        answer.ready = input_.sweep(in, out);
        return answer;
    }

private:
    sdp_stage::Skid input_;
    sdp_stage::Rigid<facts::sdp::kFullAlu> alu_;
    sdp_stage::Rigid<facts::sdp::kFullMul> mul_;
    sdp_stage::Rigid<facts::sdp::kFullTruncate> truncate_;
    sdp_stage::Rigid<facts::sdp::kFullRelu> relu_;
    sdp_stage::FallThrough<1> to_mul_, to_truncate_, to_relu_;
};

class ElasticXEngine {
public:
    bool operator==(const ElasticXEngine&) const = default;
    ElasticXEngine(const SdpHardware& hw, std::uint32_t throughput)
    {
        input_.ratio = output_.ratio = static_cast<std::uint8_t>(std::max(1u, hw.max_throughput() / throughput));
    }
    void start(const SdpEngineLayer& layer) { layer_ = layer; }
    bool valid() const { return output_.valid(); }
    EngineAnswer sweep(bool in, bool out, bool alu_valid, bool mul_valid)
    {
        EngineAnswer answer;
        out = output_.sweep(relu_.valid(), out);
        out = relu_.sweep(truncate_.valid(), out);
        const bool from_alu = layer_.alu ? alu_out_.valid() : input_.valid();
        const bool mul_open = !layer_.mul_stream || mul_valid, alu_open = !layer_.alu_stream || alu_valid;
        out = truncate_.sweep(layer_.mul ? mul_.valid() : from_alu, out);
        if (layer_.mul) {
            out = mul_.sweep(from_alu && mul_open, out);
            answer.mul_taken = layer_.mul_stream && out && from_alu;
            out = out && mul_open;
        }
        if (layer_.alu) {
            out = alu_out_.sweep(alu_in_.valid(), out);
            out = alu_in_.sweep(input_.valid() && alu_open, out);
            answer.alu_taken = layer_.alu_stream && out && input_.valid();
            out = out && alu_open;
        }
        answer.ready = input_.sweep(in, out);
        return answer;
    }

private:
    SdpEngineLayer layer_;
    sdp_stage::Pack input_;
    sdp_stage::Skid alu_in_, alu_out_, mul_, truncate_, relu_;
    sdp_stage::Unpack output_;
};

}  // namespace dlasim
