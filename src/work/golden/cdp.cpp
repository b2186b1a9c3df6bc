#include "golden/cdp.h"

#include <algorithm>
#include <cmath>

#include "golden/lut.h"
#include "golden/real.h"

namespace dlasim {
namespace {

constexpr int kCdpFractionBits = 16;
constexpr double kCdpOne = 1 << kCdpFractionBits;

/// What is looked up: entry and the fraction to the next one, 16 bits.
struct CdpEntry {
    enum class Range { Hit, Under, Over };
    Range range = Range::Hit;
    std::size_t entry = 0;
    std::int64_t fraction = 0;
};

/// `distance` from the start of the table; not above 0: the table is not reached from below.
CdpEntry cdp_entry(const CdpTable& table, std::size_t entries, double distance)
{
    const CdpEntry under{CdpEntry::Range::Under, 0, 0}, over{CdpEntry::Range::Over, entries - 1, 0};
    if (!(distance > 0)) return under;
    if (table.exponential) {
        const int octave = std::ilogb(distance), entry = octave - table.offset;
        if (entry < 0) return under;
        if (entry >= static_cast<int>(entries) - 1) return over;
        return {CdpEntry::Range::Hit, static_cast<std::size_t>(entry),
                static_cast<std::int64_t>((std::ldexp(distance, -octave) - 1) * kCdpOne)};
    }
    const double steps = std::ldexp(distance, -table.offset), entry = std::floor(steps);
    if (entry >= static_cast<double>(entries - 1)) return over;
    return {CdpEntry::Range::Hit, static_cast<std::size_t>(entry), static_cast<std::int64_t>((steps - entry) * kCdpOne)};
}

/// The table that answers, and where.
struct Answer {
    const CdpTable& table;
    CdpEntry place;
};

Answer answer(const CdpFunction& f, const CdpEntry& le, const CdpEntry& lo)
{
    const bool le_hit = le.range == CdpEntry::Range::Hit, lo_hit = lo.range == CdpEntry::Range::Hit;
    bool chooses_lo = f.hybrid_lo;
    if (le_hit != lo_hit) chooses_lo = lo_hit;
    else if (!le_hit && le.range == lo.range) chooses_lo = le.range == CdpEntry::Range::Under ? f.underflow_lo : f.overflow_lo;
    return chooses_lo ? Answer{f.lo, lo} : Answer{f.le, le};
}

// ---- integers

constexpr int kInputBits[] = {9, 17}, kOutputBits[] = {8, 16};
std::size_t kind(const CdpFunction& f) { return f.precision == Precision::Int8 ? 0 : 1; }

std::int64_t converted(const CdpConversion& conversion, std::int64_t value, int bits)
{
    return clamp_bits(round_shift((value - conversion.offset) * conversion.scale, conversion.shift), bits);
}

std::int64_t looked_up(const CdpFunction& f, std::int64_t x)
{
    const auto distance = [&](const CdpTable& table) { return static_cast<double>(x - table.start); };  // below 2^53: exact
    const Answer found =
        answer(f, cdp_entry(f.le, CdpFunction::kLeEntries, distance(f.le)), cdp_entry(f.lo, CdpFunction::kLoEntries, distance(f.lo)));
    const CdpTable& table = found.table;
    const CdpEntry& place = found.place;
    const std::int64_t y0 = table.entries[place.entry];
    if (place.range == CdpEntry::Range::Hit)
        return clamp_bits(y0 + round_shift((table.entries[place.entry + 1] - y0) * place.fraction, kCdpFractionBits), 16);
    const bool under = place.range == CdpEntry::Range::Under;
    const LutSlope& slope = under ? table.underflow : table.overflow;
    const std::int64_t first_step = table.exponential && table.offset >= 0 ? std::int64_t{1} << table.offset : 0,
                       from = under ? table.start + first_step : table.end, product = (x - from) * slope.scale;
    return clamp_bits(
        y0 + (slope.shift >= 0 ? round_shift(product, static_cast<unsigned>(slope.shift)) : product * (std::int64_t{1} << -slope.shift)),
        16);
}

/// The channels of one place, and what they become.
void integer_place(const CdpFunction& f, const std::vector<std::int16_t>& in, std::vector<std::int16_t>& out)
{
    const std::int64_t side = f.window / 2, channels = static_cast<std::int64_t>(in.size());
    const auto value = [&](std::int64_t c) {
        return c < 0 || c >= channels ? 0 : converted(f.input, in[static_cast<std::size_t>(c)], kInputBits[kind(f)]);
    };
    for (std::size_t c = 0; c < out.size(); ++c) {
        const auto here = static_cast<std::int64_t>(c);
        std::int64_t sum = 0;
        for (std::int64_t i = here - side; i <= here + side; ++i) sum += value(i) * value(i);
        const std::int64_t x = value(here), factor = looked_up(f, f.bypass_square_sum ? x : sum);
        out[c] = static_cast<std::int16_t>(converted(f.output, f.bypass_multiplier ? factor : factor * x, kOutputBits[kind(f)]));
    }
}

// ---- fp16, as patterns: x in fp17, squares and sums in fp32

using real::kFp16, real::kFp32, real::kWide;

std::uint32_t single_minus(std::uint32_t a, std::uint32_t b) { return real::add(kFp32, a, kFp32.negated(b)); }

CdpEntry float_place(const CdpTable& table, std::size_t entries, std::uint32_t x)
{
    const std::uint32_t distance = single_minus(x, static_cast<std::uint32_t>(table.start));
    return cdp_entry(table, entries, kFp32.nan(distance) ? 0 : real::number(kFp32, distance));
}

/// Where the line below the first entry of a table passes through it.
std::uint32_t below_from(const CdpTable& table)
{
    constexpr int kBias = 127;
    const auto exponent = static_cast<std::uint32_t>(table.offset + kBias) & 255u;
    const std::uint32_t step = table.exponential && table.offset > -kBias ? exponent << 23 : 0;
    return table.exponential ? real::add(kFp32, step, static_cast<std::uint32_t>(table.start)) : static_cast<std::uint32_t>(table.start);
}

std::uint32_t looked_up_float(const CdpFunction& f, std::uint32_t x)
{
    const Answer found = answer(f, float_place(f.le, CdpFunction::kLeEntries, x), float_place(f.lo, CdpFunction::kLoEntries, x));
    const CdpTable& table = found.table;
    const CdpEntry& place = found.place;
    const auto entry = [&](const real::Format& format, std::size_t i) {
        return real::widen_fp16(format, static_cast<std::uint16_t>(table.entries[i]));
    };
    const std::uint32_t y0 = entry(kWide, place.entry);
    if (place.range == CdpEntry::Range::Hit) {
        const std::uint32_t difference = single_minus(entry(kFp32, place.entry + 1), entry(kFp32, place.entry)),
                            fraction = real::fraction_to_wide(static_cast<std::uint64_t>(place.fraction) << (35 - kCdpFractionBits));
        return real::add(kWide, real::multiply(kWide, real::single_to_wide(difference), fraction), y0);
    }
    const bool under = place.range == CdpEntry::Range::Under;
    const LutSlope& slope = under ? table.underflow : table.overflow;
    const std::uint32_t from = under ? below_from(table) : static_cast<std::uint32_t>(table.end),
                        distance = real::single_to_wide(single_minus(x, from)),
                        scale = real::widen_fp16(kWide, static_cast<std::uint16_t>(slope.scale));
    return real::add(kWide, real::multiply(kWide, distance, scale), y0);
}

/// The adders take the neighbours and the middle first, then pair by pair.
template <class Square>
std::uint32_t float_sum(Square square, std::int64_t c, std::int64_t side)
{
    const auto plus = [](std::uint32_t a, std::uint32_t b) { return real::add(kFp32, a, b); };
    std::uint32_t sum = plus(plus(square(c - 1), square(c + 1)), square(c));
    for (std::int64_t k = 2; k <= side; ++k) sum = plus(sum, plus(square(c - k), square(c + k)));
    return sum;
}

void float_place_of_channels(const CdpFunction& f, const std::vector<std::int16_t>& in, std::vector<std::int16_t>& out)
{
    const auto value = [&](std::int64_t c) -> std::uint32_t {
        if (c < 0 || c >= static_cast<std::int64_t>(in.size())) return 0;
        const auto half = static_cast<std::uint16_t>(in[static_cast<std::size_t>(c)]);
        return f.flush_nan && kFp16.nan(half) ? 0 : real::widen_fp16(kWide, half);
    };
    const auto square = [&](std::int64_t c) {
        const std::uint32_t single = real::wide_to_single(value(c));
        return real::multiply(kFp32, single, single);
    };
    for (std::size_t c = 0; c < out.size(); ++c) {
        const auto here = static_cast<std::int64_t>(c);
        const std::uint32_t x = value(here), of = f.bypass_square_sum ? real::wide_to_single(x) : float_sum(square, here, f.window / 2),
                            factor = looked_up_float(f, of);
        const bool passes = f.bypass_multiplier && kWide.nan(x);
        out[c] = static_cast<std::int16_t>(real::wide_to_half(passes                ? x
                                                              : f.bypass_multiplier ? factor
                                                                                    : real::multiply(kWide, x, factor)));
    }
}

}  // namespace

Tensor cdp_output(const CdpFunction& function, const Tensor& cube, std::uint32_t channels)
{
    Tensor out(1, channels, cube.h, cube.w);
    std::vector<std::int16_t> before(cube.c), after(channels);
    for (std::uint32_t y = 0; y < cube.h; ++y)
        for (std::uint32_t x = 0; x < cube.w; ++x) {
            for (std::uint32_t c = 0; c < cube.c; ++c) before[c] = cube.at(0, c, y, x);
            if (function.precision == Precision::Fp16) float_place_of_channels(function, before, after);
            else integer_place(function, before, after);
            for (std::uint32_t c = 0; c < channels; ++c) out.at(0, c, y, x) = after[c];
        }
    return out;
}

}  // namespace dlasim
