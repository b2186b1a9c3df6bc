// Sweeps: interfaces.md 7.
#include "config/sweep.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "refusal.h"

namespace dlasim {
namespace {

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
    const Layer& layer = std::get<Layer>(point.descriptor);
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
    EXPECT_THAT(refusal([&] { read(R"("axes": {"cbuf.banks": 8})"); }), HasSubstr("expected a list"));
    EXPECT_THAT(refusal([&] { read(R"("axes": {"cbuf.banks": [8]}, "exclude": [{"cbuf.bnks": 8}])"); }), HasSubstr("/exclude/0/cbuf.bnks"));
}

}  // namespace
}  // namespace dlasim
