#pragma once
#include <concepts>
#include <cstdint>

namespace dlasim {

template <std::integral T>
constexpr T ceil_div(T a, T b)
{
    return (a + b - 1) / b;
}
template <std::integral T>
constexpr T round_up(T a, T b)
{
    return ceil_div(a, b) * b;
}

/// Bits [lsb, lsb + width) of a register value.
constexpr std::uint32_t bits(std::uint32_t value, unsigned lsb, unsigned width)
{
    return width >= 32 ? value >> lsb : (value >> lsb) & ((1u << width) - 1);
}

}  // namespace dlasim
