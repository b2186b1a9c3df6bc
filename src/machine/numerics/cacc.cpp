#include "numerics/cacc.h"

#include <algorithm>
#include <bit>

namespace dlasim::numerics {

namespace {

constexpr unsigned kMantissa = 40;
constexpr std::uint64_t kMantissaMask = (std::uint64_t{1} << kMantissa) - 1;
constexpr std::uint64_t kNanExponent = 255;
constexpr std::uint64_t kMaxNegative = std::uint64_t{1} << (kMantissa - 1);

/// Redundant sign bits of a `width`-bit number held sign-extended.
unsigned redundant_signs(std::int64_t x, unsigned width)
{
    const auto bits = static_cast<std::uint64_t>(x < 0 ? ~x : x);
    return width - 1 - static_cast<unsigned>(std::bit_width(bits));
}

/// m * 2^-shift: the aligned part, and three bits of what was lost: guard, next, or of the rest.
struct Aligned {
    std::int64_t value;
    unsigned lost;
};
Aligned align(std::int64_t m, unsigned shift)
{
    if (shift == 0) return {m, 0};
    // What is lost is seen through a window of 40 bits below the point.
    shift = std::min(shift, 2 * kMantissa - 1);
    const auto wide = static_cast<std::uint64_t>(m);
    const std::int64_t value = m >> std::min(shift, 63u);
    std::uint64_t lost;
    if (shift <= kMantissa) lost = (wide << (kMantissa - shift)) & kMantissaMask;
    else lost = static_cast<std::uint64_t>(m >> (shift - kMantissa)) & kMantissaMask;
    return {value, static_cast<unsigned>((lost >> 37) & 6) | ((lost & (kMantissaMask >> 2)) != 0)};
}

constexpr FpSum nan_sum(std::uint64_t top11) { return kNanExponent << kMantissa | top11 << 29; }

}  // namespace

FpSum accumulate_fp(CmacWord partial, FpSum sum)
{
    const auto e6 = static_cast<unsigned>(partial >> 38) & 63;
    const auto e8 = static_cast<unsigned>(sum >> kMantissa) & 255;
    const std::int64_t m38 = sign_extend(partial, 38), old = sign_extend(sum, kMantissa);
    if (e8 == kNanExponent) return nan_sum((sum >> 29) & 0x7ff);
    if (e6 == 63) return nan_sum((partial >> 27) & 0x7ff);

    // The cell's sums use 36 of their 38 bits.
    const std::int64_t m36 = sign_extend(partial, 36);
    const unsigned spare = redundant_signs(m36, 36);
    const std::int64_t fresh = sign_extend(static_cast<std::uint64_t>(m36) << spare, 36) * 16;
    const unsigned fresh_exponent = m38 == 0 ? 0 : e6 + 47 - spare;
    const unsigned old_exponent = old == 0 ? 0 : e8;

    const unsigned exponent = std::max(fresh_exponent, old_exponent);
    const Aligned x = align(fresh, exponent - fresh_exponent), p = align(old, exponent - old_exponent);
    const unsigned lost = fresh_exponent > old_exponent ? p.lost : fresh_exponent < old_exponent ? x.lost : 0;
    const std::int64_t total = ((x.value + p.value) * 8) | lost;  // 44 bits

    const unsigned z = redundant_signs(total, 44);
    auto e = static_cast<std::uint64_t>(exponent + 1 - z) & 255;
    const std::int64_t normal = sign_extend(static_cast<std::uint64_t>(total) << z, 44);
    const std::int64_t kept = normal >> 4;
    const bool up = (normal & 8) && (normal >= 0 || (normal & 7));
    std::int64_t m = kept + up;
    if (up && kept >= 0 && m == std::int64_t{1} << 39) {
        m >>= 1;
        e = (e + 1) & 255;
    } else if (up && kept < 0 && m == -(std::int64_t{1} << 38)) {
        m *= 2;  // -1/2 is not normalised, -1 is
        e = (e - 1) & 255;
    }
    return m == 0 ? 0 : e << kMantissa | (static_cast<std::uint64_t>(m) & kMantissaMask);
}

std::uint32_t finish_fp(FpSum sum)
{
    const std::uint64_t m = sum & kMantissaMask, e = sum >> kMantissa & 255;
    if (m == 0) return 0;
    const auto sign = static_cast<std::uint32_t>(m >> 39);
    if (e == kNanExponent) return sign << 31 | 255u << 23 | (static_cast<std::uint32_t>(m >> 29) & 0x3ff);
    const std::uint64_t low = m & (kMaxNegative - 1);
    const std::uint64_t magnitude = sign ? (kMaxNegative - low) & (kMaxNegative - 1) : low;
    const bool most_negative = sign && low == 0;
    const auto f = static_cast<std::uint32_t>(magnitude >> 15);
    const std::uint32_t rounded = f + ((magnitude >> 14) & 1);
    const bool carry = rounded >> 24;
    const auto exponent = static_cast<std::uint32_t>(e + 64 + (carry || most_negative)) & 255;
    return sign << 31 | exponent << 23 | (carry ? 0 : rounded & 0x7fffff);
}

}  // namespace dlasim::numerics
