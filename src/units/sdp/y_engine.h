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

#include "facts/sdp.h"
#include "units/sdp/layer.h"
#include "units/sdp/stages.h"
#include "units/sdp/x_engine.h"

namespace dlasim {

/// `kDepth` SKID-PIPEs in a row.
template <unsigned kDepth>
struct SkidRow {
    std::array<sdp_stage::Skid, kDepth> stages{};
    bool operator==(const SkidRow&) const = default;
    bool valid() const { return stages[kDepth - 1].valid(); }
    bool sweep(bool in, bool out)
    {
        for (unsigned i = kDepth - 1; i > 0; --i) out = stages[i].sweep(stages[i - 1].valid(), out);
        return stages[0].sweep(in, out);
    }
};

/// The table behind the engine. `read` is the register whose word is looked up.
template <class Index, class Read, class Out, class Interpolate>
struct LutPath {
    Index index;
    Read read;
    sdp_stage::FifoR<2> queue;
    Out data;
    Interpolate interpolate;
    bool operator==(const LutPath&) const = default;
    bool valid() const { return interpolate.valid(); }
    bool sweep(bool in, bool out)
    {
        out = interpolate.sweep(data.valid(), out);
        out = data.sweep(queue.valid(), out);
        out = queue.sweep(read.valid(), out);
        out = read.sweep(index.valid(), out);
        return index.sweep(in, out);
    }
};

class FullYEngine {
public:
    bool operator==(const FullYEngine&) const = default;
    explicit FullYEngine(const SdpHardware&)
    {
        input_.ratio = output_.ratio = kRatio;
    }
    void start(const SdpEngineLayer& layer)
    {
        mul_.needs_operand = layer.mul_stream;
        alu_.needs_operand = layer.alu_stream;
        lut_on_ = layer.lut;
    }
    bool valid() const { return output_.valid(); }
    /// A word moved into the register whose table entries are read.
    bool looked_up() const { return looked_up_; }
    EngineAnswer sweep(bool in, bool out, bool alu_valid, bool mul_valid)
    {
        EngineAnswer answer;
        answer.alu_taken = alu_.wants_operand();
        answer.mul_taken = mul_.wants_operand();
        if (lut_on_) {
            out = output_.sweep(lut_.valid(), out);
            const bool offered = lut_.index.valid(), room = lut_.read.ready(lut_.queue.ready());
            out = lut_.sweep(alu_.valid(), out);
            looked_up_ = offered && room;
        } else {
            out = output_.sweep(alu_.valid(), out);
        }
        out = alu_.sweep(to_alu_.valid(mul_.valid()), out, alu_valid);
        out = to_alu_.sweep(mul_.valid(), out);
        out = mul_.sweep(input_.valid(), out, mul_valid);
        answer.ready = input_.sweep(in, out);
        return answer;
    }

private:
    static constexpr std::uint8_t kRatio = 16 / facts::sdp::kFullEwLanes;
    bool lut_on_ = false, looked_up_ = false;
    sdp_stage::Pack input_;
    sdp_stage::Rigid<facts::sdp::kFullEwMul> mul_;
    sdp_stage::FallThrough<facts::sdp::kFullEwFifo> to_alu_;
    sdp_stage::Rigid<facts::sdp::kFullEwAlu> alu_;
    LutPath<sdp_stage::Rigid<facts::sdp::kFullLutIndex>, sdp_stage::Pipe, sdp_stage::Skid,
            sdp_stage::Rigid<facts::sdp::kFullLutInterpolate>>
        lut_;
    sdp_stage::Unpack output_;
};

class ElasticYEngine {
public:
    bool operator==(const ElasticYEngine&) const = default;
    explicit ElasticYEngine(const SdpHardware& hw)
    {
        input_.ratio = output_.ratio = static_cast<std::uint8_t>(std::max(1u, hw.max_throughput() / hw.ew_throughput));
    }
    void start(const SdpEngineLayer& layer) { layer_ = layer; }
    bool valid() const { return output_.valid(); }
    bool looked_up() const { return looked_up_; }
    EngineAnswer sweep(bool in, bool out, bool alu_valid, bool mul_valid)
    {
        EngineAnswer answer;
        const bool from_mul = layer_.mul ? mul_.valid() : input_.valid();
        const bool from_alu = layer_.alu ? alu_.valid() : from_mul;
        const bool mul_open = !layer_.mul_stream || mul_valid, alu_open = !layer_.alu_stream || alu_valid;
        if (layer_.lut) {
            out = output_.sweep(lut_.valid(), out);
            looked_up_ = lut_.index.valid() && lut_.read.ready();
            out = lut_.sweep(from_alu, out);
        } else {
            out = output_.sweep(from_alu, out);
        }
        if (layer_.alu) {
            out = alu_.sweep(from_mul && alu_open, out);
            answer.alu_taken = layer_.alu_stream && out && from_mul;
            out = out && alu_open;
        }
        if (layer_.mul) {
            out = mul_.sweep(input_.valid() && mul_open, out);
            answer.mul_taken = layer_.mul_stream && out && input_.valid();
            out = out && mul_open;
        }
        answer.ready = input_.sweep(in, out);
        return answer;
    }

private:
    SdpEngineLayer layer_;
    bool looked_up_ = false;
    sdp_stage::Pack input_;
    SkidRow<2> mul_, alu_;
    LutPath<SkidRow<facts::sdp::kLutIndex>, sdp_stage::SkidB, sdp_stage::SkidB, SkidRow<facts::sdp::kLutInterpolate>> lut_;
    sdp_stage::Unpack output_;
};

}  // namespace dlasim
