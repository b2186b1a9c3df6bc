#include "units/sdp/y_engine.h"

namespace dlasim::sdp {

void RigidYEngine::start(const EngineLayer& layer)
{
    mul_.needs_operand = layer.mul_stream;
    alu_.needs_operand = layer.alu_stream;
    lut_on_ = layer.lut;
}

OperandsTaken RigidYEngine::sweep(bool in, elements::Flow& flow, bool alu_valid, bool mul_valid)
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

OperandsTaken ElasticYEngine::sweep(bool in, elements::Flow& flow, bool alu_valid, bool mul_valid)
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

}  // namespace dlasim::sdp
