// The gated clocks of a unit: runs that are said ahead of time, and the idle runs between them.
#include "links/gated_clock.h"

#include <gtest/gtest.h>

#include <vector>

namespace dlasim {

struct TwoDomains {
    std::uint64_t first = 0;
    std::optional<std::uint64_t> second;
};
template <>
inline constexpr auto counters<TwoDomains> = std::array{
    clock_domain("first", &TwoDomains::first, "", ""),
    clock_domain("second", &TwoDomains::second, "", ""),
};

namespace gated_clock_test {

using Runs = std::vector<IdleRuns::Class>;

TEST(GatedClocks, ARunThatBeginsWhereOneEndsGoesOnWithIt)
{
    ProbeSet probes;
    GatedClocks<TwoDomains> clocks;
    clocks.attach(probes, "unit");
    clocks.on(10, &TwoDomains::first);
    clocks.off(20);
    clocks.on(20, &TwoDomains::first);  // at once
    clocks.off(30);
    clocks.on(31, &TwoDomains::first);  // a cycle later
    TwoDomains counted;
    clocks.count(counted, 35);
    EXPECT_EQ(counted.first, 20u + 4);
    EXPECT_EQ(counted.second, 0u);
    const std::vector<Probe::Run> runs = probes.get("clock_on_unit_first")->runs(0, 35);
    ASSERT_EQ(runs.size(), 2u);
    EXPECT_EQ(runs[0].length, 20u);
    EXPECT_EQ(runs[1].start, 31u);
    EXPECT_EQ(clocks.idle().classes(), (Runs{{1, 1}}));
}

TEST(GatedClocks, AUnitIsIdleWhereNoDomainRuns)
{
    GatedClocks<TwoDomains> clocks;
    clocks.on(100, &TwoDomains::first);  // what was before it is no run between two
    clocks.on(110, &TwoDomains::second);
    clocks.off(120, &TwoDomains::first);
    clocks.off(125, &TwoDomains::second);
    clocks.on(130, &TwoDomains::first);
    const IdleRuns before = clocks.idle();
    EXPECT_EQ(before.classes(), (Runs{{}, {}, {1, 5}}));  // from 125, not from 120
    clocks.off(140);
    clocks.on(147, &TwoDomains::second);
    clocks.off(150);
    clocks.on(158, &TwoDomains::second);
    EXPECT_EQ(clocks.idle().since(before).classes(), (Runs{{}, {}, {1, 7}, {1, 8}}));
}

TEST(GatedClocks, ADomainThatAMachineLacksIsNotCounted)
{
    ProbeSet probes;
    GatedClocks<TwoDomains> clocks(false);
    clocks.attach(probes, "unit");
    clocks.on(1, &TwoDomains::first, &TwoDomains::second);
    TwoDomains counted;
    clocks.count(counted, 10);
    EXPECT_EQ(counted.first, 9u);
    EXPECT_FALSE(counted.second);
    EXPECT_EQ(probes.all().size(), 1u);
}

}  // namespace gated_clock_test
}  // namespace dlasim
