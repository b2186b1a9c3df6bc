// fp16 bit patterns from and to numbers, round to nearest even: for what users write and read.
// The arithmetic of the machine is in numerics.
#pragma once
#include <cmath>
#include <cstdint>

namespace dlasim {

/// The largest number.
inline constexpr double kMaxFp16 = 65504;

inline double double_from_fp16(std::uint16_t half)
{
    const int exponent = (half >> 10) & 31, mantissa = half & 1023;
    const double sign = half & 0x8000 ? -1.0 : 1.0;
    if (exponent == 31) return mantissa != 0 ? NAN : sign * INFINITY;
    if (exponent == 0) return sign * std::ldexp(mantissa, -24);
    return sign * std::ldexp(1024 + mantissa, exponent - 25);
}

inline std::uint16_t fp16_from_double(double value)
{
    const std::uint16_t sign = std::signbit(value) ? 0x8000 : 0;
    if (std::isnan(value)) return 0x7e00;
    const double magnitude = std::abs(value);
    if (magnitude >= 65520) return static_cast<std::uint16_t>(sign | 0x7c00);
    if (magnitude == 0) return sign;
    int exponent = 0;
    std::frexp(magnitude, &exponent);                            // magnitude in [2^(e-1), 2^e)
    const int step = exponent - 11 < -24 ? -24 : exponent - 11;  // value of one unit in the last place
    const double units = std::nearbyint(std::ldexp(magnitude, -step));
    const auto count = static_cast<std::uint32_t>(units);  // 0..2048
    if (step == -24 && count < 1024) return static_cast<std::uint16_t>(sign | count);
    const std::uint32_t carry = count >= 2048 ? 1 : 0;
    const std::uint32_t mantissa = carry ? 0 : count - 1024;
    return static_cast<std::uint16_t>(sign | (static_cast<std::uint32_t>(step + 25 + static_cast<int>(carry)) << 10) | mantissa);
}

}  // namespace dlasim
