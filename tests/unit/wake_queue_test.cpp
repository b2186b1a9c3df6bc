// The wake_queue against a plain set of (cycle, unit).
#include "links/wake_queue.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace dlasim {
namespace wake_queue_test {

TEST(WakeQueue, IsEmptyAtFirst)
{
    WakeQueue wake_queue;
    EXPECT_EQ(wake_queue.next(), kNever);
    EXPECT_EQ(wake_queue.take(1000), 0u);
}

TEST(WakeQueue, WhatIsAddedForACycleThatWasEvaluatedIsDueAtOnce)
{
    WakeQueue wake_queue;
    wake_queue.add(3, 10);
    EXPECT_EQ(wake_queue.take(10), 1u << 3);
    wake_queue.add(5, 10);
    EXPECT_EQ(wake_queue.next(), 10u);
    EXPECT_EQ(wake_queue.take(10), 1u << 5);
    EXPECT_EQ(wake_queue.next(), kNever);
}

TEST(WakeQueue, ACycleInWhichNobodyIsDueIsEvaluatedToo)
{
    WakeQueue wake_queue;
    EXPECT_EQ(wake_queue.take(1), 0u);
    wake_queue.add(3, 1);
    EXPECT_EQ(wake_queue.next(), 1u);
    wake_queue.add(4, 65);
    EXPECT_EQ(wake_queue.take(1), 1u << 3);
    EXPECT_EQ(wake_queue.next(), 65u);
    EXPECT_EQ(wake_queue.take(65), 1u << 4);
}

TEST(WakeQueue, AgreesWithASet)
{
    std::mt19937 random(1);
    WakeQueue wake_queue;
    std::set<std::pair<Cycle, unsigned>> expected;
    Cycle now = 0;
    for (unsigned round = 0; round < 20000; ++round) {
        for (unsigned n = random() % 4; n != 0; --n) {
            const Cycle at = now + 1 + random() % (random() % 8 == 0 ? 500 : 5);
            const unsigned unit = random() % WakeQueue::kUnits;
            wake_queue.add(unit, at);
            expected.insert({at, unit});
        }
        ASSERT_EQ(wake_queue.next(), expected.empty() ? kNever : expected.begin()->first);
        if (expected.empty()) continue;
        now = expected.begin()->first;
        std::uint64_t due = 0;
        for (; !expected.empty() && expected.begin()->first == now; expected.erase(expected.begin()))
            due |= std::uint64_t{1} << expected.begin()->second;
        ASSERT_EQ(wake_queue.take(now), due) << now;
    }
}

}  // namespace wake_queue_test
}  // namespace dlasim
