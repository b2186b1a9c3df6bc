#include "units/sdp/x_engine.h"

namespace dlasim::sdp {

void RigidXEngine::start(const EngineLayer& layer)
{
    alu_.needs_operand = layer.alu_stream;
    mul_.needs_operand = layer.mul_stream;
}

unsigned RigidXEngine::distance() const
{
    if (!relu_.empty() || to_relu_.held) return relu_.valid() ? 0 : 1;
    if (!truncate_.empty() || to_truncate_.held) return truncate_.valid() ? 1 : kTail;
    if (mul_.stage) return mul_.distance() + kTail;
    if (mul_.skid || to_mul_.held) return mul_.kLatency + kTail;
    if (alu_.stage) return alu_.distance() + mul_.kLatency + kTail;
    return alu_.skid || input_.valid() ? alu_.kLatency + mul_.kLatency + kTail : elements::kNoBeat;
}

OperandsTaken RigidXEngine::sweep(bool in, elements::Flow& flow, bool alu_valid, bool mul_valid)
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

unsigned ElasticXEngine::distance() const
{
    if (output_.valid()) return 0;
    if (tail_.full != 0) return 1 + tail_.distance();
    if (mul_.valid()) return 3;
    if (alu_.full != 0) return 3 + layer_.mul + alu_.distance();
    return input_.valid() ? latency() - 1 : elements::kNoBeat;
}

OperandsTaken ElasticXEngine::sweep(bool in, elements::Flow& flow, bool alu_valid, bool mul_valid)
{
    OperandsTaken taken;
    const bool from_alu = layer_.alu ? alu_.valid() : input_.valid();
    output_.sweep(tail_.valid(), flow);
    tail_.sweep(layer_.mul ? mul_.valid() : from_alu, flow);
    if (layer_.mul) {
        const bool open = !layer_.mul_stream || mul_valid;
        mul_.sweep(from_alu && open, flow);
        taken.mul = layer_.mul_stream && flow.ready && from_alu;
        flow.ready = flow.ready && open;
    }
    if (layer_.alu) {
        const bool open = !layer_.alu_stream || alu_valid;
        alu_.sweep(input_.valid() && open, flow);
        taken.alu = layer_.alu_stream && flow.ready && input_.valid();
        flow.ready = flow.ready && open;
    }
    input_.sweep(in, flow);
    return taken;
}

}  // namespace dlasim::sdp
