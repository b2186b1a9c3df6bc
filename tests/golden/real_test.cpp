// Two descriptions of the floating point agree: the golden one, in doubles, and the machine's, in integers.
#include "golden/real.h"

#include <gtest/gtest.h>

#include <random>

#include "numerics/fp.h"

namespace dlasim {
namespace real_test {

TEST(Real, ConversionsOfEveryHalfAreThoseOfTheMachine)
{
    for (std::uint32_t x = 0; x < 65536; ++x) {
        const auto half = static_cast<std::uint16_t>(x);
        ASSERT_EQ(real::widen_fp16(real::kFp32, half), numerics::fp16_to_fp32(half)) << x;
        ASSERT_EQ(real::widen_fp16(real::kWide, half), numerics::fp16_to_fp17(half)) << x;
        if ((x & 0x7fff) == 0x7c00) continue;  // no infinity comes here
        ASSERT_EQ(real::fp16_to_int16(half), numerics::fp16_to_int16(half)) << x;
    }
}

TEST(Real, ConversionsOfEveryFp17AreThoseOfTheMachine)
{
    for (std::uint32_t x = 0; x < 1u << 17; ++x) {
        ASSERT_EQ(real::wide_to_half(x), numerics::fp17_to_fp16(x)) << x;
        if ((x & 0xffff) < 1024 && (x & 0xffff) != 0) continue;  // nothing makes a denormal
        ASSERT_EQ(real::wide_to_single(x), numerics::fp17_to_fp32(x)) << x;
    }
}

/// Patterns that meet the edges: equal and neighbouring exponents, mantissas of all ones, zeros, NaN, the largest.
std::uint32_t pattern(std::mt19937& random, const real::Format& f, std::uint32_t near)
{
    const auto bits = [&](int count) { return static_cast<std::uint32_t>(random()) & ((1u << count) - 1); };
    std::uint32_t e = bits(f.exponent_bits), m = bits(f.mantissa_bits);
    const unsigned kind = static_cast<unsigned>(random() % 16);
    if (kind < 8) e = (f.exponent(near) + bits(2) - 1) & f.largest_exponent();
    if (kind % 4 == 1) m = 0;
    if (kind % 4 == 2) m = ((1u << f.mantissa_bits) - 1) ^ bits(2);
    if (kind == 15) e = m = 0;
    if (kind == 14) e = f.largest_exponent() - 1;
    return f.pack(bits(1), e, m);
}

template <class Machine>
void expect_equal_arithmetic(const real::Format& f)
{
    std::mt19937 random{7};
    std::uint32_t last = 0;
    for (int trial = 0; trial < 2'000'000; ++trial) {
        const std::uint32_t a = pattern(random, f, last), b = pattern(random, f, a);
        last = random() % 50 == 0 ? static_cast<std::uint32_t>(random()) : a;
        ASSERT_EQ(real::add(f, a, b), numerics::fp_add<Machine>(a, b)) << std::hex << a << " " << b;
        ASSERT_EQ(real::multiply(f, a, b), numerics::fp_multiply<Machine>(a, b)) << std::hex << a << " " << b;
    }
}

TEST(Real, SumsAndProductsOfFp32AreThoseOfTheMachine) { expect_equal_arithmetic<numerics::Fp32>(real::kFp32); }
TEST(Real, SumsAndProductsOfFp17AreThoseOfTheMachine) { expect_equal_arithmetic<numerics::Fp17>(real::kWide); }

TEST(Real, LargerSmallerAndNarrowingAreThoseOfTheMachine)
{
    std::mt19937 random{8};
    std::uint32_t last = 0;
    for (int trial = 0; trial < 2'000'000; ++trial) {
        const std::uint32_t a = pattern(random, real::kFp32, last), b = pattern(random, real::kFp32, a);
        last = random() % 20 == 0 ? real::kFp32.pack(0, 90 + random() % 70, 0) : a;
        ASSERT_EQ(real::larger(real::kFp32, a, b), numerics::fp32_max(a, b)) << std::hex << a << " " << b;
        ASSERT_EQ(real::smaller(real::kFp32, a, b), numerics::fp32_min(a, b)) << std::hex << a << " " << b;
        ASSERT_EQ(real::single_to_half(a), numerics::fp32_to_fp16(a)) << std::hex << a;
        ASSERT_EQ(real::single_to_wide(a), numerics::fp32_to_fp17(a)) << std::hex << a;
    }
}

}  // namespace real_test
}  // namespace dlasim
