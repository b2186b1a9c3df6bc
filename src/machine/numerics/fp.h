// The reference's floating point: fp16 and fp32 patterns as IEEE lays them out, fp17 = 1/6/10 inside
// the lookup table and the Winograd transform. Round to nearest even; no infinity is ever produced:
// overflow gives the largest finite number, and infinity read from memory becomes it. Denormals are
// read from fp16 and written to fp16 only. All functions take and give bit patterns.
//
// Source  sdp.md 4.3, csc.md 4.2.
// Error   0: every vector of tests/golden/numerics_test.cpp.
#pragma once
#include <bit>
#include <cstdint>

namespace dlasim::numerics {

template <unsigned ExponentBits, unsigned MantissaBits>
struct FpFormat {
    static constexpr unsigned exponent_bits = ExponentBits, mantissa_bits = MantissaBits;
    static constexpr std::uint32_t max_exponent = (1u << ExponentBits) - 1;
    static constexpr std::uint32_t mantissa_mask = (1u << MantissaBits) - 1;
    static constexpr std::uint32_t hidden = 1u << MantissaBits;
    static constexpr std::uint32_t bias = (1u << (ExponentBits - 1)) - 1;
    static constexpr std::uint32_t sign_mask = 1u << (ExponentBits + MantissaBits);

    static constexpr std::uint32_t sign(std::uint32_t x) { return (x >> (ExponentBits + MantissaBits)) & 1; }
    static constexpr std::uint32_t exponent(std::uint32_t x) { return (x >> MantissaBits) & max_exponent; }
    static constexpr std::uint32_t mantissa(std::uint32_t x) { return x & mantissa_mask; }
    static constexpr std::uint32_t pack(std::uint32_t sign, std::uint32_t exponent, std::uint32_t mantissa)
    {
        return sign << (ExponentBits + MantissaBits) | exponent << MantissaBits | mantissa;
    }
    static constexpr std::uint32_t max_finite(std::uint32_t sign) { return pack(sign, max_exponent - 1, mantissa_mask); }
    /// Infinite, or no number.
    static constexpr bool is_special(std::uint32_t x) { return exponent(x) == max_exponent; }
    static constexpr bool is_nan(std::uint32_t x) { return (x & (sign_mask - 1)) > (max_exponent << MantissaBits); }
};
using Fp16 = FpFormat<5, 10>;
using Fp17 = FpFormat<6, 10>;
using Fp32 = FpFormat<8, 23>;

/// v / 2^n to nearest even, 1 <= n <= 63.
constexpr std::uint64_t round_even(std::uint64_t v, unsigned n)
{
    const std::uint64_t q = v >> n, rest = v & ((std::uint64_t{1} << n) - 1), half = std::uint64_t{1} << (n - 1);
    return q + (rest > half || (rest == half && (q & 1)));
}

/// a + b. Bits shifted out of the window of mantissa_bits + 2 extra bits are lost without a trace.
template <class F>
constexpr std::uint32_t fp_add(std::uint32_t a, std::uint32_t b)
{
    constexpr unsigned extra = F::mantissa_bits + 2, top = F::mantissa_bits + 1 + extra;
    if (F::is_nan(a)) return a;
    if (F::is_nan(b)) return b;
    if ((b & (F::sign_mask - 1)) > (a & (F::sign_mask - 1))) {
        const std::uint32_t larger = b;
        b = a;
        a = larger;
    }
    const auto significand = [](std::uint32_t x) {
        return std::uint64_t{x & (F::sign_mask - 1) ? (F::mantissa(x) | F::hidden) : 0} << extra;
    };
    const std::uint32_t s = F::sign(a), distance = F::exponent(a) - F::exponent(b);
    std::uint32_t e = F::exponent(a);
    const std::uint64_t big = significand(a), small = distance < 64 ? significand(b) >> distance : 0;
    std::uint64_t r;
    if (s == F::sign(b)) {
        r = big + small;
        if (r >> top) {
            r >>= 1;
            if (e >= F::max_exponent - 1) return F::max_finite(s);
            ++e;
        }
    } else {
        r = big - small;
    }
    if (r == 0) return F::pack(s, 0, 0);
    const unsigned zeros = top - static_cast<unsigned>(std::bit_width(r));
    if (e <= zeros) return F::pack(s, 0, 0);
    e -= zeros;
    std::uint64_t m = round_even(r << zeros, extra);
    if (m >> (F::mantissa_bits + 1)) {
        if (e >= F::max_exponent - 1) return F::max_finite(s);
        m >>= 1;
        ++e;
    }
    return F::pack(s, e, static_cast<std::uint32_t>(m) & F::mantissa_mask);
}

/// a * b. No denormals: results below the smallest normal are zero.
template <class F>
constexpr std::uint32_t fp_multiply(std::uint32_t a, std::uint32_t b)
{
    if (F::is_nan(a)) return a;
    if (F::is_nan(b)) return b;
    const std::uint32_t s = F::sign(a) ^ F::sign(b), sum = F::exponent(a) + F::exponent(b);
    if (!(a & (F::sign_mask - 1)) || !(b & (F::sign_mask - 1)) || sum < F::bias) return F::pack(s, 0, 0);
    if (sum >= F::max_exponent + F::bias) return F::max_finite(s);
    const std::uint64_t product = std::uint64_t{F::mantissa(a) | F::hidden} * std::uint64_t{F::mantissa(b) | F::hidden};
    const unsigned carry = static_cast<unsigned>(product >> (2 * F::mantissa_bits + 1));
    std::uint32_t e = sum - F::bias + carry;
    std::uint64_t m = round_even(product, F::mantissa_bits + carry);
    if (m >> (F::mantissa_bits + 1)) {
        m >>= 1;
        ++e;
    }
    if (e >= F::max_exponent) return F::max_finite(s);
    if (e == 0) return F::pack(s, 0, 0);
    return F::pack(s, e, static_cast<std::uint32_t>(m) & F::mantissa_mask);
}

/// Larger or smaller of two fp32; the first NaN wins; of equal ones the second.
constexpr std::uint32_t fp32_select(std::uint32_t a, std::uint32_t b, bool larger)
{
    if (Fp32::is_nan(a)) return a;
    if (Fp32::is_nan(b)) return b;
    const bool a_negative = a >> 31, b_negative = b >> 31;
    if (a_negative != b_negative) return larger == a_negative ? b : a;
    const std::uint32_t ma = a & 0x7fffffff, mb = b & 0x7fffffff;
    const bool a_larger = a_negative ? ma < mb : ma > mb;
    return larger == a_larger ? a : b;
}
constexpr std::uint32_t fp32_max(std::uint32_t a, std::uint32_t b) { return fp32_select(a, b, true); }
constexpr std::uint32_t fp32_min(std::uint32_t a, std::uint32_t b) { return fp32_select(a, b, false); }

// ---- conversions. NaN keeps sign and its low ten mantissa bits, as the low bits of the wider format.
std::uint32_t fp16_to_fp32(std::uint16_t x);
std::uint16_t fp32_to_fp16(std::uint32_t x);
std::uint32_t fp16_to_fp17(std::uint16_t x);
/// As the Winograd transform narrows: denormals are made.
std::uint16_t fp17_to_fp16(std::uint32_t x);
std::uint32_t fp17_to_fp32(std::uint32_t x);
std::uint32_t fp32_to_fp17(std::uint32_t x);
/// A 17-bit signed number, to nearest even.
std::uint16_t int17_to_fp16(std::int32_t x);
/// Ties away from zero, saturated; NaN becomes -32768.
std::int16_t fp16_to_int16(std::uint16_t x);

}  // namespace dlasim::numerics
