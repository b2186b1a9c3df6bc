#include "app/optimise/objective.h"

#include <gtest/gtest.h>

#include <limits>

#include "base/error.h"

namespace dlasim {
namespace objective_test {

using Score = Objective::Score;

TriedProgram program(double cycles, double energy, double dbb_bytes = 0)
{
    nlohmann::ordered_json row{{"cycles", cycles}, {"total_uj", energy}, {"dbb_read_bytes", dbb_bytes}, {"frames_per_s", 1e9 / cycles}};
    return {figures_in_order(row), {}};
}

std::size_t best(const std::vector<Score>& scores, double near) { return Objective::best_of(scores, near); }

TEST(Objective, TheFewestBytesDecideAmongNearTies)
{
    const std::vector<Score> scores{{.cost = 1000, .dbb_bytes = 80}, {.cost = 996, .dbb_bytes = 90}, {.cost = 1001, .dbb_bytes = 70}};
    EXPECT_EQ(best(scores, 0), 1u);
    EXPECT_EQ(best(scores, 3.9), 1u);
    EXPECT_EQ(best(scores, 4), 0u);
    EXPECT_EQ(best(scores, 5), 2u);
}

TEST(Objective, WhatMissesRequirementsIsWorseThanWhatMeetsThem)
{
    const std::vector<Score> scores{{.missed = 0.2, .cost = 10}, {.missed = 0, .cost = 1000}, {.missed = 0.1, .cost = 1}};
    EXPECT_EQ(best(scores, 0), 1u);
    EXPECT_EQ(best({scores[0], scores[2]}, 0), 1u);
}

TEST(Objective, EqualScoresKeepTheFirst) { EXPECT_EQ(best({{.cost = 5, .dbb_bytes = 1}, {.cost = 5, .dbb_bytes = 1}}, 0), 0u); }

TEST(Objective, EnergyRisesByFivePercentUnlessItIsAskedFor)
{
    Objective usual("", "", {});
    usual.limit_energy(program(100, 10), program(100, 10));
    EXPECT_EQ(usual.required(), "total_uj <= 10.5");
    EXPECT_EQ(usual.score(program(90, 10.5)).missed, 0);
    EXPECT_GT(usual.score(program(90, 10.6)).missed, 0);
    EXPECT_EQ(usual.missed(program(90, 10.6)), "total_uj <= 10.5: 10.6");
    for (Objective asked : {Objective("total_uj", "", {}), Objective("", "power_mw < 3", {}), Objective("cycles * total_uj", "", {})}) {
        const std::string before = asked.required();
        asked.limit_energy(program(100, 10), program(100, 10));
        EXPECT_EQ(asked.required(), before);
    }
    Objective given("", "cycles < 1000", {});
    given.limit_energy(program(100, 10), program(90, 12));  // the file's program takes more
    EXPECT_EQ(given.required(), "cycles < 1000 && total_uj <= 12");
    Objective unknown("", "", {});
    const double none = std::numeric_limits<double>::quiet_NaN();
    unknown.limit_energy(program(100, none), program(100, none));
    EXPECT_EQ(unknown.required(), "");
}

TEST(Objective, MoreFramesAreBetter)
{
    const Objective frames("fps", "", {});
    EXPECT_EQ(best({frames.score(program(100, 1)), frames.score(program(90, 1))}, 0), 1u);
    EXPECT_EQ(frames.value_of(frames.score(program(100, 1)).cost), 1e7);
}

TEST(Objective, BoundsExcludeWhatCannotBeBetter)
{
    const Objective fewest("", "", {});
    const Score score = fewest.score(program(1000, 1));
    EXPECT_FALSE(fewest.cannot_gain(999, score, 0));
    EXPECT_TRUE(fewest.cannot_gain(1000, score, 0));
    EXPECT_FALSE(fewest.cannot_gain(1000, score, 5));
    EXPECT_TRUE(fewest.cannot_gain(1005, score, 5));
    const Objective product("cycles * total_uj", "", {}), energy("total_uj", "cycles <= 1100", {});
    EXPECT_FALSE(product.cannot_gain(100'000, product.score(program(1000, 1)), 0));  // nothing is known of the energy
    EXPECT_FALSE(energy.cannot_gain(1100, energy.score(program(1000, 1)), 0));
    EXPECT_TRUE(energy.cannot_gain(1200, energy.score(program(1000, 1)), 0));
    EXPECT_FALSE(energy.cannot_gain(1200, energy.score(program(2000, 1)), 0));  // it would miss less
}

TEST(Objective, FewestBytesOfANetworkThatMinimisesTraffic)
{
    Network network;
    network.minimise = Minimise::Traffic;
    EXPECT_EQ(Objective("", "", network).best(), "dbb_read_bytes + dbb_write_bytes");
    EXPECT_EQ(Objective("cycles", "", network).best(), "cycles");
    EXPECT_THROW(Objective("cycle", "", network), ConfigError);
}

}  // namespace objective_test
}  // namespace dlasim
