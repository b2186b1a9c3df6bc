// `post` of a descriptor: the engines of SDP, their operands and tables.
#include <gmock/gmock.h>

#include <bit>
#include <cmath>

#include "config/layer/layer_reader.h"
#include "config/model/fp16.h"
#include "refusal.h"

namespace dlasim {
namespace sdp_config_test {

using testing::HasSubstr;

Layer read(const std::string& text) { return layer_from_json(parse_json(text, "l.json"), "l.json", "", ""); }

std::string conv(const std::string& post, const std::string& more = "")
{
    return R"({"input": {"width": 8, "height": 8, "channels": 16}, "kernel": {"width": 1, "height": 1, "count": 16}, "post": )" + post +
           more + "}";
}

TEST(SdpConfig, BiasAndActivationAreShortForBs)
{
    const Layer brief = read(conv(R"({"bias": {"shift": 3}, "activation": "relu"})"));
    const Layer full = read(conv(R"({"bs": {"alu": {"op": "sum", "per": "kernel", "shift": 3}, "relu": true}})"));
    EXPECT_EQ(layer_json(brief).dump(), layer_json(full).dump());
    EXPECT_TRUE(brief.post.bias());
}

TEST(SdpConfig, TheActivationStandsBehindTheLastEngineThatHasOne)
{
    const Layer bn = read(conv(R"({"bias": true, "bn": {"mul": {"per": "kernel"}, "shift": 5}, "activation": "relu"})"));
    EXPECT_FALSE(bn.post.engines[0].relu);
    EXPECT_TRUE(bn.post.engines[1].relu);
}

TEST(SdpConfig, AnEngineThatDoesNothingIsReadAndWrittenBack)
{
    const Layer layer = read(conv(R"({"bs": {"operand_bytes": 1}, "bn": {"mul": {"per": "kernel"}}})"));
    EXPECT_FALSE(layer.post.bs().on());
    EXPECT_EQ(layer_json(read(layer_json(layer).dump())).dump(), layer_json(layer).dump());
}

TEST(SdpConfig, EveryEngineIsReadAndWrittenBack)
{
    const char* const text = R"({
        "bs": {"alu": {"op": "max", "per": "layer", "value": -20}, "mul": {"per": "kernel", "prelu": true}, "shift": 7, "operand_bytes": 1},
        "bn": {"alu": {"op": "min", "per": "element", "shift": 2}, "mul": {"per": "element"}, "relu": true},
        "ew": {"mul": {"per": "element", "conversion": {"offset": 3, "scale": -7, "truncate": 4}}, "shift": 9,
               "alu": {"op": "sum", "per": "layer", "value": 100000}, "lut": {"function": "sigmoid"}},
        "output": {"shift": 8}})";
    const Layer layer = read(conv(text));
    const PointEngine &bs = layer.post.engines[0], &bn = layer.post.engines[1], &ew = layer.post.engines[2];
    EXPECT_EQ(bs.alu.value, -20);
    EXPECT_EQ(bs.function, AluFunction::Max);
    EXPECT_TRUE(bs.prelu);
    EXPECT_EQ(bs.operand_bytes, 1u);
    EXPECT_EQ(bn.per(), OperandPer::Element);
    EXPECT_EQ(bn.alu_shift, 2u);
    EXPECT_EQ(ew.mul.conversion.scale, -7);
    EXPECT_EQ(ew.alu.value, 100000);
    ASSERT_TRUE(ew.lut);
    EXPECT_EQ(layer_json(read(layer_json(layer).dump())).dump(), layer_json(layer).dump());
}

TEST(SdpConfig, NumbersOfFp16LayersAreReal)
{
    const Layer layer = read(conv(R"({"bs": {"alu": {"per": "layer", "value": -1.5}}, "ew": {"mul": {"per": "layer", "value": 0.1}}})",
                                  R"(, "precision": "fp16")"));
    EXPECT_EQ(static_cast<std::uint16_t>(layer.post.engines[0].alu.value), 0xbe00);
    EXPECT_EQ(std::bit_cast<float>(layer.post.engines[2].mul.value), 0.1f);
    EXPECT_EQ(layer_json(read(layer_json(layer).dump())).dump(), layer_json(layer).dump());
}

TEST(SdpConfig, NamedTablesSampleTheirFunction)
{
    const Lut lut = *read(conv(R"({"ew": {"lut": {"function": "tanh", "input_scale": 0.001, "output_scale": 0.0001}}})")).post.ew().lut;
    for (const auto& [table, entries] : {std::pair{lut.le, Lut::kLeEntries}, std::pair{lut.lo, Lut::kLoEntries}}) {
        EXPECT_EQ(table.end - table.start, static_cast<std::int32_t>(entries - 1) << table.index_select);
        for (std::size_t i = 0; i < entries; ++i)
            // moved by half of the distance of the chord, at most step^2 / 16 of the largest bend of tanh, 0.77
            EXPECT_NEAR(table.entries[i], std::tanh((table.start + (static_cast<std::int32_t>(i) << table.index_select)) * 0.001) / 0.0001,
                        0.51 + std::pow(std::ldexp(0.001, table.index_select), 2) * 0.77 / 16 / 0.0001);
    }
    EXPECT_LE(lut.lo.start * 0.001, -6);
    EXPECT_EQ(lut.lo.end, lut.le.start);
    EXPECT_GE(lut.le.end * 0.001, 6);
    EXPECT_EQ(lut.lo.entries[0], -10000);
    EXPECT_EQ(lut.le.entries[64], 10000);
    const Lut half = *read(conv(R"({"ew": {"lut": {"function": "sigmoid"}}})", R"(, "precision": "fp16")")).post.ew().lut;
    EXPECT_EQ(std::bit_cast<float>(half.lo.start), -12.0f);
    EXPECT_EQ(std::bit_cast<float>(half.le.end), 12.0f);
    EXPECT_EQ(half.lo.index_select, -4);
    EXPECT_EQ(half.le.index_select, -3);
    EXPECT_EQ(double_from_fp16(static_cast<std::uint16_t>(half.lo.entries[192])), 0.5);
}

TEST(SdpConfig, WhatSdpCannotDoIsRefused)
{
    struct Bad {
        const char *post, *more, *says;
    };
    const Bad list[] = {
        {R"({"bias": true, "bs": {"alu": {}}})", "", "/post/bias: found a bias beside an alu in \"bs\""},
        {R"({"bias": true, "bs": {"mul": {"per": "element"}}})", "",
         "/post/bias: found a bias beside a multiplier with another kind of operand"},
        {R"({"ew": {"alu": {"per": "element"}}, "activation": "relu"})", "", "/post/activation: found \"relu\" after EW"},
        {R"({"bs": {"alu": {"per": "element"}, "mul": {"per": "kernel"}}})", "",
         "/post/bs/mul: found operands per kernel beside an alu per element"},
        {R"({"bs": {"alu": {"per": "layer"}}})", "", "/post/bs/alu"},
        {R"({"bs": {"alu": {"per": "kernel", "value": 3}}})", "", "/post/bs/alu/value: found a value beside operands from memory"},
        {R"({"bs": {"alu": {"per": "layer", "value": 40000}}})", "", "/post/bs/alu/value: found 40000"},
        {R"({"bs": {"alu": {"op": "equal"}}})", "", "/post/bs/alu/op: found \"equal\""},
        {R"({"bs": {"alu": {"conversion": {}}}})", "", "/post/bs/alu/conversion"},
        {R"({"ew": {"alu": {"per": "layer", "value": 1, "conversion": {}}}})", "",
         "/post/ew/alu/conversion: found a conversion of a register's operand"},
        {R"({"ew": {"shift": 3}})", "", "/post/ew/shift: found 3 without a multiplier"},
        {R"({"ew": {"relu": true}})", "", "/post/ew/relu"},
        {R"({"ew": {"lut": {}}})", "", "/post/ew/lut/le"},
        {R"({"ew": {"lut": {"function": "gelu"}}})", "", "/post/ew/lut/function: found \"gelu\""},
        {R"({"ew": {"lut": {"function": "tanh", "input_scale": 1e-9}}})", "", "/post/ew/lut/input_scale"},
        {R"({"ew": {"lut": {"function": "tanh", "input_scale": -1}}})", "", "/post/ew/lut/input_scale: found -1"},
        {R"({"ew": {"lut": {"le": {"entries": [1, 2]}}}})", "", "/post/ew/lut/le/entries: found [1,2], expected an array of 65 numbers"},
        {R"({"bs": {"shift": 1}})", R"(, "precision": "fp16")", "/post/bs/shift: found 1, expected 0"},
        {R"({"bs": {"alu": {}, "operand_bytes": 1}})", R"(, "precision": "int16")", "/post/bs/operand_bytes: found 1, expected 2"},
        {R"({"bs": {"alu": {"per": "layer", "value": 1e9}}})", R"(, "precision": "fp16")",
         "/post/bs/alu/value: found 1000000000.0, expected a number of fp16"},
        {R"({"nan_to_zero": true})", "", "/post/nan_to_zero: found true for int8"},
        {R"({"bn": {"mul": {}}})", R"(, "data": {"bs_mul": "x.npy"})", "/data/bs_mul: the layer has no such operand"},
        {R"({"bias": true})", R"(, "data": {"bias": "x.npy", "bs_alu": "y.npy"})", "/data/bias"},
    };
    for (const Bad& bad : list) EXPECT_THAT(refusal([&] { read(conv(bad.post, bad.more)); }), HasSubstr(bad.says)) << bad.post;
}

TEST(Sdp, ALayerOfItsOwnHasNoKernel)
{
    const Layer layer = read(
        R"({"op": "sdp", "input": {"width": 5, "height": 4, "channels": 24, "precision": "int16"}, "post": {"output": {"shift": 8}}})");
    EXPECT_EQ(layer.kernels, 24u);
    EXPECT_EQ(layer.out_width(), 5u);
    EXPECT_EQ(layer.macs(), 0u);
    EXPECT_EQ(layer.stored_precision(), Precision::Int16);
    EXPECT_EQ(layer_json(read(layer_json(layer).dump())).dump(), layer_json(layer).dump());
    for (const char* more : {R"("kernel": {"width": 1, "height": 1, "count": 1})", R"("pad": {})", R"("stride": {})", R"("groups": 1)",
                             R"("mode": "direct")", R"("weights": {})", R"("data": {"weights": "w.npy"})"})
        EXPECT_NE(refusal([&] { read(std::string(R"({"op": "sdp", "input": {"width": 5, "height": 4, "channels": 24}, )") + more + "}"); }),
                  "nothing was refused")
            << more;
    EXPECT_THAT(refusal([] { read(R"({"op": "sdp", "input": {"width": 5, "height": 4, "channels": 24, "batch": 2}})"); }),
                HasSubstr("/input/batch: found 2"));
    EXPECT_THAT(refusal([] {
                    read(R"({"op": "sdp", "precision": "int16", "input": {"width": 5, "height": 4, "channels": 24, "precision": "int8"}})");
                }),
                HasSubstr("/input/precision: found int8 for int16"));
    EXPECT_THAT(
        refusal([] {
            read(
                R"({"input": {"width": 5, "height": 4, "channels": 24, "precision": "int16"}, "kernel": {"width": 1, "height": 1, "count": 1}})");
        }),
        HasSubstr("/input/precision: found int16 for int8, expected the same, or int16 for fp16"));
}

}  // namespace sdp_config_test
}  // namespace dlasim
