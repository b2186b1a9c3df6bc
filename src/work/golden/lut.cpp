#include "golden/lut.h"

#include <algorithm>
#include <cmath>

#include "golden/real.h"

namespace dlasim {
namespace {

constexpr int kFractionBits = 35;
enum class Range { Hit, Under, Over };

struct LutEntry {
    Range range = Range::Hit;
    std::size_t entry = 0;
    std::int64_t fraction = 0;  // of 2^35
};

LutEntry linear(const LutTable& table, std::size_t last, std::int64_t x, bool quirk)
{
    if (x <= table.start) return {Range::Under, 0, 0};
    const std::int64_t d = x - table.start;  // 1..2^32 - 1
    const int q = table.index_select;
    const std::int64_t index = q <= 0 ? d << std::min(-q, 20) : q > 32 ? 0 : d >> q;
    if (index >= static_cast<std::int64_t>(last)) return {Range::Over, last, 0};
    std::int64_t fraction = 0;
    if (q > 0 && q <= 32) fraction = (d % (std::int64_t{1} << q)) << (kFractionBits - q);
    if (q > 32) {
        const std::int64_t signed_d =
            quirk && d >= std::int64_t{1} << 31 ? (std::int64_t{1} << kFractionBits) + d - (std::int64_t{1} << 32) : d;
        fraction = q <= kFractionBits       ? (signed_d << (kFractionBits - q)) % (std::int64_t{1} << kFractionBits)
                   : q - kFractionBits > 62 ? 0
                                            : signed_d >> (q - kFractionBits);
    }
    return {Range::Hit, static_cast<std::size_t>(index), fraction};
}

LutEntry exponential(const LutTable& table, std::size_t last, std::int64_t x)
{
    if (x <= table.start) return {Range::Under, 0, 0};
    const std::int64_t d = x - table.start;
    int g = 0;
    while (d >> (g + 1) != 0) ++g;
    const int index = g - table.index_offset;
    if (index < 0) return {Range::Under, 0, 0};
    if (index >= static_cast<int>(last)) return {Range::Over, last, 0};
    return {Range::Hit, static_cast<std::size_t>(index), (d - (std::int64_t{1} << g)) << (kFractionBits - g)};
}

std::int64_t extend(const LutSlope& slope, std::int64_t entry, std::int64_t distance)
{
    const std::int64_t product = distance * slope.scale;
    const std::int64_t step =
        slope.shift >= 0 ? round_shift(product, static_cast<unsigned>(slope.shift)) : product * (std::int64_t{1} << -slope.shift);
    return clamp_bits(entry + clamp_bits(step, 32), 32);
}

// --------------------------------------------------------------------------------- floating point
constexpr double kOne = static_cast<double>(std::int64_t{1} << kFractionBits);

/// x - start; no value where the table is not reached from below: not above zero.
std::optional<double> distance(std::uint32_t x, std::int32_t start)
{
    const std::uint32_t d = real::add(real::kFp32, x, real::kFp32.negated(static_cast<std::uint32_t>(start)));
    if (real::kFp32.nan(d) || real::kFp32.sign(d) != 0 || real::kFp32.zero(d)) return std::nullopt;
    return real::number(real::kFp32, d);
}

LutEntry linear_fp(const LutTable& table, std::size_t last, std::uint32_t x)
{
    const std::optional<double> d = distance(x, table.start);
    if (!d) return {Range::Under, 0, 0};
    const double steps = std::ldexp(*d, -table.index_select), index = std::floor(steps);
    if (index >= static_cast<double>(last)) return {Range::Over, last, 0};
    return {Range::Hit, static_cast<std::size_t>(index), static_cast<std::int64_t>((steps - index) * kOne)};
}

LutEntry exponential_fp(const LutTable& table, std::size_t last, std::uint32_t x)
{
    const std::optional<double> d = distance(x, table.start);
    if (!d) return {Range::Under, 0, 0};
    const int power = std::ilogb(*d), index = power - table.index_offset;
    if (index < 0) return {Range::Under, 0, 0};
    if (index >= static_cast<int>(last)) return {Range::Over, last, 0};
    return {Range::Hit, static_cast<std::size_t>(index), static_cast<std::int64_t>((std::ldexp(*d, -power) - 1) * kOne)};
}

std::uint32_t wide_of(std::int32_t half) { return real::widen_fp16(real::kWide, static_cast<std::uint16_t>(half)); }

/// entry + (x - from) * scale, the entry first.
std::uint32_t extend_fp(const LutSlope& slope, std::int32_t entry, std::uint32_t x, std::uint32_t from)
{
    const std::uint32_t d = real::single_to_wide(real::add(real::kFp32, x, real::kFp32.negated(from)));
    return real::wide_to_single(real::add(real::kWide, wide_of(entry), real::multiply(real::kWide, d, wide_of(slope.scale))));
}

/// The table that answers.
bool chooses_lo(const Lut& lut, const LutEntry& le, const LutEntry& lo)
{
    const bool le_hit = le.range == Range::Hit, lo_hit = lo.range == Range::Hit;
    if (le_hit != lo_hit) return lo_hit;
    if (le.range == lo.range && !le_hit) return le.range == Range::Under ? lut.underflow_lo : lut.overflow_lo;
    return lut.hybrid_lo;
}

}  // namespace

std::int64_t clamp_bits(std::int64_t value, int width)
{
    const std::int64_t high = (std::int64_t{1} << (width - 1)) - 1;
    return std::clamp(value, -high - 1, high);
}

std::int64_t round_shift(std::int64_t value, unsigned shift)
{
    if (shift == 0) return value;
    const bool negative = value < 0;
    const std::uint64_t magnitude = negative ? std::uint64_t{0} - static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value);
    if (shift > 63) return 0;  // nothing here has more than 63 bits: less than a half
    const auto rounded = static_cast<std::int64_t>((magnitude >> shift) + ((magnitude >> (shift - 1)) & 1));
    return negative ? -rounded : rounded;
}

std::int64_t reference_lut(const Lut& lut, std::int64_t x, bool le_quirk)
{
    const LutEntry le = lut.le.exponential ? exponential(lut.le, Lut::kLeEntries - 1, x) : linear(lut.le, Lut::kLeEntries - 1, x, le_quirk);
    const LutEntry lo = linear(lut.lo, Lut::kLoEntries - 1, x, false);
    const bool use_lo = chooses_lo(lut, le, lo);
    const LutTable& table = use_lo ? lut.lo : lut.le;
    const LutEntry& place = use_lo ? lo : le;
    const std::int64_t y0 = table.entries[place.entry];
    if (place.range == Range::Over) return extend(table.overflow, y0, x - table.end);
    if (place.range == Range::Under) {
        const bool biased = table.exponential && table.index_offset >= 0 && table.index_offset < 32;
        return extend(table.underflow, y0, x - table.start - (biased ? std::int64_t{1} << table.index_offset : 0));
    }
    const std::int64_t y1 = table.entries[place.entry + 1], one = std::int64_t{1} << kFractionBits;
    return round_shift(y0 * (one - place.fraction) + y1 * place.fraction, kFractionBits);
}

std::uint32_t reference_lut_fp(const Lut& lut, std::uint32_t x)
{
    const LutEntry le = lut.le.exponential ? exponential_fp(lut.le, Lut::kLeEntries - 1, x) : linear_fp(lut.le, Lut::kLeEntries - 1, x);
    const LutEntry lo = linear_fp(lut.lo, Lut::kLoEntries - 1, x);
    const bool use_lo = chooses_lo(lut, le, lo);
    const LutTable& table = use_lo ? lut.lo : lut.le;
    const LutEntry& place = use_lo ? lo : le;
    const std::int16_t y0 = table.entries[place.entry];
    if (place.range == Range::Over) return extend_fp(table.overflow, y0, x, static_cast<std::uint32_t>(table.end));
    if (place.range == Range::Under) {
        const auto start = static_cast<std::uint32_t>(table.start), power = static_cast<std::uint32_t>(table.index_offset + 127) & 255;
        return extend_fp(table.underflow, y0, x, table.exponential ? real::add(real::kFp32, start, real::kFp32.pack(0, power, 0)) : start);
    }
    const std::uint32_t high = real::fraction_to_wide(static_cast<std::uint64_t>(place.fraction)),
                        low = real::fraction_to_wide((std::uint64_t{1} << kFractionBits) - static_cast<std::uint64_t>(place.fraction));
    return real::wide_to_single(real::add(real::kWide, real::multiply(real::kWide, low, wide_of(y0)),
                                          real::multiply(real::kWide, high, wide_of(table.entries[place.entry + 1]))));
}

}  // namespace dlasim
