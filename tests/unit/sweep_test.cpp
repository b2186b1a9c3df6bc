// Sweeps: interfaces.md 7.
#include "config/sweep/sweep.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "refusal.h"

namespace dlasim {
namespace sweep_test {

using testing::HasSubstr;

constexpr const char* kLayer = R"({"input": {"width": 8, "height": 8, "channels": 16}, "kernel": {"width": 3, "height": 3, "count": 16}})";

class SweepFile : public testing::Test {
protected:
    Sweep read(const std::string& rest)
    {
        std::ofstream(path_) << R"({"base": {"layer": )" << kLayer << R"(, "hw": "nv_large"}, )" << rest << "}";
        return read_sweep(path_);
    }
    void TearDown() override { std::filesystem::remove(path_); }
    std::string path_ = testing::TempDir() + "dlasim_sweep_test." + std::to_string(::getpid()) + ".json";
};

TEST_F(SweepFile, PointsAreTheProductInTheOrderTheAxesAreWritten)
{
    const Sweep sweep = read(R"("axes": {"mac.atomic_c": [32, 64], "cbuf.banks": [8, 12, 16]})");
    ASSERT_EQ(sweep.points.size(), 6u);
    EXPECT_EQ(sweep_point(sweep, 0).hardware.mac.atomic_c, 32u);
    EXPECT_EQ(sweep_point(sweep, 1).hardware.cbuf.banks, 12u);
    EXPECT_EQ(sweep_point(sweep, 5).hardware.mac.atomic_c, 64u);
    EXPECT_EQ(sweep_point(sweep, 5).hardware.cbuf.banks, 16u);
}

TEST_F(SweepFile, AxesReachHardwareLayerAndMemory)
{
    const Sweep sweep = read(R"("axes": {"kernel.count": [4, 5], "latency": [100], "hw": ["nv_small"], "pad.left": [1]})");
    const SweepPoint point = sweep_point(sweep, 1);
    const Layer& layer = std::get<Layer>(std::get<Descriptor>(point.work));
    EXPECT_EQ(layer.kernels, 5u);
    EXPECT_EQ(layer.pad.left, 1u);
    EXPECT_EQ(point.memory.read_latency, 100u);
    EXPECT_EQ(point.hardware.name, "nv_small");
}

TEST_F(SweepFile, ExcludedPointsAreLeftOut)
{
    const Sweep sweep =
        read(R"("axes": {"cbuf.banks": [8, 16], "kernel.count": [4, 5]}, "exclude": [{"cbuf.banks": 8, "kernel.count": 5}])");
    EXPECT_EQ(sweep.points.size(), 3u);
}

TEST_F(SweepFile, ExpressionsLeavePointsOut)
{
    // nv_large has 512 entries a bank: 4, 8 and 16 banks are 2048, 4096 and 8192 entries.
    const Sweep sweep = read(R"("axes": {"cbuf.banks": [4, 8, 16], "kernel.count": [4, 5]},
                                "exclude": ["cbuf.banks * cbuf.bank_depth > 4096", "cbuf.banks == 4 && kernel.count == input.channels / 4"])");
    ASSERT_EQ(sweep.points.size(), 3u);
    EXPECT_EQ(sweep_point(sweep, 0).hardware.cbuf.banks, 4u);
    EXPECT_EQ(std::get<Layer>(std::get<Descriptor>(sweep_point(sweep, 0).work)).kernels, 5u);
    EXPECT_EQ(sweep_point(sweep, 2).hardware.cbuf.banks, 8u);
}

TEST_F(SweepFile, DerivedValuesFollowFromTheOthers)
{
    const Sweep sweep =
        read(R"("axes": {"mac.atomic_k": "= mac.atomic_c / 2", "mac.atomic_c": [16, 32, 64], "kernel.count": "= 2 * mac.atomic_k"},
                                "exclude": ["mac.atomic_k == 16"])");
    ASSERT_EQ(sweep.points.size(), 2u);
    EXPECT_EQ(sweep_point(sweep, 0).hardware.mac.atomic_k, 8u);
    EXPECT_EQ(sweep_point(sweep, 1).hardware.mac.atomic_k, 32u);
    EXPECT_EQ(point_values(sweep, sweep.points[1])[2], 64);
}

TEST_F(SweepFile, ValuesOfAListMayFollowFromTheOthers)
{
    const Sweep sweep = read(R"("axes": {"mac.atomic_c": [16, 64], "mac.atomic_k": ["= mac.atomic_c / 2", 16, "= mac.atomic_c"]})");
    ASSERT_EQ(sweep.points.size(), 6u);
    const std::uint32_t expected[] = {8, 16, 16, 32, 16, 64};
    for (std::size_t i = 0; i < 6; ++i) EXPECT_EQ(sweep_point(sweep, i).hardware.mac.atomic_k, expected[i]) << i;
    EXPECT_THAT(refusal([&] { read(R"("axes": {"mac.atomic_k": [8, "= mac.atomic_x"]})"); }), HasSubstr("\"mac.atomic_x\" is no axis"));
}

TEST_F(SweepFile, AnAxisOfLayersOrNetworksIsABase)
{
    const std::string layer = R"({"input": {"width": 8, "height": 8, "channels": 16}, "kernel": {"width": 1, "height": 1, "count": 4}})";
    const Sweep layers =
        parse_sweep(R"({"base": {"hw": "nv_large"}, "axes": {"layer": [)" + layer + R"(], "kernel.count": [4, 8]}})", path_);
    ASSERT_EQ(layers.points.size(), 2u);
    EXPECT_EQ(std::get<Layer>(std::get<Descriptor>(sweep_point(layers, 1).work)).kernels, 8u);
    const std::string network = R"({"input": {"width": 8, "height": 8, "channels": 16}, "layers": [
        {"name": "a", "op": "conv2d", "kernel": {"width": 1, "height": 1, "count": 4}}]})";
    const Sweep networks = parse_sweep(R"({"axes": {"network": [)" + network + ", " + network + "]}}", path_);
    ASSERT_EQ(networks.points.size(), 2u);
    EXPECT_EQ(std::get<Network>(sweep_point(networks, 1).work).layers.size(), 1u);
    EXPECT_THAT(refusal([&] { parse_sweep(R"({"base": {"hw": "nv_large"}, "axes": {"cbuf.banks": [8]}})", path_); }),
                HasSubstr("/base/layer: is missing"));
}

TEST_F(SweepFile, AMemoryMayBeAnObject)
{
    const Sweep sweep = read(R"("axes": {"memory": ["ddr4-2400:channels=2", {"kind": "ideal", "latency": 77},
                                                     {"kind": "hbm2", "channels": 4, "timing": {"tRCDRD": 15}}]})");
    EXPECT_EQ(sweep_point(sweep, 0).memory.options.at("channels"), "2");
    EXPECT_EQ(sweep_point(sweep, 1).memory.read_latency, 77u);
    EXPECT_EQ(sweep_point(sweep, 2).memory.options.at("timing.tRCDRD"), "15");
    const Sweep wrong = read(R"("axes": {"memory": [7]})");
    EXPECT_THAT(refusal([&] { sweep_point(wrong, 0); }), HasSubstr("/axes/memory: found 7, expected a memory"));
}

TEST_F(SweepFile, WhatIsTooLongForARowIsRefused)
{
    const std::string name(5000, 'x');
    EXPECT_THAT(refusal([&] { read(R"("axes": {")" + name + R"(": [1]})"); }), HasSubstr("found a name of 5000 bytes"));
    EXPECT_THAT(refusal([&] { read(R"("axes": {"hw": [")" + std::string(2'000'000, 'x') + R"("]})"); }), HasSubstr("every row holds it"));
}

TEST_F(SweepFile, WhatAnExpressionCannotMeanIsRefused)
{
    const std::string axes = R"("axes": {"cbuf.banks": [8, 16]}, "exclude": [)";
    EXPECT_THAT(refusal([&] { read(axes + R"("cbuf.bnks > 8"])"); }), HasSubstr("/exclude/0: \"cbuf.bnks\" is no axis"));
    EXPECT_THAT(refusal([&] { read(axes + R"("cbuf.banks >"])"); }), HasSubstr("column 13"));
    EXPECT_THAT(refusal([&] { read(axes + R"("'a'"])"); }), HasSubstr("is not a condition"));
    EXPECT_THAT(refusal([&] { read(R"("axes": {"cbuf.banks": "= kernel.count", "kernel.count": "= cbuf.banks"})"); }),
                HasSubstr("depends on a later axis"));
    EXPECT_THAT(refusal([&] { read(R"("axes": {"cbuf.banks": "8"})"); }), HasSubstr("expected a list"));
    EXPECT_THAT(refusal([&] { read(R"("axes": {"cbuf.banks": [8], "kernel.count": "= 4"}, "exclude": [{"kernel.count": 4}])"); }),
                HasSubstr("names a derived axis"));
    EXPECT_THAT(refusal([&] { read(R"("axes": {"network": ["a.json"]})"); }), HasSubstr("the base is a layer"));
}

TEST_F(SweepFile, APointThatCannotExistIsRefusedOnItsOwn)
{
    const Sweep sweep = read(R"("axes": {"mac.atomic_c": [64, 48]})");
    EXPECT_NO_THROW(sweep_point(sweep, 0));
    EXPECT_THAT(refusal([&] { sweep_point(sweep, 1); }), HasSubstr("a power of two"));
}

TEST_F(SweepFile, MistakesAreRefused)
{
    EXPECT_THAT(refusal([&] { read(R"("axes": {})"); }), HasSubstr("/axes: is missing"));
    EXPECT_THAT(refusal([&] { read(R"("axes": {"cbuf.bank": [1]})"); }), HasSubstr("did you mean \"cbuf.banks\""));
    EXPECT_THAT(refusal([&] { read(R"("axes": {"latncy": [1]})"); }), HasSubstr("unknown axis (did you mean \"latency\"?)"));
    for (const char* option : {"latency", "channels", "page_policy", "timing.tRCD", "controller.read_queue", "mapping", "base", "wrap"})
        EXPECT_EQ(read(R"("axes": {")" + std::string(option) + R"(": [1]})").axes[0].kind, SweepAxis::Kind::MemoryOption) << option;
    EXPECT_THAT(refusal([&] { read(R"("axes": {"cbuf.banks": 8})"); }), HasSubstr("expected a list"));
    EXPECT_THAT(refusal([&] { read(R"("axes": {"cbuf.banks": [8]}, "exclude": [{"cbuf.bnks": 8}])"); }), HasSubstr("/exclude/0/cbuf.bnks"));
}

}  // namespace sweep_test
}  // namespace dlasim
