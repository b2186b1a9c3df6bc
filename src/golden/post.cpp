#include "golden/post.h"

#include <algorithm>

#include "config/half.h"
#include "golden/lut.h"
#include "numerics/fp.h"
#include "numerics/sdp_cvt.h"
#include "numerics/sdp_x.h"
#include "numerics/sdp_y.h"

namespace dlasim {

std::int16_t PostReference::operand(std::size_t slot, At at) const
{
    const Tensor& tensor = t_.operands[slot];
    if (tensor.empty()) {
        const PointEngine& engine = l_.post.engines[slot / 2];
        return static_cast<std::int16_t>((slot % 2 == 0 ? engine.alu : engine.mul).value);
    }
    const bool kernel = (slot % 2 == 0 ? l_.post.engines[slot / 2].alu : l_.post.engines[slot / 2].mul).per == OperandPer::Kernel;
    return tensor.at(0, at.k, kernel ? 0 : at.y, kernel ? 0 : at.x);
}

std::int64_t PostReference::x_engine(std::size_t engine, std::int64_t value, At at) const
{
    const PointEngine& e = l_.post.engines[engine];
    if (!e.on()) return value;
    if (e.alu.on) {
        const std::int64_t raw = operand(operand_slot(engine, false), at);
        const std::int64_t o = e.alu_shift >= 32 ? (raw == 0 ? 0 : clamp_bits(raw < 0 ? INT64_MIN / 2 : INT64_MAX / 2, 32))
                                                 : clamp_bits(raw * (std::int64_t{1} << e.alu_shift), 32);
        value = e.function == AluFunction::Max ? std::max(value, o) : e.function == AluFunction::Min ? std::min(value, o) : value + o;
    }
    const bool kept = e.mul.on && e.prelu && value >= 0;  // neither multiplied nor shifted: its low 32 bits
    if (kept) {
        value = static_cast<std::int32_t>(static_cast<std::uint32_t>(value));
    } else {
        if (e.mul.on) value *= operand(operand_slot(engine, true), at);
        value = !hw_.full() && e.mul_shift >= 49 ? 0 : clamp_bits(round_shift(value, e.mul_shift), 32);
    }
    return e.relu ? std::max<std::int64_t>(value, 0) : value;
}

std::int64_t PostReference::y_engine(std::int64_t value, At at) const
{
    const PointEngine& e = l_.post.ew();
    if (!e.on()) return value;
    const auto converted = [&](const Operand& o, bool mul) -> std::int64_t {
        if (!o.streamed()) return o.value;
        const std::int64_t raw = operand(operand_slot(2, mul), at);
        if (!o.conversion.on) return raw;
        return clamp_bits(round_shift((raw - o.conversion.offset) * o.conversion.scale, o.conversion.truncate), 32);
    };
    if (e.mul.on && !(e.prelu && value >= 0)) value = clamp_bits(round_shift(value * converted(e.mul, true), e.mul_shift), 32);
    if (e.alu.on) {
        const std::int64_t o = converted(e.alu, false);
        switch (e.function) {
            case AluFunction::Max:
                value = std::max(value, o);
                break;
            case AluFunction::Min:
                value = std::min(value, o);
                break;
            case AluFunction::Sum:
                value = clamp_bits(value + o, 32);
                break;
            case AluFunction::Equal:
                value = value == o ? 0 : 1;
                break;
        }
    }
    return e.lut ? reference_lut(*e.lut, value, hw_.full()) : value;
}

std::int16_t PostReference::convert(std::int64_t value) const
{
    const OutputConversion& c = l_.output;
    if (l_.post.compares()) return static_cast<std::int16_t>(!hw_.full() && c.precision == Precision::Int8 ? value & 0xff : value);
    value = clamp_bits(round_shift((value - c.offset) * c.scale, c.shift), 17);
    if (c.precision == Precision::Fp16)
        return static_cast<std::int16_t>(half_from_double(static_cast<double>(std::clamp<std::int64_t>(value, -65504, 65504))));
    return static_cast<std::int16_t>(clamp_bits(value, c.precision == Precision::Int8 ? 8 : 16));
}

std::int16_t PostReference::integer(std::int64_t sum, std::uint32_t k, std::uint32_t y, std::uint32_t x) const
{
    const At at{k, y, x};
    return convert(y_engine(x_engine(1, x_engine(0, clamp_bits(sum, 32), at), at), at));  // CACC saturates to 32 bits
}

std::uint32_t PostReference::floating_x(std::size_t engine, std::uint32_t value, At at) const
{
    const PointEngine& e = l_.post.engines[engine];
    if (!e.on()) return value;
    numerics::SdpXConfig c;
    c.generation = hw_.generation;
    c.fp = true;
    c.nan_to_zero = l_.post.flush_nan;
    c.alu_bypass = !e.alu.on;
    c.mul_bypass = !e.mul.on;
    c.relu_bypass = !e.relu;
    c.prelu = e.prelu;
    c.alu = static_cast<numerics::SdpAlu>(e.function);
    return static_cast<std::uint32_t>(numerics::sdp_x_lane(c, static_cast<std::int32_t>(value),
                                                           e.alu.on ? operand(operand_slot(engine, false), at) : std::int16_t{0},
                                                           e.mul.on ? operand(operand_slot(engine, true), at) : std::int16_t{0}));
}

std::uint32_t PostReference::floating_y(std::uint32_t value, At at) const
{
    const PointEngine& e = l_.post.ew();
    if (!e.on()) return value;
    numerics::SdpYConfig c;
    c.generation = hw_.generation;
    c.fp = true;
    c.nan_to_zero = l_.post.flush_nan;
    c.alu_bypass = !e.alu.on;
    c.mul_bypass = !e.mul.on;
    c.prelu = e.prelu;
    c.alu = static_cast<numerics::SdpAlu>(e.function);
    const auto number = [&](const Operand& o, bool mul) {
        return o.streamed() ? numerics::sdp_y_operand(c, {}, operand(operand_slot(2, mul), at)) : o.value;
    };
    const std::int32_t v = numerics::sdp_y_core(c, static_cast<std::int32_t>(value), number(e.alu, false), number(e.mul, true));
    if (!e.lut) return static_cast<std::uint32_t>(v);
    const auto slope = [](const LutSlope& s) {
        return numerics::LutSlope{static_cast<std::int16_t>(s.scale), static_cast<std::int8_t>(s.shift)};
    };
    const LutTable &le = e.lut->le, &lo = e.lut->lo;
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
             e.lut->underflow_lo,
             e.lut->overflow_lo,
             e.lut->hybrid_lo};
    numerics::LutTables tables;
    std::copy_n(le.entries.begin(), tables.le.size(), tables.le.begin());
    std::copy_n(lo.entries.begin(), tables.lo.size(), tables.lo.begin());
    return static_cast<std::uint32_t>(numerics::lut_value(c, tables, v, numerics::lut_index(c, v)));
}

std::int16_t PostReference::floating(std::uint32_t sum, std::uint32_t k, std::uint32_t y, std::uint32_t x) const
{
    const At at{k, y, x};
    if (l_.post.flush_nan && numerics::Fp32::is_nan(sum)) sum = 0;
    const std::uint32_t value = floating_y(floating_x(1, floating_x(0, sum, at), at), at);
    numerics::SdpCvtConfig c;
    c.generation = hw_.generation;
    c.fp = true;
    c.out = l_.output.precision;
    c.equal_mode = l_.post.compares();
    return static_cast<std::int16_t>(numerics::sdp_cvt_lane(c, static_cast<std::int32_t>(value)).value);
}

}  // namespace dlasim
