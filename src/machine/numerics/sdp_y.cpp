#include "numerics/sdp_y.h"

#include <algorithm>
#include <bit>

#include "numerics/fp.h"
#include "numerics/rounding.h"

namespace dlasim::numerics {

namespace {

constexpr unsigned kFractionBits = 35;
constexpr std::uint64_t kOne = std::uint64_t{1} << kFractionBits;

std::uint32_t bits_of(std::int32_t x) { return static_cast<std::uint32_t>(x); }
std::uint32_t negated(std::int32_t x) { return bits_of(x) ^ Fp32::sign_mask; }
bool not_positive(std::uint32_t x) { return Fp32::is_nan(x) || (x >> 31) || (x & 0x7fffffff) == 0; }

/// Where an input falls in one table.
struct Place {
    LutIndex::Range range = LutIndex::Range::Hit;
    std::uint16_t entry = 0;
    std::uint64_t fraction = 0;
};
constexpr Place underflow() { return {LutIndex::Range::Underflow, 0, 0}; }
constexpr Place overflow(std::size_t last) { return {LutIndex::Range::Overflow, static_cast<std::uint16_t>(last), 0}; }

/// `sign_quirk`: nv_full's LE takes the distance as a signed number where it fills the fraction alone.
Place linear_int(std::int32_t x, std::int32_t start, int select, std::size_t last, bool sign_quirk)
{
    if (x <= start) return underflow();
    const std::int64_t d = std::int64_t{x} - start;
    if (select >= 0) {
        const auto q = static_cast<unsigned>(select);
        const std::int64_t entry = q > 32 ? 0 : d >> q;
        if (entry >= static_cast<std::int64_t>(last)) return overflow(last);
        if (q == 0) return {LutIndex::Range::Hit, static_cast<std::uint16_t>(entry), 0};
        std::uint64_t distance = static_cast<std::uint64_t>(d);
        if (sign_quirk && q > 32) distance = static_cast<std::uint64_t>(std::int64_t{static_cast<std::int32_t>(d)}) & (kOne - 1);
        if (q > 63) return {LutIndex::Range::Hit, 0, q - kFractionBits > 63 ? 0 : distance >> (q - kFractionBits)};
        distance &= (std::uint64_t{1} << q) - 1;
        const std::uint64_t fraction = q <= kFractionBits ? distance << (kFractionBits - q) : distance >> (q - kFractionBits);
        return {LutIndex::Range::Hit, static_cast<std::uint16_t>(entry), fraction};
    }
    const std::int64_t entry = d << std::min(-select, 20);  // d is at least 1: further is beyond any table
    if (entry >= static_cast<std::int64_t>(last)) return overflow(last);
    return {LutIndex::Range::Hit, static_cast<std::uint16_t>(entry), 0};
}

Place exponential_int(std::int32_t x, std::int32_t start, int offset)
{
    if (x <= start) return underflow();
    const auto d = static_cast<std::uint64_t>(std::int64_t{x} - start);
    const int power = static_cast<int>(std::bit_width(d)) - 1;
    if (power < offset) return underflow();
    if (power - offset >= 64) return overflow(64);
    return {LutIndex::Range::Hit, static_cast<std::uint16_t>(power - offset),
            (d - (std::uint64_t{1} << power)) << (static_cast<int>(kFractionBits) - power)};
}

Place linear_float(std::int32_t x, std::int32_t start, int select, std::size_t last)
{
    if (Fp32::is_nan(bits_of(x)) || Fp32::is_nan(bits_of(start))) return underflow();
    const std::uint32_t d = fp_add<Fp32>(bits_of(x), negated(start));
    if (not_positive(d)) return underflow();
    const int power = static_cast<int>(Fp32::exponent(d)) - 127 - select;
    if (power >= 10) return overflow(last);
    const std::uint64_t one = std::uint64_t{Fp32::mantissa(d) | Fp32::hidden} << (kFractionBits - 23);
    const std::uint64_t value = power >= 0 ? one << power : power > -64 ? one >> -power : 0;
    if (value >> kFractionBits >= last) return overflow(last);
    return {LutIndex::Range::Hit, static_cast<std::uint16_t>(value >> kFractionBits), value & (kOne - 1)};
}

Place exponential_float(std::int32_t x, std::int32_t start, int offset)
{
    const std::uint32_t d = fp_add<Fp32>(bits_of(x), negated(start));
    if (not_positive(d)) return underflow();
    const int entry = static_cast<int>(Fp32::exponent(d)) - 127 - offset;
    if (entry < 0) return underflow();
    if (entry >= 64) return overflow(64);
    return {LutIndex::Range::Hit, static_cast<std::uint16_t>(entry), std::uint64_t{Fp32::mantissa(d)} << (kFractionBits - 23)};
}

/// fraction / 2^35 as fp17, fraction in 0..2^35
std::uint32_t fraction_to_fp17(std::uint64_t fraction)
{
    if (fraction == 0) return 0;
    const int k = static_cast<int>(std::bit_width(fraction)) - 1;
    const std::uint64_t significand = k > 10 ? round_even(fraction, static_cast<unsigned>(k - 10)) : fraction << (10 - k);
    const int exponent = k + static_cast<int>(significand >> 11) + static_cast<int>(Fp17::bias) - static_cast<int>(kFractionBits);
    if (exponent <= 0) return 0;
    const std::uint64_t mantissa = significand >> 11 ? significand >> 1 : significand;
    return Fp17::pack(0, static_cast<std::uint32_t>(exponent), static_cast<std::uint32_t>(mantissa) & Fp17::mantissa_mask);
}

std::int32_t interpolate(bool fp, std::uint16_t y0, std::uint16_t y1, std::uint64_t fraction)
{
    if (fp) {
        const std::uint32_t low = fp_multiply<Fp17>(fraction_to_fp17(kOne - fraction), fp16_to_fp17(y0));
        const std::uint32_t high = fp_multiply<Fp17>(fraction_to_fp17(fraction), fp16_to_fp17(y1));
        return static_cast<std::int32_t>(fp17_to_fp32(fp_add<Fp17>(low, high)));
    }
    const auto f = static_cast<std::int64_t>(fraction);
    const std::int64_t sum = static_cast<std::int16_t>(y0) * (static_cast<std::int64_t>(kOne) - f) + static_cast<std::int16_t>(y1) * f;
    return static_cast<std::int32_t>(shift_right(sum, kFractionBits, 32));
}

/// Beyond an end: a straight line from it.
std::int32_t extend(bool fp, std::int32_t x, std::int32_t end, int bias_power, bool biased, const LutSlope& slope, std::uint16_t y0)
{
    if (fp) {
        std::uint32_t from = bits_of(end);
        if (biased) from = fp_add<Fp32>(from, Fp32::pack(0, static_cast<std::uint32_t>(bias_power + 127) & 255, 0));
        const std::uint32_t d = fp_add<Fp32>(bits_of(x), from ^ Fp32::sign_mask);
        const std::uint32_t step = fp_multiply<Fp17>(fp32_to_fp17(d), fp16_to_fp17(static_cast<std::uint16_t>(slope.scale)));
        return static_cast<std::int32_t>(fp17_to_fp32(fp_add<Fp17>(fp16_to_fp17(y0), step)));
    }
    const std::int64_t bias = biased && bias_power >= 0 && bias_power < 32 ? std::int64_t{1} << bias_power : 0;
    const std::int64_t step = (std::int64_t{x} - (bias + end)) * slope.scale;
    const std::int64_t shifted = slope.shift >= 0 ? shift_right(step, static_cast<unsigned>(slope.shift), 32)
                                                  : shift_left(step, static_cast<unsigned>(-slope.shift), 32);
    return static_cast<std::int32_t>(saturate(static_cast<std::int16_t>(y0) + shifted, 32));
}

std::int32_t float_core(const SdpYConfig& c, std::int32_t x, std::int32_t alu, std::int32_t mul)
{
    std::uint32_t v = bits_of(x);
    if (!c.mul_bypass && !(c.prelu && x >= 0)) v = fp_multiply<Fp32>(v, bits_of(mul));
    if (!c.alu_bypass) {
        switch (c.alu) {
            case SdpAlu::Max:
                v = fp32_max(v, bits_of(alu));
                break;
            case SdpAlu::Min:
                v = fp32_min(v, bits_of(alu));
                break;
            case SdpAlu::Sum:
                v = fp_add<Fp32>(v, bits_of(alu));
                break;
            case SdpAlu::Equal:
                v = v != bits_of(alu);
                break;
        }
    }
    return static_cast<std::int32_t>(v);
}

inline std::int32_t int_core(const SdpYConfig& c, std::int32_t x, std::int32_t alu, std::int32_t mul)
{
    std::int64_t v = x;
    if (!c.mul_bypass && !(c.prelu && x >= 0)) v = shift_right(v * mul, c.truncate, 32);
    if (!c.alu_bypass) {
        switch (c.alu) {
            case SdpAlu::Max:
                v = std::max<std::int64_t>(v, alu);
                break;
            case SdpAlu::Min:
                v = std::min<std::int64_t>(v, alu);
                break;
            case SdpAlu::Sum:
                v = saturate(v + alu, 32);
                break;
            case SdpAlu::Equal:
                v = v != alu;
                break;
        }
    }
    return static_cast<std::int32_t>(v);
}

}  // namespace

std::int32_t sdp_y_operand(const SdpYConfig& config, const OperandConverter& converter, std::int16_t operand)
{
    if (config.fp) {
        const auto bits = static_cast<std::uint16_t>(operand);
        return config.nan_to_zero && Fp16::is_nan(bits) ? 0 : static_cast<std::int32_t>(fp16_to_fp32(bits));
    }
    if (converter.bypass) return operand;
    return static_cast<std::int32_t>(shift_right((std::int64_t{operand} - converter.offset) * converter.scale, converter.truncate, 32));
}

std::int32_t sdp_y_core(const SdpYConfig& config, std::int32_t x, std::int32_t alu, std::int32_t mul)
{
    return config.fp ? float_core(config, x, alu, mul) : int_core(config, x, alu, mul);
}

LutIndex lut_index(const SdpYConfig& config, std::int32_t x)
{
    using Range = LutIndex::Range;
    const LutConfig& c = config.lut;
    constexpr std::size_t le_last = kLeEntries - 1, lo_last = kLoEntries - 1;
    const Place le = config.fp ? (c.le_linear ? linear_float(x, c.le_start, c.le_index_select, le_last)
                                              : exponential_float(x, c.le_start, c.le_index_offset))
                               : (c.le_linear ? linear_int(x, c.le_start, c.le_index_select, le_last, config.silicon.far_le_is_negative)
                                              : exponential_int(x, c.le_start, c.le_index_offset));
    const Place lo =
        config.fp ? linear_float(x, c.lo_start, c.lo_index_select, lo_last) : linear_int(x, c.lo_start, c.lo_index_select, lo_last, false);

    LutIndex index;
    index.le = le.range;
    index.lo = lo.range;
    if (le.range == Range::Underflow && lo.range == Range::Underflow) index.use_lo = c.underflow_lo;
    else if (le.range == Range::Overflow && lo.range == Range::Overflow) index.use_lo = c.overflow_lo;
    else if ((le.range == Range::Hit) == (lo.range == Range::Hit)) index.use_lo = c.hybrid_lo;
    else index.use_lo = lo.range == Range::Hit;
    const Place& chosen = index.use_lo ? lo : le;
    index.underflow = chosen.range == Range::Underflow;
    index.overflow = chosen.range == Range::Overflow;
    index.entry = chosen.entry;
    index.fraction = chosen.fraction;
    return index;
}

std::int32_t lut_value(const SdpYConfig& config, const LutTables& tables, std::int32_t x, const LutIndex& index)
{
    const LutConfig& c = config.lut;
    const std::uint16_t* table = index.use_lo ? tables.lo.data() : tables.le.data();
    const std::uint16_t y0 = table[index.entry];
    if (index.underflow) {
        const bool biased = !index.use_lo && !c.le_linear;
        return extend(config.fp, x, index.use_lo ? c.lo_start : c.le_start, c.le_index_offset, biased,
                      index.use_lo ? c.lo_underflow : c.le_underflow, y0);
    }
    if (index.overflow)
        return extend(config.fp, x, index.use_lo ? c.lo_end : c.le_end, 0, false, index.use_lo ? c.lo_overflow : c.le_overflow, y0);
    return interpolate(config.fp, y0, table[index.entry + 1], index.fraction);
}

void sdp_y(const SdpYConfig& config, std::int32_t* lanes, const std::int16_t* alu, const std::int16_t* mul, std::size_t count)
{
    if (config.alu_bypass && config.mul_bypass) return;
    for (std::size_t i = 0; i < count; ++i) {
        const std::int32_t a = alu ? sdp_y_operand(config, config.alu_converter, alu[i]) : config.alu_operand;
        const std::int32_t m = mul ? sdp_y_operand(config, config.mul_converter, mul[i]) : config.mul_operand;
        lanes[i] = sdp_y_core(config, lanes[i], a, m);
    }
}

}  // namespace dlasim::numerics
