// Random operations of SDP behind a layer: engines, operands of every kind, lookup tables.
#pragma once
#include <algorithm>
#include <bit>
#include <random>

#include "config/model/fp16.h"
#include "config/model/layer.h"

namespace dlasim {

class PostMaker {
public:
    PostMaker(Layer& layer, const Hardware& hardware, std::mt19937& random)
        : l_(layer), hw_(hardware), random_(random), fp_(layer.precision == Precision::Fp16)
    {
    }

    void make()
    {
        SdpConfig& post = l_.post;
        if (one_in(3)) post.engines[0] = x_engine();
        if (!one_in(3)) post.engines[1] = x_engine();
        if (hw_.sdp.has_ew && one_in(2)) post.engines[2] = y_engine();
        post.flush_nan = fp_ && one_in(4);
        // A comparison writes nothing: whole atoms, one pass.
        const std::uint32_t per_atom = hw_.memory.atom_bytes / l_.element_bytes();
        if (hw_.sdp.has_ew && one_in(8) && l_.op != Op::Deconvolution && l_.groups == 1) {
            l_.kernels = (l_.kernels + per_atom - 1) / per_atom * per_atom;
            if (l_.op == Op::Sdp) l_.channels = l_.kernels;
            post.engines[2] = {};
            post.engines[2].alu = operand(post.engines[2], true);
            post.engines[2].function = AluFunction::Equal;
            if (l_.op == Op::Sdp && one_in(2))
                post.engines = {{{}, {}, {.alu = {.on = true, .per = OperandPer::Element}, .function = AluFunction::Equal}}};
        }
    }

private:
    std::uint32_t in(std::uint32_t low, std::uint32_t high) { return static_cast<std::uint32_t>(low + random_() % (high - low + 1)); }
    bool one_in(std::uint32_t n) { return in(1, n) == 1; }
    std::int32_t number(std::int32_t most)
    {
        return static_cast<std::int32_t>(random_() % (2u * static_cast<std::uint32_t>(most) + 1)) - most;
    }

    Operand operand(PointEngine& e, bool ew)
    {
        Operand o;
        o.on = true;
        o.per = static_cast<OperandPer>(in(0, 2));
        const float real = static_cast<float>(number(4096)) / 1024;
        if (o.per == OperandPer::Layer)
            o.value = fp_ ? (ew ? std::bit_cast<std::int32_t>(real) : static_cast<std::int16_t>(fp16_from_double(real)))
                          : number(ew ? 100000 : 3000);
        if (o.streamed() && l_.precision == Precision::Int8) e.operand_bytes = in(1, 2);
        if (ew && o.streamed() && !fp_ && one_in(2)) o.conversion = {true, number(100), number(200), in(0, 8)};
        return o;
    }

    void both(PointEngine& e, bool ew)
    {
        const std::uint32_t which = in(1, 3);
        if (which & 1) e.alu = operand(e, ew);
        if (which & 2) e.mul = operand(e, ew);
        if (e.alu.streamed() && e.mul.streamed()) e.mul.per = e.alu.per;
        e.function = static_cast<AluFunction>(in(0, 2));
        e.prelu = e.mul.on && one_in(3);
    }

    PointEngine x_engine()
    {
        PointEngine e;
        both(e, false);
        e.relu = one_in(3);
        if (fp_) return e;
        if (e.alu.on) e.alu_shift = in(0, 10);
        // A product of two wide numbers would saturate everywhere.
        e.mul_shift = e.mul.on ? in(4, 14) : in(0, 2);
        return e;
    }

    PointEngine y_engine()
    {
        PointEngine e;
        both(e, true);
        if (!fp_ && e.mul.on) e.mul_shift = in(0, 12);
        if (hw_.sdp.has_lut && one_in(2)) e.lut = lut();
        return e;
    }

    void fill(LutTable& table, std::size_t entries)
    {
        std::int32_t value = number(2000);
        for (std::size_t i = 0; i < entries; ++i) {
            value = std::clamp(value + number(600), -32768, 32767);
            table.entries[i] = fp_ ? static_cast<std::int16_t>(fp16_from_double(value / 512.0)) : static_cast<std::int16_t>(value);
        }
        // About as wide as the numbers that come: between 2^4 and 2^20.
        const std::int32_t log2_step = fp_ ? static_cast<std::int32_t>(in(0, 6)) - 4 : static_cast<std::int32_t>(in(0, 12));
        const std::int32_t half = static_cast<std::int32_t>(entries / 2);
        table.index_select = log2_step;
        table.index_offset = log2_step - (fp_ ? 4 : 2);
        const auto position = [&](double p) {
            return fp_ ? std::bit_cast<std::int32_t>(static_cast<float>(p)) : static_cast<std::int32_t>(p);
        };
        const double step = std::ldexp(1.0, log2_step), start = -half * step + number(20);
        table.start = position(start);
        table.end = position(start + static_cast<double>(entries - 1) * step);
        for (LutSlope* slope : {&table.underflow, &table.overflow})
            *slope = {fp_ ? static_cast<std::int16_t>(fp16_from_double(number(200) / 256.0)) : number(300),
                      fp_ ? 0 : static_cast<std::int32_t>(in(0, 20)) - 5};
    }

    Lut lut()
    {
        Lut lut;
        fill(lut.le, Lut::kLeEntries);
        fill(lut.lo, Lut::kLoEntries);
        lut.le.exponential = one_in(2);
        lut.underflow_lo = one_in(2);
        lut.overflow_lo = one_in(2);
        lut.hybrid_lo = one_in(2);
        return lut;
    }

    Layer& l_;
    const Hardware& hw_;
    std::mt19937& random_;
    const bool fp_;
};

inline void random_post(Layer& layer, const Hardware& hardware, std::mt19937& random) { PostMaker(layer, hardware, random).make(); }

}  // namespace dlasim
