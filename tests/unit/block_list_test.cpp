// Items by number, against a deque.
#include "base/block_list.h"

#include <gtest/gtest.h>

#include <deque>
#include <random>

namespace dlasim {
namespace block_list_test {

TEST(BlockList, IsADequeByNumber)
{
    std::mt19937 random(7);
    BlockList<std::uint64_t> list;
    std::deque<std::uint64_t> want;
    std::uint64_t base = 0, next = 0;
    for (int round = 0; round < 3000; ++round) {
        for (unsigned more = random() % 300; more != 0; --more) {
            list.extend() = next * 3;
            want.push_back(next++ * 3);
        }
        const auto forgotten = static_cast<std::uint64_t>(round % 7 == 0 ? want.size() : random() % (want.size() + 1));
        base += forgotten;
        list.forget(base);
        want.erase(want.begin(), want.begin() + static_cast<std::ptrdiff_t>(forgotten));
        ASSERT_EQ(list.base(), base);
        ASSERT_EQ(list.end(), next);
        ASSERT_FALSE(list.has(next));
        ASSERT_TRUE(base == 0 || !list.has(base - 1));
        for (std::uint64_t n = base; n < next; ++n) ASSERT_EQ(list[n], want[n - base]);
        for (std::uint64_t n = base; n + 1 < next; ++n) ASSERT_EQ(list.next(&list[n], n + 1), &list[n + 1]);
    }
}

TEST(BlockList, ItemsStayWhereTheyAre)
{
    BlockList<int> list;
    int* const first = &list.extend();
    for (int i = 0; i < 10000; ++i) list.extend() = i;
    EXPECT_EQ(first, &list[0]);
}

}  // namespace block_list_test
}  // namespace dlasim
