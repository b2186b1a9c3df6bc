#include "numerics/cdp_lut.h"

#include <algorithm>
#include <bit>

#include "numerics/fp.h"
#include "numerics/rounding.h"

namespace dlasim::numerics {
namespace {

constexpr unsigned kFractionBits = 16;
constexpr unsigned kRegisterBits = 38;  // of START and END

enum class Range : std::uint8_t { Hit, Underflow, Overflow };

/// Where a sum falls in one table.
struct Place {
    Range range = Range::Hit;
    std::uint16_t entry = 0;
    std::uint32_t fraction = 0;
};
constexpr Place underflow() { return {Range::Underflow, 0, 0}; }
constexpr Place overflow(std::size_t last) { return {Range::Overflow, static_cast<std::uint16_t>(last), 0}; }

/// What a table is looked up with.
struct Ramp {
    std::uint64_t start = 0;
    std::uint8_t select = 0;
    std::size_t last = 0;  // entry
};

/// The bits of a distance that the linear index of a table sees.
constexpr unsigned distance_bits(CdpIndex index, bool le)
{
    if (index == CdpIndex::Narrow) return 22;
    if (index == CdpIndex::Cut) return le ? 23 : 22;
    return kRegisterBits + le;
}

Place linear(const Ramp& ramp, std::uint64_t distance, CdpIndex index)
{
    const bool le = ramp.last == kLeEntries - 1;
    const unsigned field_bits = index == CdpIndex::Wide ? 6 : 5;
    const unsigned field = ramp.select & ((1u << field_bits) - 1);
    const std::uint64_t d = distance & ((std::uint64_t{1} << distance_bits(index, le)) - 1);
    if (ramp.select >> field_bits & 1) {
        // The silicon's left shift; LO lacks the bits for a full one.
        unsigned left = (1u << field_bits) - field;
        if (!le && field == 0) left = 0;
        constexpr unsigned kBeyond = 9;  // 2^9 entries are more than any table has
        if (d != 0 && (left >= kBeyond || d << left >= ramp.last || d >= ramp.last)) return overflow(ramp.last);
        return {Range::Hit, static_cast<std::uint16_t>(d == 0 ? 0 : d << left), 0};
    }
    const std::uint64_t place = (d << kFractionBits) >> field;
    if (place >> kFractionBits >= ramp.last) return overflow(ramp.last);
    return {Range::Hit, static_cast<std::uint16_t>(place >> kFractionBits), static_cast<std::uint32_t>(place & 0xffff)};
}

Place exponential(std::uint64_t distance, int offset, unsigned width)
{
    const int power = static_cast<int>(std::bit_width(distance)) - 1;
    if (offset >= 0 && power < offset) return underflow();
    const int entry = power - offset;
    if (entry >= static_cast<int>(kLeEntries - 1)) return overflow(kLeEntries - 1);
    const std::uint64_t mantissa = (distance - (std::uint64_t{1} << power)) << (static_cast<int>(width) - 1 - power);
    return {Range::Hit, static_cast<std::uint16_t>(entry), static_cast<std::uint32_t>(mantissa >> (width - 1 - kFractionBits))};
}

Place find(const Ramp& ramp, std::int64_t sum, CdpIndex index, bool is_exponential, int offset)
{
    const unsigned width = index == CdpIndex::Narrow ? 22 : kRegisterBits;
    const std::int64_t start = sign_extend(ramp.start, width);
    if (sum <= start) return underflow();
    const std::uint64_t distance = static_cast<std::uint64_t>(sum - start) & ((std::uint64_t{1} << width) - 1);
    return is_exponential ? exponential(distance, offset, width) : linear(ramp, distance, index);
}

Place find_float(const Ramp& ramp, std::uint32_t sum, bool is_exponential, int offset)
{
    const std::uint32_t d = fp_add<Fp32>(sum, static_cast<std::uint32_t>(ramp.start) ^ Fp32::sign_mask);
    if (Fp32::is_nan(d) || d >> 31 || d == 0) return underflow();
    const int exponent = static_cast<int>(Fp32::exponent(d)) - static_cast<int>(Fp32::bias);
    if (is_exponential) {
        const int entry = exponent - offset;
        if (entry < 0) return underflow();
        if (entry >= static_cast<int>(kLeEntries - 1)) return overflow(kLeEntries - 1);
        return {Range::Hit, static_cast<std::uint16_t>(entry), Fp32::mantissa(d) >> (Fp32::mantissa_bits - kFractionBits)};
    }
    const int shift = exponent - static_cast<std::int8_t>(ramp.select);
    if (shift >= 9) return overflow(ramp.last);
    const std::uint64_t one = std::uint64_t{Fp32::mantissa(d) | Fp32::hidden} << kFractionBits;
    const int down = static_cast<int>(Fp32::mantissa_bits) - shift;
    const std::uint64_t place = down > 63 ? 0 : one >> down;
    if (place >> kFractionBits >= ramp.last) return overflow(ramp.last);
    return {Range::Hit, static_cast<std::uint16_t>(place >> kFractionBits), static_cast<std::uint32_t>(place & 0xffff)};
}

/// The table chosen, and what the counters count.
struct Choice {
    bool lo = false;
    CdpOutcome outcome = CdpOutcome::Hybrid;
};
Choice choose(const CdpLut& lut, Range le, Range lo)
{
    if (le == Range::Underflow && lo == Range::Underflow) return {lut.underflow_lo, CdpOutcome::Underflow};
    if (le == Range::Overflow && lo == Range::Overflow) return {lut.overflow_lo, CdpOutcome::Overflow};
    if ((le == Range::Hit) == (lo == Range::Hit)) return {lut.hybrid_lo, CdpOutcome::Hybrid};
    if (le == Range::Hit) return {false, CdpOutcome::LeHit};
    return {true, CdpOutcome::LoHit};
}

const LutSlope& slope_of(const CdpLut& lut, bool lo, Range range)
{
    if (range == Range::Underflow) return lo ? lut.lo_underflow : lut.le_underflow;
    return lo ? lut.lo_overflow : lut.le_overflow;
}

Ramp le_of(const CdpLut& lut) { return {lut.le_start, lut.le_select, kLeEntries - 1}; }
Ramp lo_of(const CdpLut& lut) { return {lut.lo_start, lut.lo_select, kLoEntries - 1}; }
int offset_of(const CdpLut& lut) { return static_cast<std::int8_t>(lut.le_index_offset); }

/// Beyond an end: a straight line from it.
std::int64_t extend(const CdpLut& lut, bool lo, Range range, std::int64_t sum)
{
    std::int64_t from = sign_extend(lo ? lut.lo_end : lut.le_end, kRegisterBits);
    if (range == Range::Underflow) {
        from = sign_extend(lo ? lut.lo_start : lut.le_start, kRegisterBits);
        const int offset = offset_of(lut);
        if (!lo && !lut.le_linear && offset >= 0 && offset <= static_cast<int>(kRegisterBits))
            from = sign_extend(static_cast<std::uint64_t>(from) + (std::uint64_t{1} << offset), kRegisterBits + 1);
    }
    const LutSlope& slope = slope_of(lut, lo, range);
    const std::int64_t step = (sum - from) * slope.scale;
    if (slope.shift >= 0) return shift_round(step, static_cast<unsigned>(slope.shift));
    return saturate(step, 40) * (std::int64_t{1} << -slope.shift);  // what is cut saturates the result either way
}

std::uint32_t extend_float(const CdpLut& lut, bool lo, Range range, std::uint32_t sum)
{
    std::uint32_t from = static_cast<std::uint32_t>(lo ? lut.lo_end : lut.le_end);
    if (range == Range::Underflow) {
        from = static_cast<std::uint32_t>(lo ? lut.lo_start : lut.le_start);
        if (!lo) {
            const int offset = offset_of(lut);
            const bool nothing = lut.le_linear || offset <= -127;
            const std::uint32_t bias = nothing ? 0 : Fp32::pack(0, static_cast<std::uint32_t>(offset + 127) & 255, 0);
            from = fp_add<Fp32>(bias, from);
        }
    }
    const auto scale = fp16_to_fp17(static_cast<std::uint16_t>(slope_of(lut, lo, range).scale));
    return fp_multiply<Fp17>(fp32_to_fp17(fp_add<Fp32>(sum, from ^ Fp32::sign_mask)), scale);
}

/// fraction / 2^16 as fp17.
std::uint32_t fraction_to_fp17(std::uint32_t fraction)
{
    if (fraction == 0) return 0;
    const unsigned k = static_cast<unsigned>(std::bit_width(fraction)) - 1;
    const std::uint32_t significand = k > 10 ? static_cast<std::uint32_t>(round_even(fraction, k - 10)) : fraction << (10 - k);
    // The hidden bit, and a carry out of it, add to the exponent.
    return ((k + Fp17::bias - kFractionBits - 1) << Fp17::mantissa_bits) + significand;
}

}  // namespace

CdpLooked cdp_look_up(const CdpLut& lut, const LutTables& tables, std::int64_t sum, CdpIndex index)
{
    const Place le = find(le_of(lut), sum, index, !lut.le_linear, offset_of(lut));
    const Place lo = find(lo_of(lut), sum, index, false, 0);
    const Choice choice = choose(lut, le.range, lo.range);
    const Place& place = choice.lo ? lo : le;
    const std::uint16_t* table = choice.lo ? tables.lo.data() : tables.le.data();
    const std::int64_t y0 = static_cast<std::int16_t>(table[place.entry]);
    std::int64_t value;
    if (place.range == Range::Hit)
        value = y0 + shift_round((static_cast<std::int16_t>(table[place.entry + 1]) - y0) * place.fraction, kFractionBits);
    else value = y0 + extend(lut, choice.lo, place.range, sum);
    return {static_cast<std::int32_t>(saturate(value, 16)), choice.outcome};
}

CdpLooked cdp_look_up_float(const CdpLut& lut, const LutTables& tables, std::uint32_t sum)
{
    const Place le = find_float(le_of(lut), sum, !lut.le_linear, offset_of(lut));
    const Place lo = find_float(lo_of(lut), sum, false, 0);
    const Choice choice = choose(lut, le.range, lo.range);
    const Place& place = choice.lo ? lo : le;
    const std::uint16_t* table = choice.lo ? tables.lo.data() : tables.le.data();
    const std::uint16_t y0 = table[place.entry];
    std::uint32_t step;
    if (place.range == Range::Hit) {
        const std::uint32_t difference = fp_add<Fp32>(fp16_to_fp32(table[place.entry + 1]), fp16_to_fp32(y0) ^ Fp32::sign_mask);
        step = fp_multiply<Fp17>(fp32_to_fp17(difference), fraction_to_fp17(place.fraction));
    } else {
        step = extend_float(lut, choice.lo, place.range, sum);
    }
    return {static_cast<std::int32_t>(fp_add<Fp17>(step, fp16_to_fp17(y0))), choice.outcome};
}

}  // namespace dlasim::numerics
