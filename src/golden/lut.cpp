#include "golden/lut.h"

#include <algorithm>

namespace dlasim {
namespace {

constexpr int kFractionBits = 35;
enum class Range { Hit, Under, Over };

struct Place {
    Range range = Range::Hit;
    std::size_t entry = 0;
    std::int64_t fraction = 0;  // of 2^35
};

Place linear(const LutTable& table, std::size_t last, std::int64_t x, bool quirk)
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

Place exponential(const LutTable& table, std::size_t last, std::int64_t x)
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
    const Place le = lut.le.exponential ? exponential(lut.le, Lut::kLeEntries - 1, x) : linear(lut.le, Lut::kLeEntries - 1, x, le_quirk);
    const Place lo = linear(lut.lo, Lut::kLoEntries - 1, x, false);
    const bool le_hit = le.range == Range::Hit, lo_hit = lo.range == Range::Hit;
    bool use_lo = lut.hybrid_lo;
    if (le_hit != lo_hit) use_lo = lo_hit;
    else if (le.range == lo.range && !le_hit) use_lo = le.range == Range::Under ? lut.underflow_lo : lut.overflow_lo;

    const LutTable& table = use_lo ? lut.lo : lut.le;
    const Place& place = use_lo ? lo : le;
    const std::int64_t y0 = table.entries[place.entry];
    if (place.range == Range::Over) return extend(table.overflow, y0, x - table.end);
    if (place.range == Range::Under) {
        const bool biased = table.exponential && table.index_offset >= 0 && table.index_offset < 32;
        return extend(table.underflow, y0, x - table.start - (biased ? std::int64_t{1} << table.index_offset : 0));
    }
    const std::int64_t y1 = table.entries[place.entry + 1], one = std::int64_t{1} << kFractionBits;
    return round_shift(y0 * (one - place.fraction) + y1 * place.fraction, kFractionBits);
}

}  // namespace dlasim
