// Expressions of DRAM tables and of sweeps.
#include "base/files/expression.h"

#include <gmock/gmock.h>

#include "base/error.h"
#include "refusal.h"

namespace dlasim {
namespace expression_test {

using testing::HasSubstr;

ExpressionValue names(const std::string& name)
{
    if (name == "cbuf.banks") return std::int64_t{16};
    if (name == "cbuf.bank_depth") return std::int64_t{512};
    if (name == "area_mm2") return 2.5;
    if (name == "memory") return std::string("ddr4-2400");
    throw ConfigError("here", "no " + name);
}

std::int64_t number(const std::string& text) { return std::get<std::int64_t>(expression(text, "here", names)); }
std::string why(const std::string& text)
{
    return refusal([&] { expression(text, "here", names); });
}

TEST(Expression, ProductsBindTighterThanSumsAndSumsTighterThanComparisons)
{
    EXPECT_EQ(number("2 + 3 * 4 - 6 / 4"), 13);
    EXPECT_EQ(number("(2 + 3) * 4 % 7"), 6);
    EXPECT_EQ(number("cbuf.banks * cbuf.bank_depth <= 8192"), 1);
    EXPECT_EQ(number("cbuf.banks * cbuf.bank_depth < 8192"), 0);
    EXPECT_EQ(number("1 == 1 || 1 == 2 && 1 == 2"), 1);
    EXPECT_EQ(number("!(cbuf.banks > 8) && 1 < 2"), 0);
    EXPECT_EQ(number("max(1, cbuf.banks, 3) - min(4, 2)"), 14);
}

TEST(Expression, TheDivisionRoundsDown)
{
    EXPECT_EQ(number("7 / 2"), 3);
    EXPECT_EQ(number("-7 / 2"), -4);
    EXPECT_EQ(number("-7 % 4"), 1);
}

TEST(Expression, NumbersMayHaveAFraction)
{
    EXPECT_EQ(number("area_mm2 > 2"), 1);
    EXPECT_EQ(number("area_mm2 == 2.5 && area_mm2 <= 2.5 && !(area_mm2 != 2.5) && !(area_mm2 > 2.50)"), 1);
    EXPECT_EQ(number("cbuf.banks < 15.5 || 2 * area_mm2 >= 5.1"), 0);
    EXPECT_EQ(std::get<double>(expression("-(1 - area_mm2) / 2 + max(1, 0.25)", "here", names)), 1.75);
    EXPECT_THAT(why("area_mm2 % 2"), HasSubstr("no whole number"));
    EXPECT_THAT(why("1.5 / 0"), HasSubstr("divisor"));
    EXPECT_THAT(why("max(memory, 1.5)"), HasSubstr("is a text"));
    EXPECT_THAT(why("1."), HasSubstr("column 2"));
}

TEST(Expression, TextsAreEqualOrNot)
{
    EXPECT_EQ(number("memory == 'ddr4-2400' && memory != 'ideal'"), 1);
    EXPECT_THAT(why("memory < 'hbm2'"), HasSubstr("can be compared by == and !="));
    EXPECT_THAT(why("memory == 3"), HasSubstr("a text is compared with a number"));
}

TEST(Expression, WhatCannotBeReadIsRefusedWithItsColumn)
{
    EXPECT_THAT(why("1 + "), HasSubstr("at column 5"));
    EXPECT_THAT(why("1 < 2 < 3"), HasSubstr("column 7"));
    EXPECT_THAT(why("cbuf.bank"), HasSubstr("no cbuf.bank"));
    EXPECT_THAT(why("1 || cbuf.bank"), HasSubstr("no cbuf.bank"));
    EXPECT_THAT(why("1 / 0"), HasSubstr("divisor"));
    EXPECT_THAT(why("'open"), HasSubstr("no end"));
    EXPECT_THAT(why("1000000000000 * 1000000000000"), HasSubstr("64 bits"));
    EXPECT_THAT(why(std::string("1").insert(0, 40, '(')), HasSubstr("nested"));
    EXPECT_THAT(why(std::string("1").insert(0, 40, '-')), HasSubstr("nested"));
}

TEST(Expression, ASumOfADramTableHasNoComparison)
{
    const auto value_of = [](const std::string&) { return std::int64_t{4}; };
    EXPECT_EQ(arithmetic("max(BL/2, tCCD_L) + 1", "here", value_of), 5);
    EXPECT_THAT(refusal([&] { arithmetic("BL < 2", "here", value_of); }), HasSubstr("timing names"));
    EXPECT_THAT(refusal([&] { arithmetic("BL * 1.5", "here", value_of); }), HasSubstr("no whole number"));
}

}  // namespace expression_test
}  // namespace dlasim
