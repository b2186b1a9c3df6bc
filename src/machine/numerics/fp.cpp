#include "numerics/fp.h"

namespace dlasim::numerics {

namespace {

constexpr unsigned width_of(std::uint32_t x) { return static_cast<unsigned>(std::bit_width(x)); }

}  // namespace

std::uint32_t fp16_to_fp32(std::uint16_t x)
{
    const std::uint32_t s = Fp16::sign(x), e = Fp16::exponent(x), m = Fp16::mantissa(x);
    if (e == 31) return m ? Fp32::pack(s, 255, m) : Fp32::max_finite(s);
    if (e != 0) return Fp32::pack(s, e + 112, m << 13);
    if (m == 0) return s << 31;
    const unsigned k = width_of(m) - 1;
    return Fp32::pack(s, k + 103, (m << (23 - k)) & Fp32::mantissa_mask);
}

std::uint16_t fp32_to_fp16(std::uint32_t x)
{
    const std::uint32_t s = Fp32::sign(x), e = Fp32::exponent(x), m = Fp32::mantissa(x);
    const auto half = [](std::uint32_t v) { return static_cast<std::uint16_t>(v); };
    if (Fp32::is_nan(x)) return half(Fp16::pack(s, 31, m & Fp16::mantissa_mask));
    if (e >= 143) return half(Fp16::max_finite(s));
    if (e < 102) return half(s << 15);
    if (e < 113) return half(s << 15 | static_cast<std::uint32_t>(round_even(m | Fp32::hidden, 126 - e)));
    // A mantissa that rounds up to 1024 carries into the exponent.
    const std::uint32_t magnitude = ((e - 112) << 10) + static_cast<std::uint32_t>(round_even(m, 13));
    return half(magnitude >= 31u << 10 ? Fp16::max_finite(s) : s << 15 | magnitude);
}

std::uint32_t fp16_to_fp17(std::uint16_t x)
{
    const std::uint32_t s = Fp16::sign(x), e = Fp16::exponent(x), m = Fp16::mantissa(x);
    if (e == 31) return m ? Fp17::pack(s, 63, m) : Fp17::max_finite(s);
    if (e != 0) return Fp17::pack(s, e + 16, m);
    if (m == 0) return s << 16;
    const unsigned k = width_of(m) - 1;
    return Fp17::pack(s, k + 7, (m << (10 - k)) & Fp17::mantissa_mask);
}

std::uint16_t fp17_to_fp16(std::uint32_t x)
{
    const std::uint32_t s = Fp17::sign(x), e = Fp17::exponent(x), m = Fp17::mantissa(x);
    const auto half = [](std::uint32_t v) { return static_cast<std::uint16_t>(v); };
    if (e == 63) return half(Fp16::pack(s, 31, m));
    if (e >= 47) return half(Fp16::max_finite(s));
    if (e >= 17) return half(Fp16::pack(s, e - 16, m));
    if (e < 6) return half(s << 15);
    return half(s << 15 | static_cast<std::uint32_t>(round_even(m | Fp17::hidden, 17 - e)));
}

std::uint32_t fp17_to_fp32(std::uint32_t x)
{
    const std::uint32_t s = Fp17::sign(x), e = Fp17::exponent(x), m = Fp17::mantissa(x);
    if (e == 63) return Fp32::pack(s, 255, m);
    if (e == 0 && m == 0) return s << 31;
    return Fp32::pack(s, e + 96, m << 13);
}

std::uint32_t fp32_to_fp17(std::uint32_t x)
{
    const std::uint32_t s = Fp32::sign(x), e = Fp32::exponent(x), m = Fp32::mantissa(x);
    if (Fp32::is_nan(x)) return Fp17::pack(s, 63, m & Fp17::mantissa_mask);
    if (e >= 159) return Fp17::max_finite(s);
    // Below the smallest normal only what rounds up to it is not zero.
    if (e < 97) return e == 96 && m >= 0x7fe000 ? Fp17::pack(s, 1, 0) : s << 16;
    const std::uint32_t magnitude = ((e - 96) << 10) + static_cast<std::uint32_t>(round_even(m, 13));
    return magnitude >= 63u << 10 ? Fp17::max_finite(s) : s << 16 | magnitude;
}

std::uint16_t int17_to_fp16(std::int32_t x)
{
    if (x == 0) return 0;
    const std::uint32_t s = x < 0, a = s ? 0u - static_cast<std::uint32_t>(x) : static_cast<std::uint32_t>(x);
    const unsigned k = width_of(a) - 1;
    const std::uint32_t significand = k > 10 ? static_cast<std::uint32_t>(round_even(a, k - 10)) : a << (10 - k);
    // The hidden bit, and a carry out of it, add to the exponent.
    const std::uint32_t magnitude = ((k + 14) << 10) + significand;
    return static_cast<std::uint16_t>(magnitude >= 31u << 10 ? Fp16::max_finite(s) : s << 15 | magnitude);
}

std::int16_t fp16_to_int16(std::uint16_t x)
{
    const std::uint32_t e = Fp16::exponent(x), m = Fp16::mantissa(x);
    if (e == 31) return INT16_MIN;
    const std::int32_t significand = static_cast<std::int32_t>(e ? m | Fp16::hidden : m);
    const std::uint32_t power = e ? e : 1;
    const std::int32_t a = power >= 25 ? significand << (power - 25) : (significand + (1 << (24 - power))) >> (25 - power);
    const std::int32_t v = Fp16::sign(x) ? -a : a;
    return static_cast<std::int16_t>(v < INT16_MIN ? INT16_MIN : v > INT16_MAX ? INT16_MAX : v);
}

}  // namespace dlasim::numerics
