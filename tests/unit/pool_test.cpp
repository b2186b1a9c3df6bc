// Pooling as a layer: what is read, what the unit is told, what is refused.
#include <gmock/gmock.h>

#include "config/layer/layer_reader.h"
#include "facts/presets.h"
#include "lowering/program/layer_program.h"
#include "refusal.h"
#include "written.h"

namespace dlasim {
namespace pool_test {

using testing::ElementsAre;
using testing::HasSubstr;

Layer read(const std::string& text) { return layer_from_json(parse_json(text, "l.json"), "l.json", "", ""); }
Layer pool(std::uint32_t width, std::uint32_t height, const std::string& pool)
{
    return read(R"({"op": "pool", "input": {"width": )" + std::to_string(width) + R"(, "height": )" + std::to_string(height) +
                R"(, "channels": 16}, "pool": )" + pool + "}");
}
PoolGeometry geometry(const Layer& layer, const char* machine = "nv_small")
{
    return plan_shape(layer, *find_preset(machine)).passes.front().pool->geometry;
}

TEST(Pool, OnnxSpellingsSayTheSame)
{
    const Layer ours =
        pool(12, 9, R"({"function": "max", "kernel": {"width": 3, "height": 2}, "stride": {"x": 2, "y": 1}, "pad": {"left": 1}})");
    const Layer onnx =
        pool(12, 9, R"({"function": "max", "kernel_shape": [2, 3], "strides": [1, 2], "pads": [0, 1, 0, 0], "ceil_mode": 0})");
    EXPECT_EQ(layer_json(ours).dump(), layer_json(onnx).dump());
    EXPECT_EQ(layer_json(read(layer_json(ours).dump())).dump(), layer_json(ours).dump());
}

// 112 + 2 - 3 = 111 leaves half a stride over: the padding on the right is reached by no window.
TEST(Pool, PaddingThatNoWindowReachesIsLeftOut)
{
    const PoolGeometry g =
        geometry(pool(112, 112, R"({"function": "max", "kernel_shape": [3, 3], "strides": [2, 2], "pads": [1, 1, 1, 1]})"), "nv_large");
    EXPECT_EQ(g.out_width, 56u);
    EXPECT_EQ(g.pad_right, 0u);
    EXPECT_EQ(g.width, 112u);
}

TEST(Pool, ColumnsThatNoWindowTouchesAreNotRead)
{
    const PoolGeometry g = geometry(pool(10, 11, R"({"function": "min", "kernel_shape": [3, 3], "strides": [3, 3]})"));
    EXPECT_EQ(g.width, 9u);
    EXPECT_EQ(g.height, 9u);
}

TEST(Pool, CeilModeMakesAWindowThatEndsInPadding)
{
    const PoolGeometry g = geometry(pool(6, 6, R"({"function": "max", "kernel_shape": [3, 3], "strides": [2, 2], "ceil_mode": 1})"));
    EXPECT_EQ(g.out_width, 3u);
    EXPECT_EQ(g.pad_right, 1u);
}

// 2 x 2 with stride 1 takes two line units of four banks of 16 columns each: 64 columns a pass.
TEST(Pool, WidePlanesGoThroughInPassesOfTheLineBuffer)
{
    EXPECT_THAT(geometry(pool(65, 4, R"({"function": "max", "kernel_shape": [2, 2]})")).columns, ElementsAre(64));
    EXPECT_THAT(geometry(pool(66, 4, R"({"function": "max", "kernel_shape": [2, 2]})")).columns, ElementsAre(64, 1));
}

TEST(Pool, WhatTheUnitCannotDoIsRefusedWithTheRule)
{
    const auto refused = [](const std::string& text) { return refusal([&] { pool(8, 8, text); }); };
    EXPECT_THAT(refused(R"({"function": "max", "kernel_shape": [9, 1]})"), HasSubstr("1..8"));
    EXPECT_THAT(refused(R"({"function": "max", "kernel_shape": [2, 2], "pads": [2, 0, 0, 0]})"),
                HasSubstr("every window to contain an element"));
    EXPECT_THAT(refused(R"({"function": "average", "kernel_shape": [2, 2], "pads": [1, 0, 0, 0]})"),
                HasSubstr("divides by the whole kernel"));
    EXPECT_THAT(refused(R"({"function": "max", "kernel_shape": [2, 2], "pad": {"left": 1, "value": 3}})"), HasSubstr("ignore the padding"));
    const Layer wide = read(R"({"op": "pool", "precision": "fp16", "input": {"width": 8, "height": 8, "channels": 8},
                               "pool": {"function": "max", "kernel_shape": [2, 2]}})");
    EXPECT_THAT(refusal([&] { plan_shape(wide, *find_preset("nv_small")); }), HasSubstr("expected int8"));
}

/// A column that is in no window is not computed: the layer is cut with its pooling.
TEST(Pool, AfterAConvolutionWhatIsInNoWindowIsLeftOut)
{
    const auto behind = [](const std::string& pool) {
        return read(
            R"({"input": {"width": 7, "height": 8, "channels": 16}, "kernel": {"width": 1, "height": 1, "count": 16}, "post": {"pool": )" +
            pool + "}}");
    };
    const Layer fits = behind(R"({"function": "max", "kernel_shape": [2, 3], "strides": [2, 2]})");
    EXPECT_EQ(fits.result_width(), 3u);
    const Hardware& small = *find_preset("nv_small");
    EXPECT_EQ(enables_of(writes_of(layer_program(fits, plan_shape(fits, small), small))[0]).front(), "PDP.D_OP_ENABLE");
    const Layer rest = behind(R"({"function": "max", "kernel_shape": [2, 2], "strides": [2, 2]})");
    const LayerPlan plan = plan_shape(rest, small);
    ASSERT_FALSE(plan.passes.empty());
    for (const PlannedPass& pass : plan.passes) {
        ASSERT_TRUE(pass.pool);
        EXPECT_EQ(pass.geometry.out_width, 6u);
        EXPECT_EQ(pass.pool->geometry.out_width, 3u);
    }
}

}  // namespace pool_test
}  // namespace dlasim
