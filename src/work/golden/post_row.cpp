// A row of results at a time: what post.cpp does to each of them, with the decisions of the layer taken once.
#include <algorithm>
#include <vector>

#include "golden/lut.h"
#include "golden/post.h"

namespace dlasim {
namespace {

DLASIM_FORM void clamp_row(std::int64_t* __restrict v, std::uint32_t count, int width)
{
    const std::int64_t high = (std::int64_t{1} << (width - 1)) - 1, low = -high - 1;
    for (std::uint32_t i = 0; i < count; ++i) v[i] = std::min(std::max(v[i], low), high);
}

/// value / 2^shift to nearest, ties away from zero; shift 1..63.
DLASIM_FORM void shift_row(std::int64_t* __restrict v, std::uint32_t count, unsigned shift)
{
    for (std::uint32_t i = 0; i < count; ++i) {
        const std::int64_t sign = v[i] >> 63;
        const std::uint64_t magnitude = static_cast<std::uint64_t>((v[i] ^ sign) - sign);
        const auto rounded = static_cast<std::int64_t>((magnitude >> shift) + ((magnitude >> (shift - 1)) & 1));
        v[i] = (rounded ^ sign) - sign;
    }
}

DLASIM_FORM void alu_row(AluFunction function, std::int64_t* __restrict v, const std::int64_t* __restrict o, std::uint32_t count)
{
    if (function == AluFunction::Max)
        for (std::uint32_t i = 0; i < count; ++i) v[i] = std::max(v[i], o[i]);
    else if (function == AluFunction::Min)
        for (std::uint32_t i = 0; i < count; ++i) v[i] = std::min(v[i], o[i]);
    else
        for (std::uint32_t i = 0; i < count; ++i) v[i] += o[i];
}

DLASIM_FORM void multiply_row(std::int64_t* __restrict v, const std::int64_t* __restrict o, std::uint32_t count)
{
    for (std::uint32_t i = 0; i < count; ++i) v[i] *= o[i];
}

DLASIM_FORM void relu_row(std::int64_t* __restrict v, std::uint32_t count)
{
    for (std::uint32_t i = 0; i < count; ++i) v[i] = std::max<std::int64_t>(v[i], 0);
}

/// Widens the operands of a row and shifts them left; 0..31.
DLASIM_FORM void widen_row(const std::int16_t* __restrict from, std::int64_t* __restrict to, std::uint32_t count)
{
    for (std::uint32_t i = 0; i < count; ++i) to[i] = from[i];
}

DLASIM_FORM void scale_row(std::int64_t* __restrict v, std::uint32_t count, std::int64_t offset, std::int64_t scale)
{
    for (std::uint32_t i = 0; i < count; ++i) v[i] = (v[i] - offset) * scale;
}

DLASIM_FORM void narrow_row(const std::int64_t* __restrict v, std::int16_t* __restrict out, std::uint32_t count)
{
    for (std::uint32_t i = 0; i < count; ++i) out[i] = static_cast<std::int16_t>(v[i]);
}

void round_row(Vectors vectors, std::int64_t* v, std::uint32_t count, unsigned shift)
{
    if (shift > 63) std::fill_n(v, count, 0);
    else if (shift != 0) in_form<shift_row>(vectors, v, count, shift);
}

}  // namespace

void PostReference::operand_row(std::size_t slot, std::uint32_t k, std::uint32_t y, std::int64_t* values) const
{
    const std::uint32_t count = l_.out_width();
    const PointEngine& engine = l_.post.engines[slot / 2];
    const Tensor& tensor = t_.operands[slot];
    if (!tensor.empty() && (slot % 2 == 0 ? engine.alu : engine.mul).per == OperandPer::Element)
        in_form<widen_row>(vectors_, &tensor.values[tensor.index(0, k, y, 0)], values, count);
    else std::fill_n(values, count, std::int64_t{operand(slot, {k, y, 0})});
}

void PostReference::x_row(std::size_t engine, std::int64_t* values, std::uint32_t k, std::uint32_t y, std::int64_t* scratch) const
{
    const PointEngine& e = l_.post.engines[engine];
    const std::uint32_t count = l_.out_width();
    if (!e.on()) return;
    if ((e.mul.on && e.prelu) || e.alu_shift > 31 || e.mul_shift >= can_.dead_shift) {
        for (std::uint32_t x = 0; x < count; ++x) values[x] = x_engine(engine, values[x], {k, y, x});
        return;
    }
    if (e.alu.on) {
        operand_row(operand_slot(engine, false), k, y, scratch);
        if (e.alu_shift != 0) in_form<scale_row>(vectors_, scratch, count, 0, std::int64_t{1} << e.alu_shift);
        if (e.alu_shift > 16) in_form<clamp_row>(vectors_, scratch, count, 32);
        in_form<alu_row>(vectors_, e.function, values, scratch, count);
    }
    if (e.mul.on) {
        operand_row(operand_slot(engine, true), k, y, scratch);
        in_form<multiply_row>(vectors_, values, scratch, count);
    }
    round_row(vectors_, values, count, e.mul_shift);
    in_form<clamp_row>(vectors_, values, count, 32);
    if (e.relu) in_form<relu_row>(vectors_, values, count);
}

void PostReference::integer_row(std::int64_t* sums, std::uint32_t k, std::uint32_t y, std::int16_t* out) const
{
    const std::uint32_t count = l_.out_width();
    const OutputConversion& c = l_.output;
    if (l_.post.compares() || c.precision == Precision::Fp16) {
        for (std::uint32_t x = 0; x < count; ++x) out[x] = integer(sums[x], k, y, x);
        return;
    }
    std::vector<std::int64_t> scratch(count);
    in_form<clamp_row>(vectors_, sums, count, 32);  // CACC saturates to 32 bits
    for (std::size_t engine = 0; engine < 2; ++engine) x_row(engine, sums, k, y, scratch.data());
    if (l_.post.ew().on())
        for (std::uint32_t x = 0; x < count; ++x) sums[x] = y_engine(sums[x], {k, y, x});
    in_form<scale_row>(vectors_, sums, count, c.offset, c.scale);
    round_row(vectors_, sums, count, c.shift);
    in_form<clamp_row>(vectors_, sums, count, 17);
    in_form<clamp_row>(vectors_, sums, count, c.precision == Precision::Int8 ? 8 : 16);
    in_form<narrow_row>(vectors_, sums, out, count);
}

}  // namespace dlasim
