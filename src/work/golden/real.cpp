#include "golden/real.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "config/model/fp16.h"

namespace dlasim::real {
namespace {

constexpr int kDoubleBias = 1023, kDoubleMantissa = 52;

/// 2^e
double power(int e) { return std::bit_cast<double>(static_cast<std::uint64_t>(e + kDoubleBias) << kDoubleMantissa); }
/// e of 2^e <= x < 2^(e + 1). pre: x > 0
int exponent_of(double x) { return static_cast<int>(std::bit_cast<std::uint64_t>(x) >> kDoubleMantissa & 0x7ff) - kDoubleBias; }
/// Toward zero; for |x| < 2^62.
double whole(double x) { return static_cast<double>(static_cast<std::int64_t>(x)); }
/// To nearest, ties to even.
double nearest(double x) { return static_cast<double>(std::llrint(x)); }

/// The magnitude rounded to the format; below its smallest normal number it is zero. pre: x > 0
std::uint32_t rounded(const Format& f, std::uint32_t sign, double x)
{
    int e = exponent_of(x);
    double significand = nearest(x * power(f.mantissa_bits - e));
    if (significand == power(f.mantissa_bits + 1)) {
        significand /= 2;
        ++e;
    }
    const int field = e + f.bias();
    if (field <= 0) return f.pack(sign, 0, 0);
    if (field >= static_cast<int>(f.largest_exponent())) return f.largest(sign);
    return f.pack(sign, static_cast<std::uint32_t>(field), static_cast<std::uint32_t>(significand - power(f.mantissa_bits)));
}

}  // namespace

double number(const Format& f, std::uint32_t x)
{
    if (f.zero(x)) return f.sign(x) ? -0.0 : 0.0;
    const double magnitude = (power(f.mantissa_bits) + f.mantissa(x)) * power(static_cast<int>(f.exponent(x)) - f.bias() - f.mantissa_bits);
    return f.sign(x) ? -magnitude : magnitude;
}

std::uint32_t add(const Format& f, std::uint32_t a, std::uint32_t b)
{
    if (f.nan(a)) return a;
    if (f.nan(b)) return b;
    double x = number(f, a), y = number(f, b);
    if (std::abs(y) > std::abs(x)) {
        std::swap(x, y);
        std::swap(a, b);
    }
    const std::uint32_t sign = f.sign(a);
    if (x == 0) return f.pack(sign, 0, 0);
    // Both are in a window that ends mantissa_bits + 2 places below the last bit of the larger one; bits below are lost.
    const int extra = f.mantissa_bits + 2, last = static_cast<int>(f.exponent(a)) - f.bias() - f.mantissa_bits - extra;
    double sum = std::abs(whole(x * power(-last)) + whole(y * power(-last)));
    if (sum == 0) return f.pack(sign, 0, 0);
    std::uint32_t e = f.exponent(a);
    if (sum >= power(f.mantissa_bits + 1 + extra)) {  // one place more: the last bit of the window is lost too
        if (e + 1 >= f.largest_exponent()) return f.largest(sign);
        sum = 2 * whole(sum / 2);
    }
    const int field = exponent_of(sum) + last + f.bias();
    if (field <= 0) return f.pack(sign, 0, 0);
    const double significand = nearest(sum * power(f.mantissa_bits - exponent_of(sum)));
    e = static_cast<std::uint32_t>(field);
    if (significand < power(f.mantissa_bits + 1)) return f.pack(sign, e, static_cast<std::uint32_t>(significand - power(f.mantissa_bits)));
    return e + 1 >= f.largest_exponent() ? f.largest(sign) : f.pack(sign, e + 1, 0);
}

std::uint32_t multiply(const Format& f, std::uint32_t a, std::uint32_t b)
{
    if (f.nan(a)) return a;
    if (f.nan(b)) return b;
    const std::uint32_t sign = f.sign(a) ^ f.sign(b), exponents = f.exponent(a) + f.exponent(b),
                        bias = static_cast<std::uint32_t>(f.bias());
    if (f.zero(a) || f.zero(b) || exponents < bias) return f.pack(sign, 0, 0);
    if (exponents >= f.largest_exponent() + bias) return f.largest(sign);
    return rounded(f, sign, std::abs(number(f, a) * number(f, b)));
}

std::uint32_t larger(const Format& f, std::uint32_t a, std::uint32_t b)
{
    if (f.nan(a)) return a;
    if (f.nan(b)) return b;
    if (f.sign(a) != f.sign(b)) return f.sign(a) ? b : a;
    return number(f, a) > number(f, b) ? a : b;
}

std::uint32_t smaller(const Format& f, std::uint32_t a, std::uint32_t b)
{
    if (f.nan(a)) return a;
    if (f.nan(b)) return b;
    if (f.sign(a) != f.sign(b)) return f.sign(a) ? a : b;
    return number(f, a) < number(f, b) ? a : b;
}

std::uint32_t widen_fp16(const Format& to, std::uint16_t half)
{
    const std::uint32_t sign = kFp16.sign(half);
    if (kFp16.nan(half)) return to.pack(sign, to.largest_exponent(), kFp16.mantissa(half));
    const double x = std::abs(double_from_fp16(half));
    return std::isinf(x) ? to.largest(sign) : x == 0 ? to.pack(sign, 0, 0) : rounded(to, sign, x);
}

std::uint16_t single_to_half(std::uint32_t x)
{
    const std::uint32_t sign = kFp32.sign(x);
    if (kFp32.nan(x)) return static_cast<std::uint16_t>(kFp16.pack(sign, 31, x & 1023));
    const double magnitude = std::abs(number(kFp32, x));
    if (magnitude >= 65520) return static_cast<std::uint16_t>(kFp16.largest(sign));
    return static_cast<std::uint16_t>(sign << 15 | fp16_from_double(magnitude));
}

std::uint16_t wide_to_half(std::uint32_t x)
{
    const std::uint32_t sign = kWide.sign(x);
    if (kWide.exponent(x) == kWide.largest_exponent()) return static_cast<std::uint16_t>(kFp16.pack(sign, 31, kWide.mantissa(x)));
    const double magnitude = std::abs(number(kWide, x));
    if (magnitude >= 65536) return static_cast<std::uint16_t>(kFp16.largest(sign));
    return static_cast<std::uint16_t>(sign << 15 | fp16_from_double(magnitude));
}

std::uint32_t wide_to_single(std::uint32_t x)
{
    const std::uint32_t sign = kWide.sign(x);
    if (kWide.exponent(x) == kWide.largest_exponent()) return kFp32.pack(sign, 255, kWide.mantissa(x));
    const double magnitude = std::abs(number(kWide, x));
    return magnitude == 0 ? kFp32.pack(sign, 0, 0) : rounded(kFp32, sign, magnitude);
}

std::uint32_t single_to_wide(std::uint32_t x)
{
    const std::uint32_t sign = kFp32.sign(x);
    if (kFp32.nan(x)) return kWide.pack(sign, kWide.largest_exponent(), x & 1023);
    if (kFp32.exponent(x) >= 159) return kWide.largest(sign);
    // Half a unit of the smallest normal number below it, and more, becomes it; what is smaller is zero.
    if (kFp32.exponent(x) < 97)
        return kFp32.exponent(x) == 96 && kFp32.mantissa(x) >= 0x7fe000 ? kWide.pack(sign, 1, 0) : kWide.pack(sign, 0, 0);
    const double magnitude = std::abs(number(kFp32, x));
    return rounded(kWide, sign, magnitude);
}

std::uint32_t fraction_to_wide(std::uint64_t numerator)
{
    return numerator == 0 ? 0 : rounded(kWide, 0, static_cast<double>(numerator) * power(-35));
}

std::int16_t fp16_to_int16(std::uint16_t half)
{
    const double x = double_from_fp16(half);
    if (std::isnan(x)) return INT16_MIN;
    return static_cast<std::int16_t>(std::clamp(std::round(x), -32768.0, 32767.0));
}

}  // namespace dlasim::real
