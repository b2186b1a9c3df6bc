// Two descriptions of SDP's arithmetic agree, integers and fp16: the golden reference, written from the definition,
// and the lanes of the machine, which reproduce the measured vectors. Rows are what their elements are.
#include <gtest/gtest.h>

#include <array>
#include <iostream>
#include <map>

#include "facts/presets.h"
#include "golden/lut.h"
#include "golden/post.h"
#include "numerics/fp.h"
#include "numerics/sdp_cvt.h"
#include "numerics/sdp_x.h"
#include "numerics/sdp_y.h"
#include "random_post.h"

namespace dlasim {
namespace post_reference_test {

numerics::SdpXConfig x_config(const PointEngine& e, Generation generation, bool fp, bool flush_nan)
{
    numerics::SdpXConfig c;
    c.silicon = facts::sdp::arithmetic(generation);
    c.fp = fp;
    c.nan_to_zero = flush_nan;
    c.alu_bypass = !e.alu.on;
    c.mul_bypass = !e.mul.on;
    c.relu_bypass = !e.relu;
    c.prelu = e.prelu;
    c.alu = static_cast<numerics::SdpAlu>(e.function);
    c.alu_shift = e.alu_shift;
    c.mul_shift = e.mul_shift;
    return c;
}

numerics::OperandConverter converter(const Operand& o)
{
    return {!o.conversion.on, o.conversion.offset, static_cast<std::int16_t>(o.conversion.scale), o.conversion.truncate};
}

/// x: an integer, or an fp32 pattern in an fp16 layer.
std::int32_t lanes(const Layer& layer, Generation generation, const LayerTensors& tensors, std::int32_t x)
{
    const bool fp = layer.precision == Precision::Fp16, flush_nan = layer.post.flush_nan;
    if (fp && flush_nan && numerics::Fp32::is_nan(static_cast<std::uint32_t>(x))) x = 0;
    const auto streamed = [&](std::size_t engine, bool mul) {
        const Operand& o = mul ? layer.post.engines[engine].mul : layer.post.engines[engine].alu;
        return o.streamed() ? tensors.operands[operand_slot(engine, mul)].values[0] : static_cast<std::int16_t>(o.value);
    };
    for (std::size_t i = 0; i < 2; ++i)
        if (layer.post.engines[i].on())
            x = numerics::sdp_x_lane(x_config(layer.post.engines[i], generation, fp, flush_nan), x, streamed(i, false), streamed(i, true));
    const PointEngine& ew = layer.post.ew();
    if (ew.on()) {
        numerics::SdpYConfig c;
        c.silicon = facts::sdp::arithmetic(generation);
        c.fp = fp;
        c.nan_to_zero = flush_nan;
        c.alu_bypass = !ew.alu.on;
        c.mul_bypass = !ew.mul.on;
        c.prelu = ew.prelu;
        c.alu = static_cast<numerics::SdpAlu>(ew.function);
        c.truncate = ew.mul_shift;
        const auto operand = [&](const Operand& o, bool mul) {
            return o.streamed() ? numerics::sdp_y_operand(c, converter(o), streamed(2, mul)) : o.value;
        };
        x = numerics::sdp_y_core(c, x, operand(ew.alu, false), operand(ew.mul, true));
        if (ew.lut) {
            const auto slope = [](const LutSlope& s) {
                return numerics::LutSlope{static_cast<std::int16_t>(s.scale), static_cast<std::int8_t>(s.shift)};
            };
            const LutTable &le = ew.lut->le, &lo = ew.lut->lo;
            c.lut = {false,
                     !le.exponential,
                     static_cast<std::int8_t>(le.index_offset),
                     static_cast<std::int8_t>(le.index_select),
                     static_cast<std::int8_t>(lo.index_select),
                     le.start,
                     le.end,
                     lo.start,
                     lo.end,
                     slope(le.underflow),
                     slope(le.overflow),
                     slope(lo.underflow),
                     slope(lo.overflow),
                     ew.lut->underflow_lo,
                     ew.lut->overflow_lo,
                     ew.lut->hybrid_lo};
            numerics::LutTables tables;
            std::copy_n(le.entries.begin(), tables.le.size(), tables.le.begin());
            std::copy_n(lo.entries.begin(), tables.lo.size(), tables.lo.begin());
            x = numerics::lut_value(c, tables, x, numerics::lut_index(c, x));
        }
    }
    numerics::SdpCvtConfig cvt;
    cvt.silicon = facts::sdp::arithmetic(generation);
    cvt.fp = fp;
    cvt.out = layer.output.precision;
    cvt.equal_mode = layer.post.compares();
    cvt.offset = layer.output.offset;
    cvt.scale = static_cast<std::int16_t>(layer.output.scale);
    cvt.shift = layer.output.shift;
    const std::uint16_t lane = numerics::sdp_cvt_lane(cvt, x).value;
    // The configurable generation's int8 lanes have an empty upper byte.
    return layer.output.precision == Precision::Int8 && !cvt.equal_mode ? static_cast<std::int8_t>(lane) : static_cast<std::int16_t>(lane);
}

class PostFuzz : public testing::TestWithParam<const char*> {};

TEST_P(PostFuzz, ReferenceAndLanesAgree)
{
    const Hardware hw = *find_preset(GetParam());
    std::mt19937 random(4711);
    const auto any = [&](std::uint32_t most) { return static_cast<std::uint32_t>(random() % (most + 1)); };
    for (int trial = 0; trial < 2000; ++trial) {
        Layer layer;
        layer.op = Op::Sdp;
        layer.output.precision = hw.full() ? static_cast<Precision>(any(2)) : Precision::Int8;
        random_post(layer, hw, random);
        // Shifts and steps over their whole range, not only where results are useful.
        for (PointEngine& e : layer.post.engines) {
            if (any(3) == 0) e.mul_shift = &e == &layer.post.engines[2] ? (e.mul.on ? any(80) : 0) : any(63);
            if (any(3) == 0 && e.alu.on) e.alu_shift = any(63);
            for (LutTable* table : {e.lut ? &e.lut->le : nullptr, e.lut ? &e.lut->lo : nullptr})
                if (table && any(2) == 0)
                    table->index_select = static_cast<std::int32_t>(any(255)) - 128,
                    table->index_offset = static_cast<std::int32_t>(any(60)) - 20;
        }
        layer.output.offset = any(1) == 0 ? 0 : static_cast<std::int32_t>(random());
        layer.output.scale = static_cast<std::int16_t>(any(1) == 0 ? 1 : random());
        layer.output.shift = any(48);
        LayerTensors tensors;
        for (std::size_t slot = 0; slot < tensors.operands.size(); ++slot) {
            const PointEngine& e = layer.post.engines[slot / 2];
            if (!(slot % 2 == 0 ? e.alu : e.mul).streamed()) continue;
            tensors.operands[slot] = Tensor(1, 1, 1, 1);
            tensors.operands[slot].values = {static_cast<std::int16_t>(random())};
        }
        const PostReference reference(layer, hw, tensors);
        for (int sample = 0; sample < 50; ++sample) {
            const std::int32_t x = static_cast<std::int32_t>(random()) >> any(31);
            ASSERT_EQ(reference.integer(x, 0, 0, 0), lanes(layer, hw.generation, tensors, x)) << "trial " << trial << " x " << x;
        }
    }
}

/// A tensor of any values for every operand that is streamed.
LayerTensors random_operands(const Layer& layer, std::mt19937& random, bool numbers_only)
{
    LayerTensors tensors;
    for (std::size_t slot = 0; slot < tensors.operands.size(); ++slot) {
        const PointEngine& e = layer.post.engines[slot / 2];
        const Operand& o = slot % 2 == 0 ? e.alu : e.mul;
        if (!o.streamed()) continue;
        const bool element = o.per == OperandPer::Element;
        tensors.operands[slot] = Tensor(1, layer.kernels, element ? layer.out_height() : 1, element ? layer.out_width() : 1);
        for (std::int16_t& value : tensors.operands[slot].values) {
            value = static_cast<std::int16_t>(random());
            if (numbers_only && (value & 0x7c00) == 0x7c00) value &= 0x3fff;
        }
    }
    return tensors;
}

TEST(PostFloats, ReferenceAndLanesAgree)
{
    const Hardware hw = *find_preset("nv_full");
    std::mt19937 random(4712);
    for (int trial = 0; trial < 4000; ++trial) {
        Layer layer;
        layer.op = Op::Sdp;
        layer.precision = Precision::Fp16;
        layer.output.precision = random() % 2 == 0 ? Precision::Fp16 : Precision::Int16;
        random_post(layer, hw, random);
        for (LutTable* table : {layer.post.ew().lut ? &layer.post.engines[2].lut->le : nullptr,
                                layer.post.ew().lut ? &layer.post.engines[2].lut->lo : nullptr})
            if (table && random() % 3 == 0)
                table->index_select = static_cast<std::int32_t>(random() % 60) - 30,
                table->index_offset = static_cast<std::int32_t>(random() % 60) - 30;
        layer.kernels = layer.width = layer.height = 1;
        const LayerTensors tensors = random_operands(layer, random, trial % 2 == 0);
        const PostReference reference(layer, hw, tensors);
        for (int sample = 0; sample < 60; ++sample) {
            const std::uint32_t exponent = random() % 4 == 0 ? random() % 256 : 110 + random() % 40;  // NaN, denormals, the largest too
            const std::uint32_t x = (static_cast<std::uint32_t>(random()) & 0x807fffff) | exponent << 23;
            ASSERT_EQ(reference.floating(x, 0, 0, 0),
                      static_cast<std::int16_t>(lanes(layer, hw.generation, tensors, static_cast<std::int32_t>(x))))
                << "trial " << trial << std::hex << " x " << x;
        }
    }
}

TEST_P(PostFuzz, RowsAreWhatTheirElementsAre)
{
    const Hardware hw = *find_preset(GetParam());
    std::mt19937 random(4713);
    std::map<Vectors, int> rows;
    const auto any = [&](std::uint32_t most) { return static_cast<std::uint32_t>(random() % (most + 1)); };
    for (int trial = 0; trial < 3000; ++trial) {
        Layer layer;
        layer.op = Op::Sdp;
        layer.output.precision = hw.full() ? static_cast<Precision>(any(2)) : Precision::Int8;
        layer.width = 1 + any(40), layer.height = 1 + any(2);
        random_post(layer, hw, random);
        for (PointEngine& e : layer.post.engines) {
            if (any(3) == 0) e.mul_shift = &e == &layer.post.engines[2] ? (e.mul.on ? any(80) : 0) : any(63);
            if (any(3) == 0 && e.alu.on) e.alu_shift = any(63);
        }
        layer.output.offset = any(1) == 0 ? 0 : static_cast<std::int32_t>(random());
        layer.output.scale = static_cast<std::int16_t>(any(1) == 0 ? 1 : random());
        layer.output.shift = any(63);
        layer.kernels = layer.channels = 1 + any(3);
        const LayerTensors tensors = random_operands(layer, random, false);
        std::vector<std::int64_t> sums(layer.width);
        for (std::int64_t& sum : sums) sum = static_cast<std::int64_t>(std::uint64_t{random()} << 32 | random()) >> any(63);
        const std::uint32_t k = any(layer.kernels - 1), y = any(layer.height - 1);
        for (const Vectors form : {Vectors::Portable, Vectors::Avx2, Vectors::Avx512}) {
            if (!available(form)) continue;
            ++rows[form];
            const PostReference reference(layer, hw, tensors, form);
            std::vector<std::int64_t> row = sums;
            std::vector<std::int16_t> out(layer.width);
            reference.integer_row(row.data(), k, y, out.data());
            for (std::uint32_t x = 0; x < layer.width; ++x)
                ASSERT_EQ(out[x], reference.integer(sums[x], k, y, x)) << "trial " << trial << " x " << x << " " << name_of(form);
        }
    }
    for (const auto& [form, count] : rows) std::cout << name_of(form) << ": " << count << " rows\n";
}

INSTANTIATE_TEST_SUITE_P(Presets, PostFuzz, testing::Values("nv_full", "nv_large", "nv_small"));

}  // namespace post_reference_test
}  // namespace dlasim
