// Deconvolutions as passes and a contraction: registers by hand from rubik.md 1.
#include <gmock/gmock.h>

#include "config/layer/layer_reader.h"
#include "facts/presets.h"
#include "lowering/program/layer_program.h"
#include "refusal.h"
#include "registers/fields/rbk.h"
#include "written.h"

namespace dlasim {
namespace deconvolution_test {

using testing::ElementsAre;
using testing::HasSubstr;

Layer layer_of(const std::string& text) { return layer_from_json(parse_json(text, "l.json"), "l.json", "", ""); }
const Hardware& preset(const char* name) { return *find_preset(name); }

TEST(Deconvolution, IsAPassForEveryPhaseAndAContraction)
{
    const Layer layer =
        layer_of(R"({"op": "deconv2d", "input": {"width": 6, "height": 5, "channels": 40}, "kernel": {"width": 5, "height": 4, "count": 48},
        "stride": {"x": 3, "y": 2}, "pad": {"left": 1, "right": 2, "top": 1}})");
    EXPECT_EQ(layer.out_width(), 17u);   // 5 * 3 + 5 - 3
    EXPECT_EQ(layer.out_height(), 11u);  // 4 * 2 + 4 - 1
    const LayerPlan plan = plan_shape(layer, preset("nv_full"));
    ASSERT_EQ(plan.passes.size(), 6u);
    // Phase x 0 meets kernel columns 1 and 4 at source columns m - 1 and m; phase y 0 rows 1 and 3. 6 x 6 outputs each.
    const std::vector<PassWrites> passes = writes_of(layer_program(layer, plan, preset("nv_full")));
    EXPECT_EQ(value_of(passes[0], "CSC", reg::csc::D_WEIGHT_SIZE_EXT_0::WEIGHT_WIDTH_EXT), 1u);
    EXPECT_EQ(value_of(passes[0], "CSC", reg::csc::D_WEIGHT_SIZE_EXT_0::WEIGHT_HEIGHT_EXT), 1u);
    EXPECT_EQ(value_of(passes[0], "CSC", reg::csc::D_DATAOUT_SIZE_0::DATAOUT_WIDTH), 5u);
    EXPECT_EQ(value_of(passes[0], "CSC", reg::csc::D_DATAOUT_SIZE_0::DATAOUT_HEIGHT), 5u);
    const PassWrites& rubik = passes.back();
    const std::uint32_t cube = 6 * 6 * 2 * 32;  // two surfaces of 32 channels
    EXPECT_EQ(value_of(rubik, "RBK.D_MISC_CFG"), 0u);
    EXPECT_EQ(value_of(rubik, "RBK", reg::rbk::D_DATAIN_SIZE_0::DATAIN_WIDTH), 5u);
    EXPECT_EQ(value_of(rubik, "RBK", reg::rbk::D_DATAIN_SIZE_0::DATAIN_HEIGHT), 5u);
    EXPECT_EQ(value_of(rubik, "RBK.D_CONTRACT_STRIDE_0"), cube);
    EXPECT_EQ(value_of(rubik, "RBK.D_CONTRACT_STRIDE_1"), 3 * cube);
    EXPECT_EQ(value_of(rubik, "RBK", reg::rbk::D_DECONV_STRIDE::DECONV_X_STRIDE), 2u);
    EXPECT_EQ(value_of(rubik, "RBK", reg::rbk::D_DECONV_STRIDE::DECONV_Y_STRIDE), 1u);
    EXPECT_EQ(value_of(rubik, "RBK.D_DAOUT_LINE_STRIDE"), 18u * 32);
    EXPECT_EQ(value_of(rubik, "RBK.D_DAOUT_SURF_STRIDE"), 18u * 12 * 32);
    EXPECT_EQ(value_of(rubik, "RBK.D_OP_ENABLE"), 1u);
    EXPECT_EQ(plan.copied_bytes, 18u * 12 * 2 * 32);
}

/// A register in the last four operations.
std::vector<std::uint32_t> of_copies(const Program& program, const std::string& name)
{
    std::vector<std::uint32_t> values;
    for (const auto& step : program)
        if (const auto* write = std::get_if<RegisterWrite>(&step); write && write->name == name) values.push_back(write->value);
    return {values.end() - static_cast<std::ptrdiff_t>(4), values.end()};
}

// 3 x 2 places of a phase in the 6 x 4 of the output, one surface: its lines are the surfaces of a copy, its columns the lines.
TEST(Deconvolution, IsPutTogetherBySdpWhereThereIsNoRubik)
{
    const Layer layer = layer_of(
        R"({"op": "deconv2d", "input": {"width": 3, "height": 2, "channels": 16}, "kernel": {"width": 2, "height": 2, "count": 5}, "strides": [2, 2]})");
    const LayerPlan plan = plan_shape(layer, preset("nv_small"));
    const Program program = layer_program(layer, plan, preset("nv_small"));
    ASSERT_EQ(plan.passes.size(), 4u);
    const std::uint32_t out = static_cast<std::uint32_t>(plan.outputs.front().place.address.byte());
    EXPECT_THAT(of_copies(program, "SDP_RDMA.D_SRC_LINE_STRIDE"), ElementsAre(8, 8, 8, 8));
    EXPECT_THAT(of_copies(program, "SDP_RDMA.D_SRC_SURFACE_STRIDE"), ElementsAre(24, 24, 24, 24));
    EXPECT_THAT(of_copies(program, "SDP.D_DATA_CUBE_WIDTH"), ElementsAre(0, 0, 0, 0));
    EXPECT_THAT(of_copies(program, "SDP.D_DATA_CUBE_HEIGHT"), ElementsAre(2, 2, 2, 2));
    EXPECT_THAT(of_copies(program, "SDP.D_DATA_CUBE_CHANNEL"), ElementsAre(15, 15, 15, 15));
    EXPECT_THAT(of_copies(program, "SDP.D_DST_LINE_STRIDE"), ElementsAre(16, 16, 16, 16));
    EXPECT_THAT(of_copies(program, "SDP.D_DST_SURFACE_STRIDE"), ElementsAre(96, 96, 96, 96));
    EXPECT_THAT(of_copies(program, "SDP.D_DST_BASE_ADDR_LOW"), ElementsAre(out, out + 8, out + 48, out + 56));
    EXPECT_EQ(plan.copied_bytes, 6u * 4 * 8);
}

TEST(Deconvolution, OfStrideOneIsASinglePassOnAnyMachine)
{
    const Layer layer = layer_of(
        R"({"op": "deconv2d", "input": {"width": 4, "height": 4, "channels": 8}, "kernel": {"width": 3, "height": 3, "count": 8}, "pad": {"left": 1}})");
    using Padding = struct reg::cdma::D_ZERO_PADDING;
    const LayerPlan plan = plan_shape(layer, preset("nv_small"));
    ASSERT_EQ(plan.passes.size(), 1u);
    EXPECT_EQ(plan.copied_bytes, 0u);
    const PassWrites pass = writes_of(layer_program(layer, plan, preset("nv_small")))[0];
    EXPECT_EQ(value_of(pass, "CDMA", Padding::PAD_LEFT), 1u);  // 3 - 1 minus what is cut
    for (const reg::Field side : {Padding::PAD_RIGHT, Padding::PAD_TOP, Padding::PAD_BOTTOM}) EXPECT_EQ(value_of(pass, "CDMA", side), 2u);
}

// cdma.md 1: a line of one pixel may be fetched as packed surfaces. Those of a single place of a larger input are not packed.
TEST(Deconvolution, APhaseThatReadsASinglePlaceOfALargerInputDoesNotTakeItsSurfacesForPacked)
{
    const auto maps = [](const char* size, const char* top) {
        const Layer layer = layer_of(std::string(R"({"op": "deconv2d", "input": {)") + size +
                                     R"(, "channels": 80}, "kernel": {"width": 1, "height": 2, "count": 3}, "strides": [4, 4],
                                       "precision": "int16", "pad": {"top": )" +
                                     top + "}}");
        const LayerPlan plan = plan_shape(layer, preset("nv_full"));
        std::vector<std::pair<std::uint32_t, std::uint32_t>> maps;  // lines fetched, surfaces packed
        const std::vector<PassWrites> writes = writes_of(layer_program(layer, plan, preset("nv_full")));
        for (std::size_t i = 0; i < plan.passes.size(); ++i)
            maps.emplace_back(plan.passes[i].pass.height, value_of(writes[i], "CDMA", reg::cdma::D_DAIN_MAP::SURF_PACKED));
        return maps;
    };
    unsigned single = 0;
    for (const auto& [lines, packed] : maps(R"("width": 1, "height": 2)", "1")) {
        EXPECT_EQ(packed, lines == 1 ? 0u : 1u);
        single += lines == 1;
    }
    EXPECT_GT(single, 0u);
    for (const auto& [lines, packed] : maps(R"("width": 1, "height": 1)", "0")) EXPECT_EQ(packed, 1u);
}

TEST(Deconvolution, ThatCannotBeDoneIsRefusedWithTheRule)
{
    const auto refused = [](const char* text, const char* hw) { return refusal([&] { plan_shape(layer_of(text), preset(hw)); }); };
    EXPECT_THAT(
        refused(
            R"({"op": "deconv2d", "input": {"width": 2730, "height": 1, "channels": 8}, "kernel": {"width": 4, "height": 1, "count": 8}, "strides": [1, 3]})",
            "nv_full"),
        HasSubstr("found an output line of 8193 positions, expected at most 8192"));
}

TEST(Deconvolution, WhoseInputDoesNotFitTheBufferIsCut)
{
    const LayerPlan plan = plan_shape(
        layer_of(
            R"({"op": "deconv2d", "input": {"width": 64, "height": 64, "channels": 256}, "kernel": {"width": 4, "height": 4, "count": 8}, "strides": [2, 2]})"),
        preset("nv_full"));
    EXPECT_TRUE(plan.cut.rows);
    EXPECT_GT(plan.passes.size(), 4u);  // a phase in more than one part
}

}  // namespace deconvolution_test
}  // namespace dlasim
