// Names of causes, and sums over parts of a run.
#include "facts/causes.h"

#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>

namespace dlasim {
namespace {

TEST(Causes, EachHasANameOfItsOwn)
{
    std::set<std::string> paths;
    for (std::size_t i = 0; i < kCauses; ++i) EXPECT_TRUE(paths.insert(path_of({static_cast<Cause>(i)})).second);
}

/// docs/CAUSES.md has a row for each, with the sentence of the enumeration, in its order, and no other.
TEST(Causes, PageDefinesEach)
{
    std::ifstream page(DLASIM_CAUSES_PAGE);
    ASSERT_TRUE(page) << DLASIM_CAUSES_PAGE;
    std::vector<std::string> rows, want;
    for (std::string line; std::getline(page, line);)
        if (line.rfind("| `", 0) == 0 && line.rfind("| `--", 0) != 0) rows.push_back(line);
    for (std::size_t i = 0; i < kCauses; ++i) {
        const CauseName& name = name_of(static_cast<Cause>(i));
        std::ostringstream row;
        row << "| `" << name.group << '/' << name.name << (name.by_client ? "/CLIENT" : "") << "` | " << name.text << " |";
        want.push_back(row.str());
    }
    rows.resize(std::min(rows.size(), want.size() + 1));
    EXPECT_EQ(rows, want);
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

}  // namespace
}  // namespace dlasim
