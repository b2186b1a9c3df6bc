// Bounds by hand, and what result.json says.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "config/layer/layer_reader.h"
#include "config/machine/memory.h"
#include "facts/presets.h"
#include "jobs/advice.h"
#include "jobs/traffic.h"
#include "report/result.h"

namespace dlasim {
namespace report_test {

Layer layer_of(const std::string& text) { return layer_from_json(parse_json(text, "l.json"), "l.json", "", ""); }

std::uint64_t bound(const std::vector<Bound>& bounds, const std::string& name)
{
    for (const Bound& b : bounds)
        if (b.name() == name) return b.cycles;
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
    // Two cycles apart.
    EXPECT_EQ(bound(bounds, "dbb_read"), 2u * ((28 * 28 * 128 + 128 * 128 * 9) / 32 - 1) + 1);
    EXPECT_EQ(bound(bounds, "dbb_write"), 28u * 28 * 128 / 32);
}

TEST(Report, ADramHasBoundsOfItsOwnAndTheBindingOneIsNamed)
{
    // fc7 of AlexNet: 16.8 MB of weights at 19.2 GB/s, far more than any unit takes.
    const Layer layer =
        layer_of(R"({"op": "fully_connected", "input": {"width": 1, "height": 1, "channels": 4096}, "kernel": {"count": 4096}})");
    const Hardware& hw = *find_preset("nv_full");
    const auto bounds = lower_bounds(plan_shape(layer, hw), layer, hw, parse_memory("ddr4-2400"));
    // 64 bytes in 4 cycles of 0.833 ns; not counted are twice 32 writes and 32 reads that may still be queued.
    const double bursts = (4096.0 * 4096 + 2 * 4096) / 64 - 96;
    EXPECT_NEAR(static_cast<double>(bound(bounds, "dram_peak")), bursts * 4 * 0.833, 2);
    EXPECT_GT(bound(bounds, "dram_refresh"), bound(bounds, "dram_peak") * 104 / 100);  // 420 of 9364 cycles
    EXPECT_LT(bound(bounds, "dram_refresh"), bound(bounds, "dram_peak") * 106 / 100);
    EXPECT_EQ(binding(bounds).name(), "dram_refresh");
    EXPECT_EQ(binding(lower_bounds(plan_shape(layer, hw), layer, hw, MemorySpec{})).name(), "dbb_read");
    const auto half = lower_bounds(plan_shape(layer, hw), layer, hw, parse_memory("ddr4-2400:channels=2"));
    EXPECT_NEAR(static_cast<double>(bound(half, "dram_peak")), (bursts / 2 - 48) * 4 * 0.833, 2);
}

TEST(Report, WinogradHasTwoFiguresAndTheArrayIsNeverBusierThanAlways)
{
    const Layer layer = layer_of(
        R"({"input": {"width": 32, "height": 32, "channels": 64}, "kernel": {"width": 3, "height": 3, "count": 64}, "mode": "winograd",
            "pad": {"left": 1, "right": 1, "top": 1, "bottom": 1}})");
    const Hardware& hw = *find_preset("nv_full");
    const MemorySpec memory;
    const Job job = job_of(layer, hw, memory);
    RunResult run;
    run.cycles = largest(job.bounds);
    const OrderedJson json = result_json(Result{job, run, nullptr});
    EXPECT_GT(json["utilization"], 1.0);
    EXPECT_DOUBLE_EQ(json["array_occupancy"], 1.0);
    EXPECT_EQ(json["bound"], "mac");  // the first of two equal ones
    EXPECT_DOUBLE_EQ(json["bound_share"], 1.0);
}

TEST(Report, ATransferIsAJobLikeALayer)
{
    const char* copy =
        R"({"name": "spill", "op": "bdma", "blocks": [{"source": 0, "destination": 4096, "line_bytes": 64}, {"group": 1, "source": 8192, "destination": 16384, "line_bytes": 32}]})";
    const Job job = job_of(descriptor_from_json(parse_json(copy, "t.json"), "t.json", "", ""), *find_preset("nv_full"), MemorySpec{});
    RunResult run;
    run.cycles = 200;
    run.done.resize(1);
    run.done[0].cycle = 150;
    const Result result{job, run, nullptr};
    const OrderedJson json = result_json(result);
    EXPECT_EQ(json["macs"], 0);
    EXPECT_FALSE(json.contains("array_occupancy"));
    EXPECT_EQ(json["plan"]["launches"][0]["done"], 150);
    EXPECT_TRUE(json["plan"]["launches"][1]["done"].is_null());
    EXPECT_EQ(json["bounds"]["bdma_load"], 2);
    EXPECT_FALSE(job.tensor);
    EXPECT_THAT(summary_table(result), testing::HasSubstr("200, 0.48 bytes a cycle"));  // 96 bytes
}

TEST(Report, AFirstLayerAsFeatureDataIsToldWhatItCosts)
{
    const auto advice = [](const std::string& input, const std::string& more, const char* hw) {
        const Layer layer = layer_of(R"({"input": {"width": 64, "height": 64, )" + input +
                                     R"(}, "kernel": {"width": 7, "height": 7, "count": 32}, "stride": {"x": 2, "y": 2})" + more + "}");
        return advice_on(plan_shape(layer, *find_preset(hw)), layer, *find_preset(hw), MemorySpec{});
    };
    const auto rgb = advice(R"("channels": 3)", "", "nv_full");
    ASSERT_EQ(rgb.size(), 1u);
    EXPECT_THAT(rgb[0],
                testing::HasSubstr("3 channels of feature data fill 3 of the array's 64 lanes: at least 41209 cycles"));  // 29 * 29 * 49
    EXPECT_THAT(rgb[0], testing::HasSubstr("\"T_A8B8G8R8\"}, 4 components with weights 0"));
    EXPECT_THAT(advice(R"("channels": 1)", R"(, "precision": "fp16")", "nv_full").at(0), testing::HasSubstr("\"T_R16_F\"}) it"));
    EXPECT_TRUE(advice(R"("channels": 3)", R"(, "mode": "direct")", "nv_full").empty());  // asked for
    EXPECT_TRUE(advice(R"("format": "T_A8B8G8R8")", "", "nv_full").empty());
    EXPECT_TRUE(advice(R"("channels": 16)", "", "nv_full").empty());
}

/// A unit that counts one of each kind.
struct Counted {
    std::uint64_t atoms = 0, longest = 0, clock = 0;
    std::optional<std::uint64_t> maybe;
    std::vector<std::uint64_t> cells;
};

}  // namespace report_test

template <>
inline constexpr auto counters<report_test::Counted> = std::array{
    counter("atoms", &report_test::Counted::atoms, "atoms", "taken", "csc.md 1.5"),
    counter("cell_#", &report_test::Counted::cells, "atoms", "of a cell", "csc.md 1.5"),
    counter("maybe", &report_test::Counted::maybe, "atoms", "not always", "csc.md 1.5", "sometimes"),
    extreme("longest", &report_test::Counted::longest, "atoms", "of all", "csc.md 1.5"),
    clock_domain("csc", &report_test::Counted::clock, "all of it", "csc.md 3"),
};

namespace report_test {

using Value = CounterValues::value_type;

TEST(Report, AWindowIsTheDifferenceOfTwoSnapshots)
{
    PhaseLog phases;
    phases.enter(Phase::Issuing, 100);
    phases.enter(Phase::Starved, 140);
    phases.account_until(145);
    const UnitReport before("CSC", phases, Counted{.atoms = 7, .longest = 9, .clock = 45, .maybe = {}, .cells = {1, 2}});
    phases.enter(Phase::Gated, 150);
    phases.account_until(400);
    const UnitReport after("CSC", phases, Counted{.atoms = 10, .longest = 9, .clock = 50, .maybe = 3, .cells = {1, 6}});
    const UnitReport window = after.since(before);
    EXPECT_EQ(window.phases.cycles(Phase::Issuing), 0u);
    EXPECT_EQ(window.phases.cycles(Phase::Starved), 5u);
    EXPECT_EQ(window.phases.cycles(Phase::Gated), 250u);
    EXPECT_EQ(window.phases.total(), 400u - 145);
    EXPECT_THAT(window.counters,
                testing::ElementsAre(Value("atoms", 3), Value("cell_0", 0), Value("cell_1", 4), Value("maybe", 3), Value("longest", 9)));
    EXPECT_THAT(before.counters, testing::ElementsAre(Value("atoms", 7), Value("cell_0", 1), Value("cell_1", 2), Value("longest", 9)));
    EXPECT_THAT(window.clock_on, testing::ElementsAre(Value("csc", 5)));
}

TEST(Report, TheResultHasTheKeysOfTheInterfacePage)
{
    const Layer layer = layer_of(kRes3);
    const Hardware& hw = *find_preset("nv_large");
    const MemorySpec memory;
    const Job job = job_of(layer, hw, memory);
    RunResult run;
    run.interrupt_cycles = {100000};
    run.cycles = 100000;
    run.end = 110000;
    run.units.resize(1);
    run.units[0].name = "CMAC_A";
    run.units[0].phases.account_until(100000);
    const Result result{job, run, nullptr};
    const OrderedJson json = result_json(result);
    for (const char* key : {"schema", "name", "hardware", "memory", "cycles", "macs", "utilization", "verified", "mismatches", "units",
                            "traffic", "bounds", "wall_seconds", "simulated_cycles_per_second"})
        EXPECT_TRUE(json.contains(key)) << key;
    EXPECT_TRUE(json["verified"].is_null());
    EXPECT_EQ(json["units"]["CMAC_A"]["gated"], 100000);
    EXPECT_DOUBLE_EQ(json["utilization"], 115605504.0 / (100000.0 * 2048));
}

// ---- what moves

Traffic traffic(const std::string& partition)
{
    // 20 lines of 16 pixels and 32 channels: 10240 bytes; 32 kernels of 3 x 3 x 32: 9216 bytes.
    const std::string text = R"({"input": {"width": 16, "height": 20, "channels": 32}, "kernel": {"width": 3, "height": 3, "count": 32},
                                 "pad": {"left": 1, "right": 1, "top": 1, "bottom": 1}, "partition": )" +
                             partition + "}";
    const Layer layer = layer_from_json(parse_json(text, "l.json"), "l.json", "", "");
    const Hardware& hw = *find_preset("nv_small");
    return traffic_of(plan_shape(layer, hw), layer, hw);
}

TEST(Traffic, WhatIsFetchedAgainCountsAgain)
{
    const Traffic once = traffic(R"({"rows": 5, "reuse_data": true, "reuse_weights": true})"), again = traffic(R"({"rows": 5})");
    ASSERT_EQ(once.tensors.size(), 3u);
    EXPECT_EQ(once.moved(), 10240u + 9216 + 10240);
    EXPECT_EQ(once.compulsory(), once.moved());
    EXPECT_EQ(again.tensors[0].moved, 10240u + 3 * 2 * 512);  // four parts, neighbours share two lines
    EXPECT_EQ(again.tensors[1].moved, 4u * 9216);
    EXPECT_EQ(again.tensors[1].times(), 4.0);
    EXPECT_EQ(again.compulsory(), once.compulsory());
}

TEST(Traffic, TheCommunicationBoundIsThatOfTheFormula)
{
    // 2 * 2359296 / sqrt(9 * 1024) - 2 * 1024
    EXPECT_DOUBLE_EQ(communication_bound(2359296, 9, 1024), 2.0 * 2359296 / 96 - 2048);
    EXPECT_EQ(communication_bound(1000, 9, 1 << 20), 0);
    EXPECT_EQ(traffic(R"({"rows": 5})").communication, 0u);  // 10 times what the layer has fits the chip
}

double communication(const std::string& op, int stride, int pad)
{
    const Layer layer = layer_of(fmt::format(R"({{"op": "{}", "input": {{"width": 64, "height": 64, "channels": 64}},
        "kernel": {{"width": 3, "height": 3, "count": 64}}, "stride": {{"x": {}, "y": {}}},
        "pad": {{"left": {}, "right": {}, "top": {}, "bottom": {}}}}})",
                                             op, stride, stride, pad, pad, pad, pad));
    Hardware hw = *find_preset("nv_small");
    hw.cbuf.banks = 16;
    return static_cast<double>(traffic_of(plan_shape(layer, hw), layer, hw).communication);
}

/// Along an axis 3 * 62 products without padding, 3 * 64 at the most; sums that nobody stores are none either.
TEST(Traffic, ProductsWithPaddingMoveNothing)
{
    const double none = communication("conv2d", 1, 0), some = communication("conv2d", 1, 1), all = communication("conv2d", 1, 2);
    EXPECT_NEAR((some - none) / (all - none), (190.0 * 190 - 186.0 * 186) / (192.0 * 192 - 186.0 * 186), 1e-3);
    EXPECT_EQ(communication("conv2d", 1, 9), all);
    EXPECT_EQ(communication("deconv2d", 2, 0), all);
    EXPECT_EQ(communication("deconv2d", 2, 1), some);
}

/// 25 lines of output of 3 lines of input.
TEST(Traffic, NoPlanMovesLessThanTheBound)
{
    const Layer layer = layer_of(R"({"input": {"width": 100, "height": 3, "channels": 71}, "kernel": {"width": 1, "height": 7, "count": 16},
                                     "pad": {"left": 2, "right": 3, "top": 11, "bottom": 17}})");
    Hardware hw = *find_preset("nv_small_256");
    hw.cbuf.banks = 3;
    hw.cbuf.bank_depth = 128;
    const Traffic moves = traffic_of(plan_shape(layer, hw), layer, hw);
    EXPECT_GE(moves.moved(), moves.largest());
}

}  // namespace report_test
}  // namespace dlasim
