// Room in a memory for a while. Expected values by hand, and by trying everything.
#include "network/allocation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

namespace dlasim {
namespace allocation_test {

void check(const std::vector<Allocation>& allocations, const Arrangement& arrangement, std::uint64_t capacity)
{
    std::uint64_t saved = 0;
    for (std::size_t a = 0; a < allocations.size(); ++a) {
        if (!arrangement.at[a]) continue;
        saved += allocations[a].saved;
        EXPECT_EQ(*arrangement.at[a] % 256, 0u);
        EXPECT_LE(*arrangement.at[a] + allocations[a].bytes, std::min(arrangement.peak, capacity));
        for (std::size_t b = a + 1; b < allocations.size(); ++b) {
            if (!arrangement.at[b] || allocations[a].begin >= allocations[b].end || allocations[b].begin >= allocations[a].end) continue;
            EXPECT_TRUE(*arrangement.at[a] + allocations[a].bytes <= *arrangement.at[b] ||
                        *arrangement.at[b] + allocations[b].bytes <= *arrangement.at[a]);
        }
    }
    EXPECT_EQ(saved, arrangement.saved);
}

TEST(Rooms, WhatIsOverMakesRoom)
{
    // A chain: each tensor is needed by the step that writes it and by the next one.
    const std::vector<Allocation> chain{{1000, 0, 2}, {500, 1, 3}, {1000, 2, 4}, {500, 3, 5}};
    const Arrangement all = arrange(chain);
    check(chain, all, UINT64_MAX);
    EXPECT_EQ(all.peak, 1024u + 500u);
}

TEST(Rooms, WhatSavesMostForItsRoomAndTimeStaysOnTheChip)
{
    // The first one holds the room for ten steps, for what each of the others saves in one.
    std::vector<Allocation> allocations{{512, 0, 10, 100}};
    for (std::size_t i = 0; i < 10; ++i) allocations.push_back({512, i, i + 1, 100});
    const Arrangement chosen = choose(allocations, 512);
    check(allocations, chosen, 512);
    EXPECT_FALSE(chosen.at.front());
    EXPECT_EQ(chosen.saved, 1000u);
    EXPECT_EQ(choose(allocations, 1024).saved, 1100u);
    EXPECT_EQ(choose(allocations, 511).saved, 0u);
}

/// The most that can be saved if what is there at one time may stand anywhere, even in pieces: a bound.
std::uint64_t most(const std::vector<Allocation>& allocations, std::uint64_t capacity)
{
    std::uint64_t best = 0;
    for (std::size_t set = 0; set < std::size_t{1} << allocations.size(); ++set) {
        std::uint64_t saved = 0, largest = 0;
        for (std::size_t t = 0; t < 12; ++t) {
            std::uint64_t bytes = 0;
            for (std::size_t i = 0; i < allocations.size(); ++i)
                if (set >> i & 1 && allocations[i].begin <= t && t < allocations[i].end) bytes += allocations[i].bytes;
            largest = std::max(largest, bytes);
        }
        for (std::size_t i = 0; i < allocations.size(); ++i) saved += set >> i & 1 ? allocations[i].saved : 0;
        if (largest <= capacity) best = std::max(best, saved);
    }
    return best;
}

TEST(Rooms, LittleIsLostAgainstTheBestChoice)
{
    std::mt19937 random(1);
    double chosen = 0, possible = 0;
    for (int round = 0; round < 200; ++round) {
        std::vector<Allocation> allocations(9);
        for (Allocation& allocation : allocations) {
            allocation.bytes = 256 * (1 + random() % 8);
            allocation.begin = random() % 10;
            allocation.end = allocation.begin + 1 + random() % std::min<std::size_t>(4, 12 - allocation.begin - 1);
            allocation.saved = allocation.bytes * (1 + random() % 3);
        }
        const Arrangement arrangement = choose(allocations, 2048);
        check(allocations, arrangement, 2048);
        const std::uint64_t bound = most(allocations, 2048);
        EXPECT_LE(arrangement.saved, bound);
        EXPECT_GE(static_cast<double>(arrangement.saved), 0.75 * static_cast<double>(bound));
        chosen += static_cast<double>(arrangement.saved);
        possible += static_cast<double>(bound);
    }
    EXPECT_GE(chosen, 0.96 * possible);
}

}  // namespace allocation_test
}  // namespace dlasim
