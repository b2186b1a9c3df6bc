// Integer rounding and saturation as every unit of the machine does it: shifts round to nearest,
// ties away from zero; results saturate in two's complement.
//
// Source  sdp.md 4.1, cdma.md 9.3, csc.md 4.2.
#pragma once
#include <cstdint>

namespace dlasim::numerics {

/// x as a `width`-bit two's complement number: the low bits of x, sign-extended. width 1..64.
constexpr std::int64_t sign_extend(std::uint64_t x, unsigned width) { return static_cast<std::int64_t>(x << (64 - width)) >> (64 - width); }

/// Nearest `width`-bit signed number. width 1..63.
constexpr std::int64_t saturate(std::int64_t x, unsigned width)
{
    const std::int64_t high = (std::int64_t{1} << (width - 1)) - 1, low = -high - 1;
    return x < low ? low : x > high ? high : x;
}

/// x / 2^n, ties away from zero, for |x| <= 2^62 and any n.
constexpr std::int64_t shift_round(std::int64_t x, unsigned n)
{
    if (n >= 63) {
        constexpr std::int64_t tie = std::int64_t{1} << 62;
        return n > 63 ? 0 : x >= tie ? 1 : x <= -tie ? -1 : 0;
    }
    const std::int64_t half = (std::int64_t{1} << n) >> 1;
    return (x + half - (n != 0 && x < 0)) >> n;
}

/// The `rsh` of the specification: round, then saturate to `width` bits.
constexpr std::int64_t shift_right(std::int64_t x, unsigned n, unsigned width) { return saturate(shift_round(x, n), width); }

/// The `lsh` of the specification: x * 2^n saturated to `width` <= 32 bits, for |x| < 2^52.
constexpr std::int64_t shift_left(std::int64_t x, unsigned n, unsigned width)
{
    if (n < 11) return saturate(x * (std::int64_t{1} << n), width);
    const std::int64_t limit = std::int64_t{1} << 32;  // beyond it, shifted by 11 or not, x saturates
    x = x > limit ? limit : x < -limit ? -limit : x;
    const unsigned m = n > 31 ? 31 : n;
    if (x >= limit >> 1 || x < -(limit >> 1)) return saturate(x, width);
    x = saturate(x * (std::int64_t{1} << m), width);
    return n > 31 && x != 0 ? (x > 0 ? saturate(limit, width) : saturate(-limit, width)) : x;
}

}  // namespace dlasim::numerics
