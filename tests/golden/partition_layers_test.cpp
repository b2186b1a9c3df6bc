// Layers in parts through the whole machine: the measured sequences of partial heights to the cycle, and the bytes that
// reuse saves, by hand from programming.md 7.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "../unit/case_program.h"
#include "config/layer/layer_reader.h"
#include "config/model/tensors.h"
#include "facts/presets.h"
#include "simulated.h"

namespace dlasim {
namespace partition_layers_test {

struct Outcome {
    LayerPlan plan;
    Simulation simulation;
    std::uint64_t bytes(const std::string& name) const
    {
        for (const auto& [client, count] : simulation.run.dbb.read_bytes_by_client)
            if (client == name) return count;
        return 0;
    }
};

Outcome run(const std::string& text, const std::string& hw)
{
    const Layer layer = layer_from_json(parse_json(text, "l.json"), "l.json", "", "");
    const Hardware& hardware = *find_preset(hw);
    const Job job = job_of(layer, hardware, MemorySpec{});
    const Outcome r{plan_layer(layer, hardware, load_tensors(layer)), simulated(job)};
    EXPECT_FALSE(r.simulation.run.hung) << r.simulation.run.diagnosis;
    if (r.simulation.comparison) EXPECT_TRUE(r.simulation.comparison->equal()) << r.simulation.comparison->mismatches;
    EXPECT_LE(largest(job.bounds), static_cast<std::uint64_t>(r.simulation.run.interrupt_cycles.back()));
    return r;
}

class MeasuredParts : public testing::TestWithParam<const char*> {};

TEST_P(MeasuredParts, TakeTheMeasuredCyclesAsOneLayer)
{
    const std::filesystem::path file = std::filesystem::path(DLASIM_TEST_DATA) / "rtl" / (std::string(GetParam()) + ".json");
    std::ifstream in(file);
    const json c = json::parse(in);
    const MemorySpec ideal;
    ASSERT_EQ(c["memory"]["read_latency"], ideal.read_latency);
    const Outcome r = run(whole_layer(c.at("layers")), c.at("config"));
    const RunResult& result = r.simulation.run;
    EXPECT_EQ(std::vector<Cycle>(result.interrupt_cycles.begin(), result.interrupt_cycles.end()),
              c["expected"]["interrupt_cycles"].get<std::vector<Cycle>>());
    const json& dbb = c["expected"]["dbb"];
    EXPECT_EQ(result.dbb.ar, dbb["ar"]);
    EXPECT_EQ(result.dbb.read_beats, dbb["rbeats"]);
    EXPECT_EQ(result.dbb.write_beats, dbb["wbeats"]);
}

INSTANTIATE_TEST_SUITE_P(Cases, MeasuredParts,
                         testing::Values("nv_full/partial_h_int8", "nv_full/partial_h_int16", "nv_full/partial_noreuse_int8",
                                         "nv_full/partial_noreuse_int16", "nv_large/partial_height", "nv_large/partial_height_s2",
                                         "nv_medium_512/partial_height", "nv_medium_512/partial_height_s2", "nv_small_256/partial_height",
                                         "nv_small_256/partial_height_s2", "nv_small/partial_height", "nv_small/partial_height_s2"),
                         [](const auto& info) {
                             std::string name = info.param;
                             std::replace(name.begin(), name.end(), '/', '_');
                             return name;
                         });

/// 20 lines of 16 pixels and 32 channels on nv_small: 10240 bytes; 32 kernels of 3 x 3 x 32: 9216 bytes.
Outcome parts(const std::string& partition)
{
    return run(R"({"input": {"width": 16, "height": 20, "channels": 32}, "kernel": {"width": 3, "height": 3, "count": 32},
                   "pad": {"left": 1, "right": 1, "top": 1, "bottom": 1}, "post": {"output": {"shift": 9}}, "partition": )" +
                   partition + "}",
               "nv_small");
}

constexpr std::uint64_t kLine = 16 * 32, kInput = 20 * kLine, kWeights = 9216;

TEST(Partition, WithoutReuseOverlappingLinesAndWeightsAreFetchedAgain)
{
    const Outcome r = parts(R"({"rows": 5})");
    EXPECT_EQ(r.bytes("CDMA_DAT"), kInput + 3 * 2 * kLine);  // four parts, two lines shared by neighbours
    EXPECT_EQ(r.bytes("CDMA_WT"), 4 * kWeights);
}

TEST(Partition, ASlidingWindowAndKeptWeightsFetchEverythingOnce)
{
    const Outcome r = parts(R"({"rows": 5, "reuse_data": true, "reuse_weights": true})");
    EXPECT_EQ(r.bytes("CDMA_DAT"), kInput);
    EXPECT_EQ(r.bytes("CDMA_WT"), kWeights);
    EXPECT_EQ(r.simulation.run.interrupt_cycles.size(), 4u);
}

TEST(Partition, ColumnsFetchTheirHaloTwice)
{
    // Columns 0..7 of the output read 0..8 of the input, columns 8..15 read 7..15.
    const Outcome r = parts(R"({"columns": 8, "reuse_weights": true})");
    EXPECT_EQ(r.bytes("CDMA_DAT"), kInput / 16 * 18);
    EXPECT_EQ(r.bytes("CDMA_WT"), kWeights);
}

TEST(Partition, PhasesOfADilationFetchEveryLineOnceAndRunWhereNoWindowFits)
{
    // fc6 of DeepLab with 64 of its kernels: 25 lines of 41 pixels and 512 channels are 17 of nv_large's 16 banks.
    const Outcome r = run(R"({"input": {"width": 41, "height": 41, "channels": 512}, "kernel": {"width": 3, "height": 3, "count": 64},
                              "dilation": {"x": 12, "y": 12}, "pad": {"left": 12, "right": 12, "top": 12, "bottom": 12},
                              "post": {"bias": true, "output": {"shift": 12}}})",
                          "nv_large");
    EXPECT_EQ(r.plan.passes.size(), 12u);
    EXPECT_EQ(r.bytes("CDMA_DAT"), 41u * 41 * 512);
}

TEST(Partition, KernelPartsFetchTheDataOnce) { EXPECT_EQ(parts(R"({"kernels": 8, "reuse_data": true})").bytes("CDMA_DAT"), kInput); }

TEST(Partition, KernelPartsWithoutReuseFetchTheDataEachTime) { EXPECT_EQ(parts(R"({"kernels": 8})").bytes("CDMA_DAT"), 4 * kInput); }

TEST(Partition, UnequalPartsOfAnAtomBecomeOneTensor)
{
    const Outcome r = run(R"({"op": "fully_connected", "input": {"width": 7, "height": 7, "channels": 512}, "kernel": {"count": 70},
                              "post": {"bias": true, "output": {"shift": 12}}, "plan": {"minimise": "cycles"}})",
                          "nv_large");
    EXPECT_EQ(r.plan.passes.size(), 7u);
    EXPECT_EQ(r.plan.outputs.size(), 1u);
}

TEST(Partition, RowsAndKernelsKeepTheDataAndTheWeightsAtTheTurn)
{
    const Outcome r = parts(R"({"rows": 10, "kernels": 16, "reuse_data": true, "reuse_weights": true})");
    EXPECT_EQ(r.bytes("CDMA_DAT"), kInput);
    EXPECT_EQ(r.bytes("CDMA_WT"), kWeights / 2 * 3);  // both halves, then the first again
}

TEST(Partition, CompressedWeightsThatAreAllZeroLeaveTheNextPartsInStep)
{
    const Outcome r = run(
        R"({"input": {"width": 4, "height": 4, "channels": 8}, "kernel": {"width": 1, "height": 1, "count": 128}, "weights": {"compressed": true, "density": 1},
                          "partition": {"kernels": 8, "padded": true, "weight_banks": 2}, "data": {"seed": 3}})",
        "nv_full");
    std::size_t zero = 0;
    for (const PlannedImage& image : r.plan.images)
        if (image.what == ImageOf::Weights)
            zero += std::count(image.bytes.begin(), image.bytes.end(), 0) == static_cast<std::ptrdiff_t>(image.bytes.size());
    EXPECT_GT(zero, 0u);
    EXPECT_LT(zero, 16u);
}

}  // namespace partition_layers_test
}  // namespace dlasim
