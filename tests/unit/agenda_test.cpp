// The agenda against a plain set of (cycle, unit).
#include "links/agenda.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace dlasim {
namespace {

TEST(Agenda, IsEmptyAtFirst)
{
    Agenda agenda;
    EXPECT_EQ(agenda.next(), kNever);
    EXPECT_EQ(agenda.take(1000), 0u);
}

TEST(Agenda, WhatIsAddedForACycleThatWasEvaluatedIsDueAtOnce)
{
    Agenda agenda;
    agenda.add(3, 10);
    EXPECT_EQ(agenda.take(10), 1u << 3);
    agenda.add(5, 10);
    EXPECT_EQ(agenda.next(), 10u);
    EXPECT_EQ(agenda.take(10), 1u << 5);
    EXPECT_EQ(agenda.next(), kNever);
}

TEST(Agenda, ACycleInWhichNobodyIsDueIsEvaluatedToo)
{
    Agenda agenda;
    EXPECT_EQ(agenda.take(1), 0u);
    agenda.add(3, 1);
    EXPECT_EQ(agenda.next(), 1u);
    agenda.add(4, 65);
    EXPECT_EQ(agenda.take(1), 1u << 3);
    EXPECT_EQ(agenda.next(), 65u);
    EXPECT_EQ(agenda.take(65), 1u << 4);
}

TEST(Agenda, AgreesWithASet)
{
    std::mt19937 random(1);
    Agenda agenda;
    std::set<std::pair<Cycle, unsigned>> expected;
    Cycle now = 0;
    for (unsigned round = 0; round < 20000; ++round) {
        for (unsigned n = random() % 4; n != 0; --n) {
            const Cycle at = now + 1 + random() % (random() % 8 == 0 ? 500 : 5);
            const unsigned unit = random() % Agenda::kUnits;
            agenda.add(unit, at);
            expected.insert({at, unit});
        }
        ASSERT_EQ(agenda.next(), expected.empty() ? kNever : expected.begin()->first);
        if (expected.empty()) continue;
        now = expected.begin()->first;
        std::uint64_t due = 0;
        for (; !expected.empty() && expected.begin()->first == now; expected.erase(expected.begin()))
            due |= std::uint64_t{1} << expected.begin()->second;
        ASSERT_EQ(agenda.take(now), due) << now;
    }
}

}  // namespace
}  // namespace dlasim
