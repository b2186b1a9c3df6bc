// Cutting layers into parts: the measured sequences register by register, windows, orders and banks by hand from
// programming.md 7, refusals.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "case_program.h"
#include "config/layer/layer_reader.h"
#include "facts/presets.h"
#include "lowering/program/layer_program.h"
#include "refusal.h"
#include "written.h"

namespace dlasim {
namespace split_test {

namespace cdma = reg::cdma;
namespace csc = reg::csc;

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

const Hardware& preset(const std::string& name) { return *find_preset(name); }
Layer layer_of(const std::string& text) { return layer_from_json(parse_json(text, "l.json"), "l.json", "", ""); }
struct Planned : LayerPlan {
    Planned(const Layer& layer, const Hardware& hardware)
        : LayerPlan(plan_shape(layer, hardware)), program(layer_program(layer, *this, hardware))
    {
    }
    Program program;
};
Planned planned(const std::string& text, const char* hw) { return {layer_of(text), preset(hw)}; }
std::string refused(const std::string& text, const char* hw)
{
    return refusal([&] { planned(text, hw); });
}

/// {first row, rows, kept, fetched} of every part.
std::vector<std::vector<std::uint32_t>> rows_of(const LayerPlan& plan)
{
    std::vector<std::vector<std::uint32_t>> rows;
    for (const PlannedPass& p : plan.passes) rows.push_back({p.first_row, p.rows, p.kept_lines, p.fetched_lines});
    return rows;
}

std::vector<std::string> bits_of(const Planned& plan)
{
    std::vector<std::string> all;
    const std::vector<PassWrites> writes = writes_of(plan.program);
    for (std::size_t i = 0; i < plan.passes.size(); ++i) all.push_back(reuse_of(writes[i]));
    return all;
}

// ---- measured sequences

class MeasuredSequences : public testing::TestWithParam<const char*> {};

TEST_P(MeasuredSequences, AreThePartsOfOneLayer)
{
    const std::filesystem::path folder = std::filesystem::path(DLASIM_TEST_DATA) / "rtl" / GetParam();
    int cases = 0, registers = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
        const std::string name = entry.path().filename().string();
        if (!name.starts_with("partial_")) continue;
        std::ifstream in(entry.path());
        const json c = json::parse(in);
        if (c.at("layers").empty() || !c["layers"][0].at("descriptor").contains("w")) continue;  // made from registers: describes no layer
        const std::vector<Group> written = layers_of(c.at("program"));
        const std::vector<PassWrites> passes = writes_of(planned(whole_layer(c.at("layers")), GetParam()).program);
        ASSERT_EQ(passes.size(), written.size()) << name;
        ++cases;
        // nv_full's cases fetch the weights of their parts from different places, write the parts apart, and release as if
        // they would reuse even where they do not.
        const bool apart = preset(GetParam()).full(), kept_in_vain = name.starts_with("partial_noreuse");
        for (std::size_t i = 0; i < written.size(); ++i)
            for (const Written& mine : passes[i]) {
                const auto theirs = written[i].find(mine.name);
                if (theirs == written[i].end() || mine.name == "SDP.D_PERF_ENABLE") continue;  // the cases leave SDP's counters off
                if (apart && (mine.name.starts_with("SDP.D_DST_") || mine.name == "CACC.D_SURF_STRIDE" ||
                              mine.name == "CACC.D_DATAOUT_ADDR" || mine.name == "CDMA.D_WEIGHT_ADDR_LOW"))
                    continue;
                if (kept_in_vain && mine.name == "CSC.D_RELEASE") continue;
                ++registers;
                EXPECT_EQ(mine.value, theirs->second) << name << " part " << i << ": " << mine.name;
            }
    }
    EXPECT_GE(cases, 2);
    EXPECT_GT(registers, 300);
}

INSTANTIATE_TEST_SUITE_P(Presets, MeasuredSequences, testing::Values("nv_full", "nv_large", "nv_medium_512", "nv_small_256", "nv_small"));

// ---- rows

/// 12 lines, kernel 3, padding 1: 12 rows of output.
std::string conv(const std::string& partition, const std::string& more = "")
{
    return R"({"input": {"width": 6, "height": 12, "channels": 16}, "kernel": {"width": 3, "height": 3, "count": 20}, "pad": {"left": 1, "right": 1, "top": 1, "bottom": 1})" +
           more + R"(, "partition": )" + partition + "}";
}

TEST(Split, AWindowSlidesOverTheLines)
{
    const Planned plan = planned(conv(R"({"rows": 5, "reuse_data": true})"), "nv_small");
    // Rows 0-4 need lines 0-5, rows 5-9 lines 4-10, rows 10-11 lines 9-11.
    EXPECT_THAT(rows_of(plan), ElementsAre(ElementsAre(0, 5, 0, 6), ElementsAre(5, 5, 2, 5), ElementsAre(10, 2, 2, 1)));
    EXPECT_THAT(bits_of(plan), ElementsAre("", "d", "d"));
    const std::vector<PassWrites> passes = writes_of(plan.program);
    const PassWrites &a = passes[0], &b = passes[1], &c = passes[2];
    EXPECT_EQ(value_of(a, "CSC.D_RELEASE"), 4u - 1);
    EXPECT_EQ(value_of(b, "CSC.D_RELEASE"), 5u - 1);
    EXPECT_EQ(value_of(c, "CSC.D_RELEASE"), 3u - 1);  // all that is left
    EXPECT_EQ(value_of(b, "CDMA.D_DAIN_ADDR_LOW_0"), 0x80000000u + 6 * 48);
    EXPECT_EQ(value_of(b, "CDMA", cdma::D_DATAIN_SIZE_0::DATAIN_WIDTH), 5u);
    EXPECT_EQ(value_of(b, "CDMA", cdma::D_DATAIN_SIZE_0::DATAIN_HEIGHT), 4u);
    EXPECT_EQ(value_of(b, "CSC", csc::D_DATAIN_SIZE_EXT_0::DATAIN_WIDTH_EXT), 5u);
    EXPECT_EQ(value_of(b, "CSC", csc::D_DATAIN_SIZE_EXT_0::DATAIN_HEIGHT_EXT), 6u);
    EXPECT_EQ(value_of(b, "CDMA.D_SURF_STRIDE"), 12u * 48);
    EXPECT_EQ(value_of(a, "CSC", csc::D_ZERO_PADDING::PAD_TOP), 1u);
    EXPECT_EQ(value_of(b, "CSC", csc::D_ZERO_PADDING::PAD_TOP), 0u);
    EXPECT_EQ(value_of(a, "CSC", csc::D_ZERO_PADDING::PAD_LEFT), 1u);
    EXPECT_EQ(value_of(b, "CSC", csc::D_ZERO_PADDING::PAD_LEFT), 1u);
    EXPECT_EQ(value_of(b, "SDP.D_DST_BASE_ADDR_LOW"), 0xa0000000u + 5 * 48);
    EXPECT_EQ(value_of(b, "SDP.D_DST_SURFACE_STRIDE"), 12u * 48);
    EXPECT_EQ(value_of(b, "CDMA.S_POINTER"), 1u);
    EXPECT_EQ(value_of(c, "CDMA.S_POINTER"), 0u);
    ASSERT_EQ(plan.outputs.size(), 1u);
    EXPECT_EQ(plan.outputs[0].bytes, 3u * 12 * 48);  // 20 kernels: 3 surfaces
}

TEST(Split, WithoutReuseEveryPartFetchesItsLines)
{
    const Planned plan = planned(conv(R"({"rows": 5})"), "nv_small");
    const std::vector<PassWrites> passes = writes_of(plan.program);
    EXPECT_THAT(rows_of(plan), ElementsAre(ElementsAre(0, 5, 0, 6), ElementsAre(5, 5, 0, 7), ElementsAre(10, 2, 0, 3)));
    EXPECT_THAT(bits_of(plan), ElementsAre("", "", ""));
    EXPECT_EQ(value_of(passes[0], "CSC.D_RELEASE"), 6u - 1);
    EXPECT_EQ(value_of(passes[1], "CDMA.D_DAIN_ADDR_LOW_0"), 0x80000000u + 4 * 48);
}

TEST(Split, LinesThatAStrideSkipsAreNotFetched)
{
    const Planned plan =
        planned(R"({"input": {"width": 6, "height": 20, "channels": 8}, "kernel": {"width": 1, "height": 2, "count": 8}, "stride": {"y": 6},
                                  "partition": {"rows": 2, "reuse_data": true}})",
                "nv_small");
    const std::vector<PassWrites> passes = writes_of(plan.program);
    // Row 0 at line 0, row 1 at line 6; rows 2 and 3 at lines 12 and 18.
    EXPECT_THAT(rows_of(plan), ElementsAre(ElementsAre(0, 2, 0, 8), ElementsAre(2, 2, 0, 8)));
    EXPECT_EQ(value_of(passes[1], "CDMA.D_DAIN_ADDR_LOW_0"), 0x80000000u + 12 * 48);
}

TEST(Split, WindowsThatBeginAtTheSameLineAreFetchedTogetherAndKept)
{
    // Rows 0 and 1 begin in the padding: nothing of row 0's lines can be released, so it fetches row 1's as well.
    const Planned plan =
        planned(R"({"input": {"width": 6, "height": 8, "channels": 8}, "kernel": {"width": 1, "height": 4, "count": 8}, "pad": {"top": 2},
                                  "partition": {"rows": 1, "reuse_data": true}})",
                "nv_small");
    EXPECT_THAT(rows_of(plan),
                ElementsAre(ElementsAre(0, 1, 0, 4), ElementsAre(1, 1, 4, 0), ElementsAre(2, 1, 4, 0), ElementsAre(3, 1, 3, 1),
                            ElementsAre(4, 1, 3, 1), ElementsAre(5, 1, 3, 1), ElementsAre(6, 1, 3, 1)));
    EXPECT_THAT(bits_of(plan), ElementsAre("D", "dD", "d", "d", "d", "d", "d"));
}

TEST(Split, PartsWhollyInThePaddingHaveALineThatNothingReads)
{
    const Planned plan = planned(
        R"({"input": {"width": 6, "height": 3, "channels": 8}, "kernel": {"width": 1, "height": 1, "count": 8}, "pad": {"top": 4, "bottom": 5},
                                  "partition": {"rows": 2}})",
        "nv_small");
    const std::vector<PassWrites> passes = writes_of(plan.program);
    ASSERT_EQ(plan.passes.size(), 6u);
    EXPECT_THAT(rows_of(plan)[0], ElementsAre(0, 2, 0, 1));
    EXPECT_EQ(value_of(passes[0], "CSC", csc::D_ZERO_PADDING::PAD_TOP), 4u);
    EXPECT_EQ(value_of(passes[4], "CSC", csc::D_ZERO_PADDING::PAD_TOP), 2u);  // rows 8 and 9, below the input: above a line of it
    EXPECT_EQ(value_of(passes[4], "CDMA.D_DAIN_ADDR_LOW_0"), 0x80000000u + 2 * 48);
}

TEST(Split, ASingleLineOfOnePixelIsNotPackedSurfaces)
{
    const Planned plan = planned(R"({"input": {"width": 1, "height": 4, "channels": 64}, "kernel": {"width": 1, "height": 2, "count": 8},
                                  "partition": {"rows": 1, "reuse_data": true}})",
                                 "nv_small");
    const std::vector<PassWrites> passes = writes_of(plan.program);
    EXPECT_EQ(value_of(passes[0], "CDMA", cdma::D_DAIN_MAP::SURF_PACKED), 1u);  // two lines
    EXPECT_EQ(value_of(passes[1], "CDMA", cdma::D_DAIN_MAP::SURF_PACKED), 0u);
    EXPECT_EQ(value_of(passes[1], "CDMA", cdma::D_DAIN_MAP::LINE_PACKED), 1u);
}

TEST(Split, WinogradSlidesByWholeBlocks)
{
    const Planned plan = planned(
        R"({"input": {"width": 12, "height": 12, "channels": 32}, "kernel": {"width": 3, "height": 3, "count": 16}, "mode": "winograd",
                                  "pad": {"left": 1, "right": 1, "top": 1, "bottom": 1}, "partition": {"rows": 4, "reuse_data": true}})",
        "nv_full");
    const std::vector<PassWrites> passes = writes_of(plan.program);
    // 16 lines after extension; the first 8 begin above the input, the last 4 are lines 11 to 14.
    EXPECT_THAT(rows_of(plan), ElementsAre(ElementsAre(0, 4, 0, 7), ElementsAre(4, 4, 4, 4), ElementsAre(8, 4, 4, 1)));
    EXPECT_EQ(value_of(passes[0], "CDMA", cdma::D_DATAIN_SIZE_EXT_0::DATAIN_HEIGHT_EXT), 7u);
    EXPECT_EQ(value_of(passes[1], "CDMA", cdma::D_DATAIN_SIZE_EXT_0::DATAIN_HEIGHT_EXT), 3u);
    EXPECT_EQ(value_of(passes[1], "CSC", csc::D_DATAIN_SIZE_EXT_0::DATAIN_HEIGHT_EXT), 7u);
    EXPECT_EQ(value_of(passes[1], "CSC.D_RELEASE"), 3u);
    EXPECT_EQ(value_of(passes[0], "CDMA", cdma::D_ZERO_PADDING::PAD_TOP), 1u);
    EXPECT_EQ(value_of(passes[1], "CDMA", cdma::D_ZERO_PADDING::PAD_TOP), 0u);
    EXPECT_EQ(value_of(passes[1], "CDMA.D_DAIN_ADDR_LOW_0"), 0x80000000u + 7 * 12 * 32);
}

// ---- kernels, and both

TEST(Split, KernelPartsWorkOnTheSameData)
{
    const Planned plan = planned(conv(R"({"kernels": 8, "reuse_data": true})", R"(, "post": {"bias": true})"), "nv_small");
    const std::vector<PassWrites> passes = writes_of(plan.program);
    ASSERT_EQ(plan.passes.size(), 3u);
    EXPECT_THAT(bits_of(plan), ElementsAre("D", "dD", "d"));
    const PlannedPass& last = plan.passes[2];
    EXPECT_EQ(last.first_kernel, 16u);
    EXPECT_EQ(value_of(passes[2], "CDMA.D_WEIGHT_SIZE_1"), 3u);
    EXPECT_EQ(last.address.weights.byte() % 256, 0u);
    EXPECT_GE(last.address.weights, plan.passes[1].address.weights + 8 * 144);
    EXPECT_EQ(value_of(passes[2], "SDP.D_DST_BASE_ADDR_LOW"), 0xa0000000u + 2 * 12 * 48);
    EXPECT_EQ(value_of(passes[2], "CSC.D_RELEASE"), 12u - 1);
    ASSERT_EQ(plan.outputs.size(), 3u);
    EXPECT_EQ(plan.outputs[2].first_kernel, 16u);
}

TEST(Split, RowPartsKeepTheWeights)
{
    const Planned plan = planned(conv(R"({"rows": 5, "reuse_weights": true})"), "nv_small");
    EXPECT_THAT(bits_of(plan), ElementsAre("W", "wW", "w"));
    EXPECT_TRUE(plan.passes[0].fetches_weights);
    EXPECT_FALSE(plan.passes[2].fetches_weights);
    EXPECT_EQ(plan.passes[2].address.weights, plan.passes[0].address.weights);
}

TEST(Split, TheOrderOfPartsFetchesLeast)
{
    // Little weight, much data: rows outside, kernels turning, so that the weights at the turn stay too.
    const std::string wide =
        R"({"input": {"width": 60, "height": 12, "channels": 16}, "kernel": {"width": 1, "height": 3, "count": 16}, "partition": )";
    const Planned turning = planned(wide + R"({"rows": 5, "kernels": 8, "reuse_data": true, "reuse_weights": true}})", "nv_small");
    EXPECT_THAT(bits_of(turning), ElementsAre("D", "dW", "dwD", "d"));
    EXPECT_EQ(turning.passes[1].first_kernel, 8u);
    EXPECT_EQ(turning.passes[2].first_kernel, 8u);
    EXPECT_EQ(turning.passes[3].first_kernel, 0u);
    // Weights alone stay with the rows inside.
    const Planned inside = planned(wide + R"({"rows": 5, "kernels": 8, "reuse_weights": true}})", "nv_small");
    EXPECT_THAT(bits_of(inside), ElementsAre("W", "w", "W", "w"));
    EXPECT_EQ(inside.passes[1].first_kernel, 0u);
    // Much weight, little data: the same, and the window slides.
    const Planned heavy = planned(R"({"input": {"width": 3, "height": 12, "channels": 64}, "kernel": {"width": 3, "height": 3, "count": 16},
                                   "partition": {"rows": 5, "kernels": 8, "reuse_data": true, "reuse_weights": true}})",
                                  "nv_small");
    EXPECT_THAT(bits_of(heavy), ElementsAre("W", "dw", "W", "dw"));
}

TEST(Split, BanksAreTheSameInAllPartsAndLetTheNextOneFetchAhead)
{
    const Planned plan = planned(conv(R"({"rows": 5, "reuse_data": true})"), "nv_small");
    const std::vector<PassWrites> passes = writes_of(plan.program);
    for (const PassWrites& pass : passes) EXPECT_EQ(value_of(pass, "CSC.D_BANK"), value_of(passes[0], "CDMA.D_BANK"));
    // 12 entries a line; 6 lines and 5 of the next part are 132 of the 512 entries of a bank. 2880 bytes of weights twice: two banks.
    EXPECT_EQ(plan.passes[0].geometry.data_banks, 1u);
    EXPECT_EQ(plan.passes[0].geometry.weight_banks, 2u);
    const Planned told = planned(conv(R"({"rows": 5, "data_banks": 3, "weight_banks": 5})"), "nv_small");
    const PassWrites second = writes_of(told.program)[1];
    EXPECT_EQ(value_of(second, "CDMA", cdma::D_BANK::DATA_BANK), 2u);
    EXPECT_EQ(value_of(second, "CDMA", cdma::D_BANK::WEIGHT_BANK), 4u);
}

TEST(Split, GroupsAndPhasesAreCutOneByOne)
{
    const Planned groups =
        planned(R"({"input": {"width": 9, "height": 9, "channels": 64}, "kernel": {"width": 3, "height": 3, "count": 64}, "groups": 2,
                                    "partition": {"rows": 4, "reuse_data": true}})",
                "nv_small");
    EXPECT_THAT(bits_of(groups), ElementsAre("", "d", "", "d"));
    EXPECT_EQ(groups.outputs.size(), 2u);
    const Planned phases =
        planned(R"({"op": "deconv2d", "input": {"width": 4, "height": 4, "channels": 64}, "kernel": {"width": 4, "height": 4, "count": 32},
                                    "stride": {"x": 2, "y": 2}, "pad": {"left": 1, "right": 1, "top": 1, "bottom": 1}, "partition": {"rows": 2, "reuse_data": true}})",
                "nv_full");
    EXPECT_EQ(phases.passes.size(), 8u);
    EXPECT_EQ(phases.outputs.size(), 1u);
}

// ---- by itself

TEST(Split, AutomaticallyALayerThatFitsIsOnePass)
{
    const Planned whole(layer_of(conv("\"auto\"")), preset("nv_small"));
    Layer uncut = layer_of(conv("\"auto\""));
    uncut.partition = {};
    ASSERT_EQ(whole.passes.size(), 1u);
    EXPECT_FALSE(whole.partitioned);
    EXPECT_EQ(writes_of(whole.program), writes_of(Planned(uncut, preset("nv_small")).program));
}

/// res2a_branch1 of ResNet-50: 49 banks of nv_small's 32, and 4 banks of weights.
std::string large(const std::string& partition)
{
    return R"({"input": {"width": 56, "height": 56, "channels": 64}, "kernel": {"width": 1, "height": 1, "count": 256})" +
           (partition.empty() ? "" : R"(, "partition": )" + partition) + "}";
}

TEST(Split, AutomaticallyTheFewestPartsThatFit)
{
    const Planned plan = planned(large("\"auto\""), "nv_small");
    ASSERT_EQ(plan.passes.size(), 2u);
    EXPECT_THAT(bits_of(plan), ElementsAre("W", "w"));  // all weights fit beside half of the input
    EXPECT_EQ(plan.passes[0].geometry.data_banks + plan.passes[0].geometry.weight_banks, 32u);
    // Which is also what happens where nothing is said.
    const Planned unasked = planned(large(""), "nv_small");
    ASSERT_EQ(unasked.passes.size(), 2u);
    EXPECT_TRUE(unasked.partitioned);
    EXPECT_EQ(writes_of(unasked.program), writes_of(plan.program));
}

TEST(Split, AutomaticallyAGroupOfKernelsThatDoesNotFitIsCut)
{
    // fc6 of VGG-16: one group of 8 kernels are 49 banks of nv_small's 32; 4 of them are 25, the input 7.
    const std::string fc = R"({"op": "fully_connected", "input": {"width": 7, "height": 7, "channels": 512}, "kernel": {"count": 20})";
    const Planned plan = planned(fc + R"(, "partition": "auto"})", "nv_small");
    // Each part writes half an atom. The array puts two of them into one: 5 lines of 4 channels, stride 2, 8 kernels, one line of padding.
    EXPECT_TRUE(output_layout(plan, layer_of(fc + "}")).one_tensor);
    EXPECT_EQ(output_layout(plan, layer_of(fc + "}")).bytes, 3u * 8);
    ASSERT_EQ(plan.packing.size(), 1u);
    ASSERT_EQ(plan.packing.front().size(), 1u);
    const PlannedPass& packing = plan.packing.front().front();
    EXPECT_EQ(packing.address.input, plan.passes.front().address.output);
    EXPECT_EQ(packing.pass.height, 5u);
    EXPECT_EQ(packing.pass.channels, 4u);
    EXPECT_EQ(packing.pass.kernels, 8u);
    EXPECT_EQ(packing.pass.stride.y, 2u);
    EXPECT_EQ(packing.pass.pad.bottom, 1u);
    EXPECT_EQ(packing.geometry.out_height, 3u);
    EXPECT_EQ(plan.outputs.front().place.address, packing.address.output);
    EXPECT_EQ(output_layout(plan, layer_of(fc + "}")).tensor_bytes, 3u * 8);
    ASSERT_EQ(plan.passes.size(), 5u);
    EXPECT_THAT(bits_of(plan), ElementsAre("D", "dD", "dD", "dD", "d"));
    EXPECT_EQ(plan.outputs.size(), 1u);
    EXPECT_EQ(planned(fc + "}", "nv_small").passes.size(), 5u);
    const std::string wide = R"({"input": {"width": 8192, "height": 3, "channels": 64}, "kernel": {"width": 3, "height": 3, "count": 8})";
    EXPECT_TRUE(planned(wide + "}", "nv_small").cut.columns);  // a line of it takes 128 banks
    const std::string large = R"({"input": {"width": 16, "height": 16, "channels": 8192}, "kernel": {"width": 5, "height": 5, "count": 8})";
    EXPECT_THAT(refused(large + "}", "nv_small"), HasSubstr("one group of 1 kernels 50 of the 32 banks"));
}

TEST(Split, AutomaticallyStripsComeBeforeLessThanAGroupOfKernels)
{
    // nv_small with 16 KB of CBUF: three lines of 28 x 128 are 6 of its 8 banks, a group of 8 kernels 5. A group fits beside strips.
    Hardware small = preset("nv_small");
    small.cbuf.banks = 8;
    small.cbuf.bank_depth = 256;
    const std::string size = R"({"input": {"width": 28, "height": 28, "channels": 128}, "kernel": {"width": 3, "height": 3, "count": 64})";
    const Planned plan(layer_of(size + "}"), small);
    EXPECT_TRUE(plan.cut.columns);
    EXPECT_TRUE(plan.packing.empty());
    for (const PlannedPass& pass : plan.passes) EXPECT_EQ(pass.pass.kernels % 8, 0u);
    // With 8 KB four kernels are what fits, not one of them.
    small.cbuf.bank_depth = 128;
    const Planned smaller(layer_of(size + "}"), small);
    EXPECT_FALSE(smaller.packing.empty());
    for (const PlannedPass& pass : smaller.passes) EXPECT_EQ(pass.pass.kernels, 4u);
}

// ---- columns and phases of the dilation

TEST(Split, ColumnsAreConvolutionsOfTheirOwnInStridesOfTheWhole)
{
    // 20 columns of output, stride 2, from 41 of input and a padding of 1: columns 0..7 read -1..15, 8..15 read 15..31, 16..19 read 31..39.
    const Planned plan = planned(
        R"({"input": {"width": 41, "height": 3, "channels": 16}, "kernel": {"width": 3, "height": 3, "count": 8}, "stride": {"x": 2, "y": 1},
            "pad": {"left": 1}, "partition": {"columns": 8}})",
        "nv_small");
    ASSERT_EQ(plan.passes.size(), 3u);
    const std::uint32_t line = 41 * 8, out_line = 20 * 8;
    const std::uint32_t width[] = {16, 17, 9}, begin[] = {0, 15, 31}, out[] = {8, 8, 4}, left[] = {1, 0, 0};
    for (std::size_t i = 0; i < 3; ++i) {
        const PassWrites pass = writes_of(plan.program)[i];
        EXPECT_EQ(value_of(pass, "CDMA", cdma::D_DATAIN_SIZE_0::DATAIN_WIDTH), width[i] - 1);
        EXPECT_EQ(value_of(pass, "CDMA.D_LINE_STRIDE"), line);
        EXPECT_EQ(value_of(pass, "CDMA.D_SURF_STRIDE"), 3 * line);
        EXPECT_EQ(value_of(pass, "CDMA", cdma::D_DAIN_MAP::LINE_PACKED), 0u);  // lines are apart
        EXPECT_EQ(value_of(pass, "CDMA.D_DAIN_ADDR_LOW_0"), 0x80000000 + begin[i] * 8);
        EXPECT_EQ(value_of(pass, "CSC.D_ZERO_PADDING"), left[i]);
        EXPECT_EQ(value_of(pass, "SDP.D_DATA_CUBE_WIDTH"), out[i] - 1);
        EXPECT_EQ(value_of(pass, "SDP.D_DST_LINE_STRIDE"), out_line);
        EXPECT_EQ(value_of(pass, "SDP.D_DST_BASE_ADDR_LOW"), 0xa0000000 + i * 8 * 8);
    }
    EXPECT_TRUE(output_layout(plan, layer_of(R"({"input": {"width": 41, "height": 3, "channels": 16},
        "kernel": {"width": 3, "height": 3, "count": 8}, "stride": {"x": 2, "y": 1}, "pad": {"left": 1}})"))
                    .one_tensor);
}

TEST(Split, PhasesOfADilationAreConvolutionsWithoutIt)
{
    // 41 rows, dilation 12, padding 12: row 0 reads -12, 0, 12, row 5 reads -7, 5, 17.
    const Planned plan = planned(
        R"({"input": {"width": 10, "height": 41, "channels": 8}, "kernel": {"width": 3, "height": 3, "count": 8}, "dilation": {"x": 1, "y": 12},
            "pad": {"top": 12, "bottom": 12}, "partition": {"dilation_phases": true}})",
        "nv_small");
    ASSERT_EQ(plan.passes.size(), 12u);
    for (const std::size_t phase : {0, 5}) {
        const PassWrites pass = writes_of(plan.program)[phase];
        const std::uint32_t rows = phase == 0 ? 4 : 3;  // 0, 12, 24, 36; 5, 17, 29
        EXPECT_EQ(value_of(pass, "CDMA", cdma::D_DATAIN_SIZE_0::DATAIN_HEIGHT), rows - 1);
        EXPECT_EQ(value_of(pass, "CDMA.D_LINE_STRIDE"), 12u * 10 * 8);
        EXPECT_EQ(value_of(pass, "CDMA.D_DAIN_ADDR_LOW_0"), 0x80000000 + phase * 10 * 8);
        EXPECT_EQ(value_of(pass, "CSC", csc::D_ZERO_PADDING::PAD_TOP), 1u);
        EXPECT_EQ(value_of(pass, "CSC.D_DILATION_EXT"), 0u);
        EXPECT_EQ(value_of(pass, "SDP.D_DATA_CUBE_HEIGHT"), rows - 1);
        EXPECT_EQ(value_of(pass, "SDP.D_DST_LINE_STRIDE"), 12u * 8 * 8);
        EXPECT_EQ(value_of(pass, "SDP.D_DST_BASE_ADDR_LOW"), 0xa0000000 + phase * 8 * 8);
        EXPECT_EQ(plan.passes[phase].row_step, 12u);
    }
    // Stride 2 and dilation 6 have 2 in common: 3 phases of stride 1.
    const Planned strided = planned(
        R"({"input": {"width": 10, "height": 40, "channels": 8}, "kernel": {"width": 3, "height": 3, "count": 8}, "stride": {"x": 1, "y": 2},
            "dilation": {"x": 1, "y": 6}, "partition": {"dilation_phases": true}})",
        "nv_small");
    ASSERT_EQ(strided.passes.size(), 3u);
    EXPECT_EQ(value_of(writes_of(strided.program)[1], "CSC.D_CONV_STRIDE_EXT"), 0u);
    EXPECT_EQ(value_of(writes_of(strided.program)[1], "CDMA.D_DAIN_ADDR_LOW_0"), 0x80000000u + 2 * 10 * 8);
}

TEST(Split, StripsThatCannotBeAreRefused)
{
    const std::string layer =
        R"({"input": {"width": 10, "height": 9, "channels": 8}, "kernel": {"width": 1, "height": 1, "count": 8}, "pad": {"left": 4}, "partition": )";
    EXPECT_THAT(refused(layer + R"({"columns": 4}})", "nv_small"),
                HasSubstr("/partition/columns: found 4, expected more: a tile would have"));
    EXPECT_THAT(refused(layer + R"({"dilation_phases": true}})", "nv_small"),
                HasSubstr("/partition/dilation_phases: found true, expected a dilation"));
    EXPECT_EQ(planned(layer + R"({"columns": 5}})", "nv_small").passes.size(), 3u);
}

// ---- the output

OutputLayout layout_of(const std::string& text, const char* hw) { return output_layout(planned(text, hw), layer_of(text)); }

/// 4 x 4 places and 32 kernels: one surface of 512 bytes on nv_full.
std::string square(const std::string& partition, const std::string& more = "")
{
    return R"({"input": {"width": 4, "height": 4, "channels": 32}, "kernel": {"width": 1, "height": 1, "count": 32})" + more +
           (partition.empty() ? "" : R"(, "partition": )" + partition) + "}";
}

TEST(Split, PartsOfLessThanAnAtomAreRefusedOrPaddedAndSaySo)
{
    EXPECT_THAT(refused(square(R"({"kernels": 8})"), "nv_full"),
                HasSubstr("/partition/kernels: found 8, expected a multiple of the 32 channels of an atom"));
    const OutputLayout padded = layout_of(square(R"({"kernels": 8, "padded": true})"), "nv_full");
    EXPECT_FALSE(padded.one_tensor);
    EXPECT_EQ(padded.regions, 4u);
    EXPECT_EQ(padded.bytes, 2048u);
    EXPECT_EQ(padded.tensor_bytes, 512u);
    // All of the kernels are no part of them.
    EXPECT_TRUE(layout_of(square(R"({"kernels": 32})"), "nv_full").one_tensor);
    EXPECT_TRUE(layout_of(square(R"({"kernels": 64})"), "nv_full").one_tensor);
}

TEST(Split, WholeAtomsAreOneTensorWhateverTheParts)
{
    for (const char* partition :
         {"", R"({"rows": 2})", R"({"kernels": 8})", R"({"kernels": 16, "rows": 1})", R"({"kernels": 24, "rows": 3})"}) {
        const OutputLayout layout = layout_of(square(partition), "nv_small");
        EXPECT_TRUE(layout.one_tensor) << partition;
        EXPECT_EQ(layout.bytes, 512u) << partition;
        EXPECT_EQ(layout.tensor_bytes, 512u) << partition;
    }
    // int8 to int16: two surfaces for an atom of kernels; and batches, each of them with all kernels.
    const OutputLayout wide = layout_of(square(R"({"kernels": 32})", R"(, "post": {"output": {"precision": "int16"}})"), "nv_full");
    EXPECT_TRUE(wide.one_tensor);
    EXPECT_EQ(wide.tensor_bytes, 1024u);
    const std::string batch =
        R"({"input": {"width": 4, "height": 4, "channels": 32, "batch": 2}, "kernel": {"width": 1, "height": 1, "count": 96}, "partition": {"kernels": 32}})";
    EXPECT_TRUE(layout_of(batch, "nv_full").one_tensor);
    EXPECT_EQ(layout_of(batch, "nv_full").bytes, 3072u);
}

TEST(Split, GroupsThatDoNotEndWithAnAtomSaySo)
{
    // 16 kernels a group are two atoms of nv_small, 12 are one and a half.
    const auto groups = [](int kernels) {
        return R"({"input": {"width": 4, "height": 4, "channels": 32}, "kernel": {"width": 1, "height": 1, "count": )" +
               std::to_string(kernels) + R"(}, "groups": 2})";
    };
    EXPECT_TRUE(layout_of(groups(32), "nv_small").one_tensor);
    const OutputLayout padded = layout_of(groups(24), "nv_small");
    EXPECT_FALSE(padded.one_tensor);
    EXPECT_EQ(padded.bytes, 4u * 128);
    EXPECT_EQ(padded.tensor_bytes, 3u * 128);
}

// ---- refusals

TEST(Split, WhatTheMachineCannotDoIsRefusedWithTheRule)
{
    EXPECT_THAT(refused(conv(R"({"kernels": 12})"), "nv_small"),
                HasSubstr("/partition/kernels: found 12, expected a multiple of the 8 kernels of a group: a tile"));
    EXPECT_THAT(refused(large(R"({"rows": 50})"), "nv_small"),
                HasSubstr("/partition: does not fit the CBUF: a tile takes 50 lines of 448 entries = 44 banks, one group of its kernels 1 "
                          "of the 32 banks of 4096 bytes; "
                          "expected at most 35 rows in a tile with these weights"));
    EXPECT_THAT(refused(large(R"({"rows": 35, "reuse_weights": true})"), "nv_small"),
                HasSubstr("its weights, which are kept, 4 of the 32 banks"));
    EXPECT_THAT(refused(conv(R"({"data_banks": 40})"), "nv_small"), HasSubstr("/partition/data_banks: found 40"));
    EXPECT_THAT(refused(conv(R"({"data_banks": 32})"), "nv_small"),
                HasSubstr("/partition/data_banks: found 32, expected at most 31 of the 32 banks beside 1 of weights"));
    EXPECT_THAT(refused(conv(R"({"rows": 4, "weight_banks": 32})"), "nv_small"),
                HasSubstr("/partition/weight_banks: found 32, expected at most 31 of the 32 banks beside 1 of data"));
    EXPECT_THAT(
        refused(
            R"({"input": {"width": 56, "height": 9, "channels": 64}, "kernel": {"width": 3, "height": 3, "count": 8}, "partition": {"data_banks": 2}})",
            "nv_small"),
        HasSubstr("/partition/data_banks: found 2, expected at least 3: output row 0 takes 3 lines of 448 entries"));
    EXPECT_THAT(refused(large(R"({"rows": 28, "weight_banks": 2, "reuse_weights": true})"), "nv_small"),
                HasSubstr("/partition/weight_banks: found 2, expected at least 4 for the weights that are kept"));
    EXPECT_THAT(
        refused(
            R"({"input": {"width": 12, "height": 12, "channels": 32}, "kernel": {"width": 3, "height": 3, "count": 16}, "mode": "winograd",
                            "pad": {"left": 1, "right": 1, "top": 1, "bottom": 1}, "partition": {"rows": 6}})",
            "nv_full"),
        HasSubstr("/partition/rows: found 6, expected a multiple of 4"));
    EXPECT_THAT(
        refused(
            R"({"op": "deconv2d", "input": {"width": 4, "height": 4, "channels": 8}, "kernel": {"width": 2, "height": 2, "count": 32}, "partition": {"kernels": 8}})",
            "nv_small"),
        HasSubstr("the phases of a deconvolution are tiled by rows"));
    EXPECT_THAT(
        refused(
            R"({"input": {"width": 6, "height": 8192, "channels": 8}, "kernel": {"width": 1, "height": 1, "count": 24}, "partition": {"rows": 1, "kernels": 8}})",
            "nv_small"),
        HasSubstr("found 24576 tiles, expected at most 16384"));
    EXPECT_THAT(
        refused(
            R"({"input": {"width": 6, "height": 1, "channels": 8}, "kernel": {"width": 1, "height": 21, "count": 8}, "dilation": {"y": 2}, "pad": {"bottom": 63},
                            "partition": {"rows": 1}})",
            "nv_small"),
        HasSubstr("below the input, with a window of 41 lines, expected at most 31"));
}

TEST(Split, PartsOfASingleOutputPlaceNeedOneSurface)
{
    const std::string column =
        R"({"input": {"width": 1, "height": 7, "channels": 8}, "kernel": {"width": 1, "height": 1, "count": 24}, "partition": )";
    EXPECT_THAT(refused(column + R"({"rows": 1}})", "nv_small"), HasSubstr("SDP takes its surfaces one after the other"));
    EXPECT_THAT(rows_of(planned(column + R"({"rows": 3}})", "nv_small")),
                ElementsAre(ElementsAre(0, 3, 0, 3), ElementsAre(3, 2, 0, 2), ElementsAre(5, 2, 0, 2)));
    EXPECT_EQ(planned(column + R"({"rows": 1, "kernels": 8}})", "nv_small").passes.size(), 21u);
    // Batches stand apart and are written one by one, but their operands per element are read as of one.
    const std::string batch =
        R"({"input": {"width": 1, "height": 3, "channels": 8, "batch": 2}, "kernel": {"width": 1, "height": 1, "count": 64}, "partition": {"rows": 1})";
    EXPECT_EQ(planned(batch + "}", "nv_full").passes.size(), 3u);
    EXPECT_THAT(refused(batch + R"(, "post": {"bs": {"alu": {"per": "element"}}}})", "nv_full"),
                HasSubstr("SDP takes its surfaces one after the other"));
}

// sdp_spec_test shows what the machine does with more surfaces: it hangs.
TEST(Split, ASingleOutputPlaceInSeveralBatchesWithOperandsPerElementRunsSurfaceBySurface)
{
    const std::string layer = R"({"input": {"width": 3, "height": 3, "channels": 8, "batch": 2}PRECISION, )"
                              R"("kernel": {"width": 3, "height": 3, "count": 80}, "post": {"bs": {"alu": {"per": "element"}}}MORE})";
    const auto with = [&](const std::string& precision, const std::string& more) {
        std::string text = layer;
        text.replace(text.find("PRECISION"), 9, precision);
        text.replace(text.find("MORE"), 4, more);
        return text;
    };
    const auto kernels = [](const LayerPlan& plan) {
        std::vector<std::uint32_t> counts;
        for (const PlannedPass& pass : plan.passes) counts.push_back(pass.kernels);
        return counts;
    };
    EXPECT_THAT(kernels(planned(with("", ""), "nv_full")), ElementsAre(32, 32, 16));
    EXPECT_THAT(kernels(planned(with(R"(, "precision": "fp16")", ""), "nv_full")), ElementsAre(16, 16, 16, 16, 16));
    EXPECT_THAT(kernels(planned(with("", R"(, "partition": "auto")"), "nv_full")), ElementsAre(32, 32, 16));
    EXPECT_THAT(kernels(planned(with("", R"(, "partition": {"kernels": 64})"), "nv_full")), ElementsAre(32, 32, 16));
    EXPECT_THAT(kernels(planned(with("", R"(, "pad": {"left": 1})"), "nv_full")), ElementsAre(80)) << "two output places";
}

TEST(Split, ALineOfPixelsDoesNotWrapAroundTheRingWhereTheSiliconReadsItWrongly)
{
    // 27 pixels of 4 bytes: 14 entries of 8 bytes; a bank of 512 holds 36 of them and a part of one.
    const std::string pixels =
        R"({"input": {"width": 27, "height": 300, "format": "T_A8B8G8R8"}, "kernel": {"width": 7, "height": 7, "count": 8}, "stride": {"x": 3}, "partition": )";
    EXPECT_THAT(refused(pixels + R"({"data_banks": 1, "reuse_data": true}})", "nv_small"),
                HasSubstr("nv_small reads such lines wrongly for a stride of more than 8 components"));
    EXPECT_EQ(planned(pixels + R"({"data_banks": 7, "reuse_data": true}})", "nv_small").passes[0].geometry.data_banks,
              7u);  // 3584 = 256 lines
    EXPECT_EQ(planned(pixels + R"({"rows": 10, "reuse_data": true}})", "nv_small").passes[0].geometry.data_banks, 7u);
    EXPECT_EQ(planned(pixels + R"({"rows": 10, "reuse_data": true}})", "nv_large").passes[0].geometry.data_banks, 1u);
}

}  // namespace split_test
}  // namespace dlasim
