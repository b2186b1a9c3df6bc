#include "golden/post.h"

#include <algorithm>

#include "config/model/fp16.h"
#include "golden/lut.h"
#include "golden/real.h"

namespace dlasim {
namespace {

/// An fp16 operand as the engines use it.
std::uint32_t single_operand(std::int16_t operand, bool flush_nan)
{
    const auto half = static_cast<std::uint16_t>(operand);
    return flush_nan && real::kFp16.nan(half) ? 0 : real::widen_fp16(real::kFp32, half);
}

std::uint32_t floating_alu(AluFunction function, std::uint32_t value, std::uint32_t operand)
{
    switch (function) {
        case AluFunction::Max:
            return real::larger(real::kFp32, value, operand);
        case AluFunction::Min:
            return real::smaller(real::kFp32, value, operand);
        case AluFunction::Sum:
            return real::add(real::kFp32, value, operand);
        case AluFunction::Equal:
            break;
    }
    return value == operand ? 0 : 1;
}

}  // namespace

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
        value = e.mul_shift >= can_.dead_shift ? 0 : clamp_bits(round_shift(value, e.mul_shift), 32);
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
    return e.lut ? reference_lut(*e.lut, value, can_.far_le_is_negative) : value;
}

std::int16_t PostReference::convert(std::int64_t value) const
{
    const OutputConversion& c = l_.output;
    if (l_.post.compares()) return static_cast<std::int16_t>(can_.equal_in_bytes && c.precision == Precision::Int8 ? value & 0xff : value);
    value = clamp_bits(round_shift((value - c.offset) * c.scale, c.shift), 17);
    if (c.precision == Precision::Fp16)
        return static_cast<std::int16_t>(fp16_from_double(static_cast<double>(std::clamp<std::int64_t>(value, -65504, 65504))));
    return static_cast<std::int16_t>(clamp_bits(value, c.precision == Precision::Int8 ? 8 : 16));
}

std::int64_t PostReference::unconverted(std::int64_t sum, std::uint32_t k, std::uint32_t y, std::uint32_t x) const
{
    const At at{k, y, x};
    return y_engine(x_engine(1, x_engine(0, clamp_bits(sum, 32), at), at), at);  // CACC saturates to 32 bits
}

std::int16_t PostReference::integer(std::int64_t sum, std::uint32_t k, std::uint32_t y, std::uint32_t x) const
{
    return convert(unconverted(sum, k, y, x));
}

std::uint32_t PostReference::floating_x(std::size_t engine, std::uint32_t value, At at) const
{
    const PointEngine& e = l_.post.engines[engine];
    if (!e.on()) return value;
    const auto number = [&](bool mul) { return single_operand(operand(operand_slot(engine, mul), at), l_.post.flush_nan); };
    if (e.alu.on) value = floating_alu(e.function, value, number(false));
    const bool positive = real::kFp32.sign(value) == 0;
    if (e.mul.on && !(e.prelu && positive)) value = real::multiply(real::kFp32, value, number(true));
    if (e.relu && real::kFp32.sign(value) != 0 && !real::kFp32.nan(value)) value = 0;
    return value;
}

std::uint32_t PostReference::floating_y(std::uint32_t value, At at) const
{
    const PointEngine& e = l_.post.ew();
    if (!e.on()) return value;
    const auto number = [&](const Operand& o, bool mul) {
        // A register holds an fp32.
        return o.streamed() ? single_operand(operand(operand_slot(2, mul), at), l_.post.flush_nan) : static_cast<std::uint32_t>(o.value);
    };
    if (e.mul.on && !(e.prelu && real::kFp32.sign(value) == 0)) value = real::multiply(real::kFp32, value, number(e.mul, true));
    if (e.alu.on) value = floating_alu(e.function, value, number(e.alu, false));
    return e.lut ? reference_lut_fp(*e.lut, value) : value;
}

std::int16_t PostReference::floating(std::uint32_t sum, std::uint32_t k, std::uint32_t y, std::uint32_t x) const
{
    const At at{k, y, x};
    if (l_.post.flush_nan && real::kFp32.nan(sum)) sum = 0;
    const std::uint32_t value = floating_y(floating_x(1, floating_x(0, sum, at), at), at);
    if (l_.post.compares()) return static_cast<std::int16_t>(value);
    const std::uint16_t half = real::single_to_half(value);
    return l_.output.precision == Precision::Int16 ? real::fp16_to_int16(half) : static_cast<std::int16_t>(half);
}

}  // namespace dlasim
