// Names of causes, and sums over parts of a run.
#include "facts/causes.h"

#include <gtest/gtest.h>

#include <set>

namespace dlasim {
namespace causes_test {

TEST(Causes, EachHasANameOfItsOwn)
{
    std::set<std::string> paths;
    for (std::size_t i = 0; i < kCauses; ++i) EXPECT_TRUE(paths.insert(path_of({static_cast<Cause>(i)})).second);
}

Causes example()
{
    Causes causes;
    causes.slices = {{10, {{{Cause::StartUp}, 4}, {{Cause::Computing}, 6}}}, {30, {{{Cause::Latency, 9}, 20}}}};
    return causes;
}

TEST(Causes, PartsAddUp)
{
    const Causes causes = example();
    EXPECT_EQ(sum_of(causes.total()), 30u);
    EXPECT_EQ(causes.between(10, 30), (std::vector<CauseCycles>{{{Cause::Latency, 9}, 20}}));
    for (Cycle cut = 0; cut <= 30; ++cut) {
        EXPECT_EQ(sum_of(causes.between(0, cut)), cut);
        EXPECT_EQ(sum_of(causes.between(cut, 30)), 30 - cut);
    }
}

TEST(Causes, WhatWasBeforeTheMarkIsLeftOut)
{
    const Causes later = example().after(7, 20);
    EXPECT_EQ(later.total(), (std::vector<CauseCycles>{{{Cause::Computing}, 3}, {{Cause::Latency, 9}, 10}}));
    EXPECT_EQ(later.slices.back().end, 13u);
}

TEST(Causes, PathsNameTheClient)
{
    EXPECT_EQ(path_of({Cause::Latency, 9}), "memory/latency/CDMA_WT");
    EXPECT_EQ(path_of({Cause::Computing}), "array/computing");
}

}  // namespace causes_test
}  // namespace dlasim
