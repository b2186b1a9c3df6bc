// Floating point of the golden reference: patterns in, patterns out, the arithmetic between them done in doubles,
// which hold every intermediate result exactly; rounding to nearest even is the processor's own. Nothing of it
// is shared with the machine.
//
//   fp16 1/5/10 in memory, fp17 1/6/10 in the lookup table and the Winograd transform, fp32 1/8/23 in SDP
//
// No infinity is ever produced: overflow gives the largest finite number.
//
// Source  sdp.md 4.3, csc.md 4.2.
// Error   0 against the machine's arithmetic, written apart (tests/golden/real_test.cpp).
#pragma once
#include <cstdint>

namespace dlasim::real {

/// A format of floating-point numbers: fields and their positions.
struct Format {
    int exponent_bits, mantissa_bits;

    constexpr int bias() const { return (1 << (exponent_bits - 1)) - 1; }
    constexpr std::uint32_t largest_exponent() const { return (1u << exponent_bits) - 1; }
    constexpr std::uint32_t sign(std::uint32_t x) const { return x >> (exponent_bits + mantissa_bits) & 1; }
    constexpr std::uint32_t exponent(std::uint32_t x) const { return x >> mantissa_bits & largest_exponent(); }
    constexpr std::uint32_t mantissa(std::uint32_t x) const { return x & ((1u << mantissa_bits) - 1); }
    constexpr std::uint32_t pack(std::uint32_t s, std::uint32_t e, std::uint32_t m) const
    {
        return s << (exponent_bits + mantissa_bits) | e << mantissa_bits | m;
    }
    constexpr bool nan(std::uint32_t x) const { return exponent(x) == largest_exponent() && mantissa(x) != 0; }
    constexpr bool zero(std::uint32_t x) const { return exponent(x) == 0 && mantissa(x) == 0; }
    constexpr std::uint32_t largest(std::uint32_t s) const { return pack(s, largest_exponent() - 1, (1u << mantissa_bits) - 1); }
    constexpr std::uint32_t negated(std::uint32_t x) const { return x ^ 1u << (exponent_bits + mantissa_bits); }
};
inline constexpr Format kFp16{5, 10}, kWide{6, 10}, kFp32{8, 23};

/// The number of a pattern of fp17 or fp32, where everything but zero has a hidden bit. pre: no NaN
double number(const Format& format, std::uint32_t x);

std::uint32_t add(const Format& format, std::uint32_t a, std::uint32_t b);
std::uint32_t multiply(const Format& format, std::uint32_t a, std::uint32_t b);
/// The larger of two numbers, or the smaller; the first NaN wins.
std::uint32_t larger(const Format& format, std::uint32_t a, std::uint32_t b);
std::uint32_t smaller(const Format& format, std::uint32_t a, std::uint32_t b);

// NaN keeps its sign and ten bits of mantissa, the low ones of the wider format.
std::uint32_t widen_fp16(const Format& to, std::uint16_t half);
std::uint16_t single_to_half(std::uint32_t x);
std::uint16_t wide_to_half(std::uint32_t x);
std::uint32_t wide_to_single(std::uint32_t x);
std::uint32_t single_to_wide(std::uint32_t x);
/// numerator / 2^35 as fp17.
std::uint32_t fraction_to_wide(std::uint64_t numerator);
/// Ties away from zero, saturated; NaN becomes -32768.
std::int16_t fp16_to_int16(std::uint16_t half);

}  // namespace dlasim::real
