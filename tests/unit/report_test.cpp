// Bounds by hand, and what result.json says.
#include <gtest/gtest.h>

#include "config/layer_reader.h"
#include "config/memory.h"
#include "facts/presets.h"
#include "report/result.h"

namespace dlasim {
namespace {

Layer layer_of(const std::string& text) { return layer_from_json(parse_json(text, "l.json"), "l.json", "", ""); }

std::uint64_t bound(const std::vector<Bound>& bounds, const std::string& name)
{
    for (const Bound& b : bounds)
        if (b.name == name) return b.cycles;
    ADD_FAILURE() << name;
    return 0;
}

constexpr const char* kRes3 =
    R"({"name": "res3", "input": {"width": 28, "height": 28, "channels": 128}, "kernel": {"width": 3, "height": 3, "count": 128},
    "pad": {"left": 1, "right": 1, "top": 1, "bottom": 1}})";

TEST(Report, TheBoundsOfAConvolutionAreWhatTheArithmeticSays)
{
    const Layer layer = layer_of(kRes3);
    const Hardware& hw = *find_preset("nv_large");
    const auto bounds = lower_bounds(plan_shape(layer, hw), layer, hw, parse_memory("ideal:interval=2"));
    EXPECT_EQ(bound(bounds, "mac"), 28u * 28 * 128 * 128 * 9 / (64 * 32));
    EXPECT_EQ(bound(bounds, "mac_array"), 28u * 28 * 2 * 9 * 4);
    EXPECT_EQ(bound(bounds, "weight_load"), 13u * 18 * 128);  // 784 atoms in stripes of 64
    EXPECT_EQ(bound(bounds, "sdp"), 28u * 28 * 4 * 2);        // 32 kernels in beats of 16
    EXPECT_EQ(bound(bounds, "cacc"), 28u * 28 * 4 * 3);       // and a pause between places
    EXPECT_EQ(bound(bounds, "dbb_read"), 2u * (28 * 28 * 128 + 128 * 128 * 9) / 32);
    EXPECT_EQ(bound(bounds, "dbb_write"), 28u * 28 * 128 / 32);
}

TEST(Report, AWindowIsTheDifferenceOfTwoSnapshots)
{
    UnitReport unit;
    unit.name = "CSC";
    unit.phases.enter(Phase::Issuing, 100);
    unit.phases.enter(Phase::Starved, 140);
    unit.phases.settle(145);
    unit.counters = {{"atoms", 7}};
    unit.clock_on = {{"csc", 45}};
    unit.extremes = {{"longest_stripe", 9}};
    const UnitReport before = unit;
    unit.phases.enter(Phase::Gated, 150);
    unit.phases.settle(400);
    unit.counters[0].second = 10;
    unit.clock_on[0].second = 50;
    const UnitReport window = unit.since(before);
    EXPECT_EQ(window.phases.cycles(Phase::Issuing), 0u);
    EXPECT_EQ(window.phases.cycles(Phase::Starved), 5u);
    EXPECT_EQ(window.phases.cycles(Phase::Gated), 250u);
    EXPECT_EQ(window.phases.total(), 400u - 145);
    EXPECT_EQ(window.counters[0].second, 3u);
    EXPECT_EQ(window.clock_on[0].second, 5u);
    EXPECT_EQ(window.extremes[0].second, 9u);
}

TEST(Report, TheResultHasTheKeysOfTheInterfacePage)
{
    const Layer layer = layer_of(kRes3);
    const Hardware& hw = *find_preset("nv_large");
    const MemorySpec memory;
    const Plan plan = plan_shape(layer, hw);
    RunResult run;
    run.interrupt_cycles = {100000};
    run.cycles = 100000;
    run.end = 110000;
    run.units.resize(1);
    run.units[0].name = "CMAC_A";
    run.units[0].phases.settle(100000);
    const LayerResult result{layer, hw, memory, plan, run, std::nullopt, 0.5};
    const OrderedJson json = result_json(result);
    for (const char* key : {"schema", "name", "hardware", "memory", "cycles", "macs", "mac_utilization", "verified", "mismatches", "units",
                            "traffic", "bounds", "wall_seconds", "simulated_cycles_per_second"})
        EXPECT_TRUE(json.contains(key)) << key;
    EXPECT_TRUE(json["verified"].is_null());
    EXPECT_EQ(json["units"]["CMAC_A"]["gated"], 100000);
    EXPECT_DOUBLE_EQ(json["mac_utilization"], 115605504.0 / (100000.0 * 2048));
}

}  // namespace
}  // namespace dlasim
