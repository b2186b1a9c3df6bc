// Layers to plans: layouts, banks, refusals. Expected values by hand from programming.md.
#include "lowering/plan.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "config/layer/layer_reader.h"
#include "facts/presets.h"
#include "lowering/cut/weight_ring.h"
#include "lowering/program/layer_program.h"
#include "lowering/program/program_writer.h"
#include "refusal.h"
#include "written.h"

namespace dlasim {
namespace plan_test {

using testing::ElementsAre;
using testing::HasSubstr;

Layer layer_of(const std::string& text) { return layer_from_json(parse_json(text, "l.json"), "l.json", "", ""); }
const Hardware& preset(const char* name) { return *find_preset(name); }

/// Of the first pass.
Program program_of(const LayerPlan& plan, const Hardware& hardware = preset("nv_small"))
{
    Program program;
    ProgramWriter(hardware, program).write(registers_of(plan.passes.front(), {}, hardware));
    return program;
}
std::uint32_t value_of(const LayerPlan& plan, const std::string& name) { return value_of(writes_of(program_of(plan))[0], name); }
std::uint32_t value_of(const LayerPlan& plan, const std::string& unit, reg::Field field)
{
    return value_of(writes_of(program_of(plan))[0], unit, field);
}

constexpr const char* kConv =
    R"({"input": {"width": 6, "height": 5, "channels": 20}, "kernel": {"width": 3, "height": 3, "count": 10}, "pad": {"left": 1}})";

/// 6 x 5 x 20 bytes of input take 3 surfaces of 240 bytes on nv_small; all areas begin where they are placed.
std::string placed(const std::string& placement)
{
    std::string text = kConv;
    return text.substr(0, text.size() - 1) + R"(, "placement": )" + placement + "}";
}

TEST(LayerPlan, PartsThatCannotBePackedStayApart)
{
    // Packing 32 lanes takes 32 kernels of 32 channels, 1024 bytes: two banks, of which there are two. It packed itself without an end.
    Hardware small = preset("nv_small");
    small.mac.atomic_c = small.mac.atomic_k = small.memory.atom_bytes = small.memory.primary.width_bytes = small.cbuf.entry_bytes = 32;
    small.cbuf.banks = 2;
    small.cbuf.bank_depth = 16;
    const Layer layer =
        layer_of(R"({"input": {"width": 9, "height": 7, "channels": 12}, "kernel": {"width": 3, "height": 3, "count": 10}})");
    const LayerPlan plan = plan_shape(layer, small);
    EXPECT_TRUE(plan.packing.empty());
    EXPECT_EQ(plan.outputs.size(), 3u);  // 4 kernels each
    small.cbuf.bank_depth = 32;
    EXPECT_EQ(plan_shape(layer, small).outputs.size(), 1u);
}

TEST(LayerPlan, TilesOfLessThanAGroupAreSmallEnoughThatTheNextOneIsFetchedMeanwhile)
{
    // A kernel takes 25,088 bytes; 15 of 16 banks hold 19 of them. With 16 in a tile the next fetch has to wait for the array,
    // whose 392 operations take 32 cycles for any number of kernels up to 32.
    const std::string fc = R"({"op": "fully_connected", "input": {"width": 7, "height": 7, "channels": 512}, "kernel": {"count": 70})";
    const LayerPlan plan = plan_shape(layer_of(fc + R"(, "plan": {"minimise": "cycles"}})"), preset("nv_large"));
    std::vector<std::uint32_t> kernels;
    for (const PlannedPass& pass : plan.passes) kernels.push_back(pass.pass.kernels);
    EXPECT_THAT(kernels, ElementsAre(11, 11, 10, 11, 11, 10, 6));
    ASSERT_EQ(plan.packing.size(), 1u);
    const Pass& packing = plan.packing.front().front().pass;
    EXPECT_EQ(packing.channels, 11u);
    EXPECT_EQ(packing.kernels, 32u);
    EXPECT_EQ(packing.stride.y, 3u);
    EXPECT_EQ(packing.pad.bottom, 2u);
    EXPECT_TRUE(output_layout(plan, layer_of(fc + "}")).one_tensor);
    EXPECT_EQ(output_layout(plan, layer_of(fc + "}")).bytes, 3u * 32);
}

TEST(LayerPlan, FewKernelsOfALayerThatFitsStayTogether)
{
    const Layer layer =
        layer_of(R"({"input": {"width": 28, "height": 28, "channels": 1, "format": "T_R8"}, "kernel": {"width": 5, "height": 5, "count": 6},
                                     "plan": {"minimise": "balanced"}})");
    for (const PlannedPass& pass : plan_shape(layer, preset("nv_small")).passes) EXPECT_EQ(pass.kernels, 6u);
}

TEST(LayerPlan, APassThatDoesNotFitSaysWhyWithoutAnException)
{
    Pass pass = plan_shape(layer_of(kConv), preset("nv_small")).passes.front().pass;
    EXPECT_TRUE(fits(pass, preset("nv_small")));
    pass.data_banks = pass.weight_banks = 0;
    pass.height = 4000;
    const Fit<Geometry> fit = fits(pass, preset("nv_small"));
    EXPECT_FALSE(fit);
    EXPECT_THAT(fit.problem, testing::StartsWith("does not fit the CBUF: the input takes "));
    EXPECT_EQ(refusal([&] { size_pass(pass, preset("nv_small"), "here: there"); }), "here: there: " + fit.problem);
}

Layer pooled_layer(const std::string& pool, const std::string& file = "l.json")
{
    return layer_from_json(
        parse_json(R"({"input": {"width": 512, "height": 512, "channels": 64}, "kernel": {"width": 3, "height": 3, "count": 16},
                       "post": {"pool": )" +
                       pool + "}}",
                   "l.json"),
        file, "", "");
}

/// Rows and columns of windows that overlap are computed by both parts; the last row of 510 is in no window of two.
TEST(LayerPlan, APoolingBehindALayerThatDoesNotFitIsCutWithIt)
{
    for (const auto& [pool, kernel, pooled] : {std::tuple{R"({"function": "max", "kernel_shape": [2, 2], "strides": [2, 2]})", 2u, 255u},
                                               std::tuple{R"({"function": "max", "kernel_shape": [3, 3], "strides": [2, 2]})", 3u, 254u}}) {
        const LayerPlan plan = plan_shape(pooled_layer(pool), preset("nv_small"));
        std::uint64_t places = 0;
        EXPECT_TRUE(plan.cut.rows && plan.cut.columns);
        for (const PlannedPass& pass : plan.passes) {
            ASSERT_TRUE(pass.pool && pass.pool->flying);
            const PoolGeometry& made = pass.pool->geometry;
            EXPECT_EQ(pass.geometry.out_height, (made.out_height - 1) * 2 + kernel);
            EXPECT_EQ(pass.geometry.out_width, (made.out_width - 1) * 2 + kernel);
            EXPECT_EQ(made.strides.line, std::uint64_t{pooled} * 8);
            EXPECT_LE(made.out_width, kernel == 2 ? 128u : 64u);  // [spec] pdp.md 1.6
            places += std::uint64_t{made.out_width} * made.out_height;
        }
        EXPECT_EQ(places, std::uint64_t{pooled} * pooled);
    }
}

/// Whatever the file is called.
TEST(LayerPlan, APoolingThatPdpHasNotIsRefusedWithTheReason)
{
    const std::string file = "odd: name: " + std::string(20'000, 'x');
    const Layer layer = pooled_layer(R"({"function": "max", "kernel_shape": [8, 8], "pads": [7, 0, 0, 0], "strides": [1, 1]})", file);
    EXPECT_THAT(refusal([&] { plan_shape(layer, preset("nv_small")); }), HasSubstr("found a padding of 7 on top of overlapping windows"));
}

TEST(LayerPlan, TensorsStandWhereTheDescriptorPlacesThem)
{
    const LayerPlan plan = plan_shape(layer_of(placed(R"({"input": 4096, "weights": 65536, "output": 131072})")), preset("nv_small"));
    EXPECT_EQ(value_of(plan, "CDMA.D_DAIN_ADDR_LOW_0"), 4096u);
    EXPECT_EQ(value_of(plan, "CDMA.D_WEIGHT_ADDR_LOW"), 65536u);
    EXPECT_EQ(value_of(plan, "SDP.D_DST_BASE_ADDR_LOW"), 131072u);
}

TEST(LayerPlan, PlacesThatOverlapOrLeaveTheAddressSpaceAreRefused)
{
    EXPECT_THAT(refusal([] { plan_shape(layer_of(placed(R"({"input": 4096, "weights": 4352})")), preset("nv_small")); }),
                HasSubstr("overlap the weights"));
    EXPECT_THAT(refusal([] { plan_shape(layer_of(placed(R"({"input": 4294967040})")), preset("nv_small")); }), HasSubstr("below 4 GiB"));
    EXPECT_THAT(refusal([] { layer_of(placed(R"({"input": 100})")); }), HasSubstr("expected a multiple of 256"));
}

TEST(LayerPlan, FeatureDataStandInSurfacesOfOneAtom)
{
    // 20 channels of nv_small: 3 surfaces of 8 channels. Element (x 2, y 1, c 17): surface 2, channel 1.
    const Cube cube{{.line = 48, .surface = 240, .batch = 720}, 8, 1};
    EXPECT_EQ(cube.offset(0, 17, 1, 2), 2u * 240 + 48 + 2 * 8 + 1);
    Tensor input(1, 20, 5, 6);
    input.at(0, 17, 1, 2) = -7;
    EXPECT_EQ(feature_bytes(input, {0, 20}, cube, 720)[545], 0xf9);
    Tensor back(1, 20, 5, 6);
    read_feature(feature_bytes(input, {0, 20}, cube, 720), cube, back, {0, 20});
    EXPECT_EQ(back, input);
}

TEST(LayerPlan, WeightsStandByGroupSliceRowColumnKernelChannel)
{
    // nv_small: groups of 8 kernels, slices of 8 channels. 9 kernels of 1 x 1 x 10.
    const Layer layer =
        layer_of(R"({"input": {"width": 4, "height": 4, "channels": 10}, "kernel": {"width": 1, "height": 1, "count": 9}})");
    const LayerPlan plan = plan_shape(layer, preset("nv_small"));
    Tensor weights(9, 10, 1, 1);
    for (std::uint32_t k = 0; k < 9; ++k)
        for (std::uint32_t c = 0; c < 10; ++c) weights.at(k, c, 0, 0) = static_cast<std::int16_t>(10 * k + c);
    const auto stream = weight_stream(plan.passes[0].pass, plan.passes[0].geometry, preset("nv_small"), weights);
    ASSERT_EQ(stream.size(), 90u);
    EXPECT_EQ(stream[7], 7);                               // kernel 0, channel 7
    EXPECT_EQ(stream[8], 10);                              // kernel 1, channel 0
    EXPECT_EQ(stream[64], 8);                              // the second slice: kernel 0, channel 8
    EXPECT_EQ(stream[66], 18);                             // kernel 1, channel 8
    EXPECT_EQ(stream[80], 80);                             // the second group: kernel 8
    EXPECT_EQ(plan.passes[0].geometry.weight_bytes, 96u);  // rounded up to an entry of 8
}

TEST(LayerPlan, CompressedWeightsAreNonZeroElementsAMaskAndGroupSizes)
{
    const Layer layer = layer_of(
        R"({"input": {"width": 4, "height": 4, "channels": 4}, "kernel": {"width": 1, "height": 1, "count": 2}, "weights": {"compressed": true}})");
    Pass pass;
    pass.channels = 4;
    pass.kernels = 2;
    Geometry geometry;
    geometry.kernel_bytes = 4;
    const CompressedWeights c = compress(pass, geometry, preset("nv_full"), {0, 5, 0, -1, 7, 0, 0, 0});
    EXPECT_EQ(c.weights.size(), 128u);
    EXPECT_THAT(std::vector<std::uint8_t>(c.weights.begin(), c.weights.begin() + 4), ElementsAre(5, 255, 7, 0));
    EXPECT_EQ(c.mask[0], 0b00011010);
    EXPECT_EQ(c.group_sizes.size(), 32u);
    EXPECT_EQ(c.group_sizes[0], 3);
    EXPECT_EQ(layer.compressed, true);
}

TEST(LayerPlan, OfCompressedWeightsThatAreAllZeroOneIsStored)
{
    // CDMA fetches 128 bytes whatever there is, and what CSC does not read is in the way of the next pass.
    Pass pass;
    pass.precision = Precision::Int16;
    Geometry geometry;
    geometry.kernel_bytes = 8;
    const CompressedWeights c = compress(pass, geometry, preset("nv_full"), {0, 0, 0, 0});
    EXPECT_EQ(c.weights, Bytes(128));
    EXPECT_EQ(c.mask[0], 1);
    EXPECT_EQ(c.group_sizes[0], 2);
}

TEST(LayerPlan, ACompressedKernelGroupMustFitItsBanks)
{
    const auto refused = [](const char* text) {
        const Layer layer = layer_of(text);
        return refusal([&] { plan_layer(layer, preset("nv_full"), load_tensors(layer)); });
    };
    // 32 kernels of 13 x 13 x 64: 346112 bits of mask.
    EXPECT_THAT(
        refused(
            R"({"op": "fully_connected", "input": {"width": 13, "height": 13, "channels": 64}, "kernel": {"count": 32}, "weights": {"compressed": true, "density": 30}})"),
        HasSubstr("found a weight mask of 43264 bytes for one group of 32 kernels, expected at most 32768"));
    // 11 banks of input leave 4 of 15; 32 kernels of 6 x 6 x 128, nothing zero, are 4.5.
    EXPECT_THAT(
        refused(
            R"({"input": {"width": 44, "height": 64, "channels": 128}, "kernel": {"width": 6, "height": 6, "count": 32}, "weights": {"compressed": true}})"),
        HasSubstr("one group of 32 kernels 5 of the 15 banks"));
}

TEST(LayerPlan, AKernelGroupTakesMoreThanItsBytesWhereBurstsDoNotFitBehindTheGroupBefore)
{
    // nv_small_256: entries of 4 atoms, bursts of 8, two atoms beyond the ring. 8 kernels of 1022 bytes are 255.5 entries of two banks'
    // 256. Group 2 ends in entry 767, atom 3068, so bursts up to atom 3072 must come; CSC has released 511 entries, atoms up to 2044.
    const Hardware& hw = preset("nv_small_256");
    const auto banks = [&](std::uint32_t kernels) { return weight_banks(hw, group_ends(hw, Precision::Int8, Kernels{kernels}, 1022)); };
    EXPECT_EQ(banks(8), 2u);
    EXPECT_EQ(banks(24), 2u);  // group 2 is the last: its last burst ends with it
    EXPECT_EQ(banks(25), 3u);
    EXPECT_EQ(weight_banks(hw, group_ends(hw, Precision::Int8, Kernels{25}, 1024)), 2u);  // whole entries, whole bursts
}

TEST(LayerPlan, ALayerBecomesItsRegisters)
{
    const LayerPlan plan = plan_shape(layer_of(kConv), preset("nv_small"));
    EXPECT_EQ(plan.mode, "direct");
    EXPECT_EQ(value_of(plan, "CDMA", reg::cdma::D_DATAIN_SIZE_0::DATAIN_WIDTH), 5u);
    EXPECT_EQ(value_of(plan, "CDMA", reg::cdma::D_DATAIN_SIZE_0::DATAIN_HEIGHT), 4u);
    EXPECT_EQ(value_of(plan, "CDMA.D_ENTRY_PER_SLICE"), 17u);  // 3 surfaces x 6 pixels
    EXPECT_EQ(value_of(plan, "CDMA.D_WEIGHT_SIZE_0"), 3u * 3 * 20 - 1);
    EXPECT_EQ(value_of(plan, "CDMA.D_WEIGHT_BYTES"), 1800u);  // 10 kernels x 180
    EXPECT_EQ(value_of(plan, "CSC", reg::csc::D_DATAOUT_SIZE_0::DATAOUT_WIDTH), 4u);
    EXPECT_EQ(value_of(plan, "CSC", reg::csc::D_DATAOUT_SIZE_0::DATAOUT_HEIGHT), 2u);
    EXPECT_EQ(value_of(plan, "CSC.D_ATOMICS"), 14u);
    EXPECT_EQ(value_of(plan, "SDP.D_DP_BS_CFG"), 1u);
}

TEST(LayerPlan, AOneByOneInputIsPacked)
{
    const LayerPlan plan =
        plan_shape(layer_of(R"({"op": "fully_connected", "input": {"width": 1, "height": 1, "channels": 512}, "kernel": {"count": 32}})"),
                   preset("nv_full"));
    EXPECT_EQ(value_of(plan, "CDMA.D_ENTRY_PER_SLICE"), 3u);  // 16 surfaces, 4 an entry
}

TEST(LayerPlan, BiasComesThroughTheFirstOperandReader)
{
    const Layer layer = layer_of(
        R"({"input": {"width": 4, "height": 4, "channels": 8}, "kernel": {"width": 1, "height": 1, "count": 8}, "post": {"bias": {"shift": 3}, "activation": "relu"}})");
    const LayerPlan plan = plan_layer(layer, preset("nv_small"), load_tensors(layer));
    EXPECT_EQ(value_of(plan, "SDP.D_DP_BS_CFG"), 0x18u);       // SUM, no multiplier, ReLU
    EXPECT_EQ(value_of(plan, "SDP.D_DP_BS_ALU_CFG"), 0x301u);  // from memory, shift 3
    EXPECT_EQ(value_of(plan, "SDP_RDMA.D_BRDMA_CFG"), 0x2au);  // ALU only, two bytes, per kernel, primary
    EXPECT_EQ(enables_of(writes_of(program_of(plan))[0]).front(), "SDP_RDMA.D_OP_ENABLE");
}

TEST(LayerPlan, TheProgramWaitsForTheFlushAndEndsWithTheInterrupt)
{
    const Layer layer = layer_of(kConv);
    const Program program = layer_program(layer, plan_shape(layer, preset("nv_small")), preset("nv_small"));
    ASSERT_TRUE(std::holds_alternative<PollRegister>(program.front()));
    EXPECT_EQ(std::get<PollRegister>(program.front()).name, "CDMA.S_CBUF_FLUSH_STATUS");
    EXPECT_TRUE(std::holds_alternative<WaitInterrupt>(program.back()));
    const std::size_t n = program.size();
    EXPECT_TRUE(std::holds_alternative<MarkT0>(program[n - 2]));
    EXPECT_EQ(std::get<RegisterWrite>(program[n - 3]).name, "CDMA.D_OP_ENABLE");
}

TEST(LayerPlan, GroupsShareAPassUntilAKernelGroupIsFull)
{
    const Layer layer =
        layer_of(R"({"input": {"width": 7, "height": 7, "channels": 48}, "kernel": {"width": 3, "height": 3, "count": 48}, "groups": 48})");
    EXPECT_EQ(plan_shape(layer, preset("nv_small")).passes.size(), 6u);  // 8 channels, 8 kernels a pass
    EXPECT_EQ(plan_shape(layer, preset("nv_large")).passes.size(), 2u);  // 32 kernels a pass
    const Layer two = layer_of(
        R"({"input": {"width": 7, "height": 7, "channels": 192}, "kernel": {"width": 3, "height": 3, "count": 128}, "groups": 2})");
    EXPECT_EQ(plan_shape(two, preset("nv_large")).passes.size(), 2u);
}

TEST(LayerPlan, ADeconvolutionIsOnePassForEachPhaseOfItsStrideAndAContraction)
{
    // DCGAN: 4 x 4 to 8 x 8, kernel 4, stride 2, padding 1: four phases with kernels of 2 x 2.
    const Layer layer =
        layer_of(R"({"op": "deconv2d", "input": {"width": 4, "height": 4, "channels": 64}, "kernel": {"width": 4, "height": 4, "count": 32},
                                     "stride": {"x": 2, "y": 2}, "pad": {"left": 1, "right": 1, "top": 1, "bottom": 1}})");
    const LayerPlan plan = plan_shape(layer, preset("nv_full"));
    ASSERT_EQ(plan.passes.size(), 4u);
    for (const PlannedPass& pass : plan.passes) {
        EXPECT_EQ(pass.pass.kernel_width, 2u);
        EXPECT_EQ(pass.geometry.out_width, 4u);
    }
    EXPECT_EQ(plan.passes[0].pass.pad.left, 1u);  // output column 0 needs source columns -1 and 0
    EXPECT_EQ(plan.passes[1].pass.pad.left, 0u);  // output column 1 needs source columns 0 and 1
    EXPECT_EQ(plan.passes[1].pass.pad.right, 1u);
    EXPECT_EQ(plan.macs, 4u * 16 * 32 * 4 * 64);
    EXPECT_EQ(plan.copied_bytes, 8u * 8 * 32);
    EXPECT_TRUE(std::holds_alternative<WaitStatus>(layer_program(layer, plan, preset("nv_full")).back()));
    EXPECT_EQ(plan_shape(layer, preset("nv_large")).copied_bytes, 8u * 8 * 32);  // by SDP
}

// Output column x is the sum of input(i) * kernel(x + pad - stride * i): of column 0 taps 3 and 1 meet the inputs -1 and 0.
TEST(Shape, APhaseOfADeconvolutionTakesEveryOtherTapMirrored)
{
    const Layer layer = layer_of(
        R"({"op": "deconv2d", "input": {"width": 4, "height": 4, "channels": 8}, "kernel": {"width": 4, "height": 3, "count": 8},
            "stride": {"x": 2, "y": 4}, "pad": {"left": 1, "right": 1}})");
    const Shape shape = shape_of(layer, preset("nv_full"));
    ASSERT_EQ(shape.passes.size(), 8u);
    const Taps& column0 = shape.passes[0].kernels.x;
    EXPECT_EQ(column0.count, 2u);
    EXPECT_EQ(column0.at(0), 3u);
    EXPECT_EQ(column0.at(1), 1u);
    EXPECT_EQ(shape.passes[1].kernels.x.at(0), 2u);
    EXPECT_FALSE(shape.passes[5].kernels.y.none);
    EXPECT_TRUE(shape.passes[7].kernels.y.none);  // row 3 of every four: a kernel of three rows has none there
    EXPECT_EQ(shape.sub_cube, (Extent{4, 4}));
    for (const ShapedPass& pass : shape.passes) EXPECT_EQ(pass.input, 0u);  // one cube for all phases
}

// 20 kernels in parts of 8: three sets, the last of half an atom; 4 x 4 places of 8 bytes are a surface.
TEST(Places, TheKernelSetsOfAPassStandOneBehindTheOther)
{
    const Layer layer = layer_of(R"({"input": {"width": 4, "height": 4, "channels": 8}, "kernel": {"width": 1, "height": 1, "count": 20},
            "partition": {"kernels": 8, "reuse_data": true}})");
    const Hardware& hw = preset("nv_small");
    const Shape shape = shape_of(layer, hw);
    const std::vector<PassParts> parts = parts_of(shape, layer, hw);
    ASSERT_EQ(parts.size(), 1u);
    ASSERT_EQ(parts[0].sets.size(), 3u);
    EXPECT_EQ(parts[0].sets[2].kernels, (KernelPart{16, 4}));
    const Places places = places_of(layer, shape, parts, stored_kernels(shape, parts, nullptr, hw), hw);
    for (std::size_t s = 0; s < 3; ++s) {
        EXPECT_EQ(places.sets[0][s].input, places.sets[0][0].input);
        EXPECT_EQ(places.sets[0][s].weights, places.sets[0][0].weights + 256 * s);  // 64 bytes each
        EXPECT_EQ(places.sets[0][s].output, places.sets[0][0].output + 128 * s);
    }
}

TEST(LayerPlan, BatchesOfInt8WrittenAsInt16TellTheAccumulatorThePairOfSurfaces)
{
    const Layer layer =
        layer_of(R"({"input": {"width": 3, "height": 3, "channels": 32, "batch": 2}, "kernel": {"width": 1, "height": 1, "count": 64},
                                     "post": {"output": {"precision": "int16"}}})");
    const LayerPlan plan = plan_shape(layer, preset("nv_full"));
    EXPECT_EQ(value_of(plan, "SDP.D_DST_SURFACE_STRIDE"), 288u);
    EXPECT_EQ(value_of(plan, "CACC.D_SURF_STRIDE"), 576u);
}

TEST(LayerPlan, WhatDoesNotFitIsRefusedWithTheNumbers)
{
    const auto refused = [](const char* text, const char* hw) { return refusal([&] { plan_shape(layer_of(text), preset(hw)); }); };
    EXPECT_THAT(refused(R"({"input": {"width": 32, "height": 32, "channels": 8192}, "kernel": {"width": 32, "height": 32, "count": 64}})",
                        "nv_full"),
                HasSubstr("expected at most"));
    EXPECT_THAT(
        refused(
            R"({"input": {"width": 8, "height": 8, "channels": 8}, "kernel": {"width": 1, "height": 1, "count": 8}, "precision": "int16"})",
            "nv_small"),
        HasSubstr("nv_small computes nothing else"));
    EXPECT_THAT(
        refused(R"({"input": {"width": 8, "height": 8, "channels": 8, "batch": 2}, "kernel": {"width": 1, "height": 1, "count": 8}})",
                "nv_small"),
        HasSubstr("no multi-batch"));
    EXPECT_THAT(
        refused(
            R"({"input": {"width": 8, "height": 8, "channels": 8}, "kernel": {"width": 3, "height": 3, "count": 8}, "mode": "winograd"})",
            "nv_small"),
        HasSubstr("nv_small has none"));
    EXPECT_THAT(
        refused(
            R"({"input": {"width": 9, "height": 9, "channels": 8}, "kernel": {"width": 3, "height": 3, "count": 8}, "mode": "winograd"})",
            "nv_full"),
        HasSubstr("found an output of 7 rows, expected multiples of 4"));
    EXPECT_THAT(
        refused(
            R"({"input": {"width": 8, "height": 8, "channels": 8}, "kernel": {"width": 1, "height": 1, "count": 8}, "weights": {"compressed": true}})",
            "nv_large"),
        HasSubstr("nv_large cannot decompress"));
    const char* rows =
        R"({"input": {"width": 9, "height": 9, "format": "T_A8B8G8R8"}, "kernel": {"width": 5, "height": 5, "count": 8}, "image": {"rows_at_once": 4}})";
    EXPECT_THAT(refused(rows, "nv_full"), HasSubstr("found a kernel row of 20 elements, expected at most 16 with 4 rows per operation"));
    EXPECT_THAT(refused(rows, "nv_large"), HasSubstr("found a kernel row of 20 elements, expected at most 16 with 4 rows per operation"));
    const char* step = R"({"input": {"width": 64, "height": 9, "format": "T_A16B16G16R16"}, "kernel": {"width": 4, "height": 4, "count": 8},
        "stride": {"x": 5, "y": 1}, "precision": "int16", "image": {"rows_at_once": 4}})";
    EXPECT_THAT(refused(step, "nv_full"),
                HasSubstr("found a stride of 5 pixels of 4 components = 20 with 4 rows per operation, expected at most 16"));
}

// csc.md 1.8.3: with four rows at once a step, stride * components, is at most 16; with two at most 32.
TEST(LayerPlan, KernelRowsAtOnceEndWhereTheCounterOfElementsDoes)
{
    const auto layer = [](std::uint32_t stride, const std::string& image) {
        return R"({"input": {"width": 64, "height": 9, "format": "T_A8B8G8R8"}, "kernel": {"width": 4, "height": 4, "count": 8},
                   "stride": {"x": )" +
               std::to_string(stride) + ", \"y\": 1}" + image + "}";
    };
    const auto rows = [&](std::uint32_t stride, const std::string& image) {
        return 1u << plan_shape(layer_of(layer(stride, image)), *find_preset("nv_full")).passes.front().pass.y_extension;
    };
    const auto refused = [&](std::uint32_t stride) { return refusal([&] { rows(stride, R"(, "image": {"rows_at_once": 4})"); }); };
    EXPECT_EQ(rows(4, ""), 4u);
    EXPECT_EQ(rows(5, ""), 2u);  // by itself it takes what the stride allows
    EXPECT_EQ(rows(8, ""), 2u);
    EXPECT_EQ(rows(4, R"(, "image": {"rows_at_once": 4})"), 4u);
    EXPECT_EQ(rows(8, R"(, "image": {"rows_at_once": 2})"), 2u);
    EXPECT_THAT(refused(5), HasSubstr("= 20 with 4 rows per operation, expected at most 16"));
    EXPECT_THAT(refused(8), HasSubstr("= 32 with 4 rows per operation, expected at most 16"));
}

// programming.md 4: the configurable generation too takes two rows of at most half of its lanes; measured: 107,732 cycles.
TEST(LayerPlan, KernelRowsAtOnceOfTheConfigurableGeneration)
{
    const auto rows = [](const char* preset, const std::string& kernel) {
        const std::string input =
            R"({"input": {"width": 224, "height": 224, "format": "T_A8B8G8R8"}, "pad": {"left": 3, "right": 2, "top": 3, "bottom": 2},
                   "stride": {"x": 2, "y": 2}, "kernel": )";
        return 1u << plan_shape(layer_of(input + kernel + "}"), *find_preset(preset)).passes.front().pass.y_extension;
    };
    EXPECT_EQ(rows("nv_large", R"({"width": 7, "height": 7, "count": 64})"), 2u);    // 28 of 64 lanes
    EXPECT_EQ(rows("nv_large", R"({"width": 3, "height": 3, "count": 64})"), 4u);    // 12
    EXPECT_EQ(rows("nv_large", R"({"width": 11, "height": 11, "count": 64})"), 1u);  // 44
    EXPECT_EQ(rows("nv_small", R"({"width": 3, "height": 3, "count": 64})"), 1u);    // 12 of 8
}

}  // namespace plan_test
}  // namespace dlasim
