// Layer descriptors: interfaces.md 2.
#include <gmock/gmock.h>

#include "config/layer/layer_reader.h"
#include "config/model/fp16.h"
#include "refusal.h"

namespace dlasim {
namespace layer_test {

using testing::HasSubstr;

Layer read(const std::string& text) { return layer_from_json(parse_json(text, "l.json"), "l.json", "", ""); }
std::string refused(const std::string& text)
{
    return refusal([&] { read(text); });
}

constexpr const char* kFull = R"({ "name": "res3a_branch2b", "op": "conv2d",
  "input":  {"width": 28, "height": 28, "channels": 128, "batch": 1, "format": "feature"},
  "kernel": {"width": 3, "height": 3, "count": 128},
  "stride": {"x": 1, "y": 1}, "dilation": {"x": 1, "y": 1}, "groups": 1,
  "pad":    {"left": 1, "right": 1, "top": 1, "bottom": 1, "value": 0},
  "precision": "int8", "mode": "auto",
  "post":   {"bias": true, "activation": "relu", "output": {"precision": "int8", "offset": 0, "scale": 1, "shift": 8}},
  "data":   {"seed": 1} })";

TEST(Layer, TheDescriptorOfTheInterfacePageIsRead)
{
    const Layer layer = read(kFull);
    EXPECT_EQ(layer.name, "res3a_branch2b");
    EXPECT_EQ(layer.out_width(), 28u);
    EXPECT_EQ(layer.macs(), 28ull * 28 * 128 * 128 * 9);
    EXPECT_TRUE(layer.post.bias());
    EXPECT_TRUE(layer.post.bs().relu);
    EXPECT_EQ(layer.output.shift, 8u);
}

TEST(Layer, EverythingButInputAndKernelHasADefault)
{
    const Layer layer = read(R"({"input": {"width": 8, "height": 6, "channels": 4}, "kernel": {"width": 3, "height": 2, "count": 5}})");
    EXPECT_EQ(layer.op, Op::Convolution);
    EXPECT_EQ(layer.out_width(), 6u);
    EXPECT_EQ(layer.out_height(), 5u);
    EXPECT_EQ(layer.precision, Precision::Int8);
    EXPECT_EQ(layer.output.precision, Precision::Int8);
    EXPECT_FALSE(layer.post.bias());
    EXPECT_EQ(layer.data.seed, 1u);
    EXPECT_EQ(layer.name, "l");
}

TEST(Layer, OnnxSpellingsSayTheSame)
{
    const Layer a = read(R"({"input": {"width": 20, "height": 20, "channels": 4}, "kernel": {"count": 6}, "kernel_shape": [5, 3],
        "strides": [2, 1], "dilations": [1, 2], "pads": [2, 1, 3, 4], "group": 2})");
    const Layer b = read(R"({"input": {"width": 20, "height": 20, "channels": 4}, "kernel": {"width": 3, "height": 5, "count": 6},
        "stride": {"x": 1, "y": 2}, "dilation": {"x": 2, "y": 1}, "pad": {"top": 2, "left": 1, "bottom": 3, "right": 4}, "groups": 2})");
    EXPECT_EQ(layer_json(a).dump(), layer_json(b).dump());
}

TEST(Layer, WrittenOutItReadsBackAsTheSameLayer)
{
    const Layer layer = read(kFull);
    EXPECT_EQ(layer_json(read(layer_json(layer).dump())).dump(), layer_json(layer).dump());
    const Layer pixels = read(R"({"input": {"width": 8, "height": 8, "format": "T_A8R8G8B8", "signed": false, "mean": [1, -2, 3, 4],
        "conversion": {"offset": 5, "scale": 6, "shift": 7}}, "kernel": {"width": 1, "height": 1, "count": 1}})");
    const Layer back = read(layer_json(pixels).dump());
    EXPECT_EQ(back.conversion.mean, (std::array<std::int32_t, 4>{1, -2, 3, 4}));
    EXPECT_TRUE(back.conversion.on && back.conversion.per_component && !back.signed_pixels);
    EXPECT_EQ(back.conversion.scale, 6);
    EXPECT_EQ(layer_json(back).dump(), layer_json(pixels).dump());
}

TEST(Layer, APartitionIsReadAndWrittenBack)
{
    const std::string layer =
        R"({"input": {"width": 8, "height": 8, "channels": 8}, "kernel": {"width": 1, "height": 1, "count": 16}, "partition": )";
    const Layer parts = read(layer + R"({"rows": 3, "kernels": 8, "data_banks": 2, "weight_banks": 1, "reuse_data": true}})");
    const Partition expected{.rows = 3, .kernels = 8, .data_banks = 2, .weight_banks = 1, .reuse_data = true};
    EXPECT_EQ(parts.partition, expected);
    EXPECT_EQ(read(layer_json(parts).dump()).partition, parts.partition);
    EXPECT_TRUE(read(layer + "\"auto\"}").partition.automatic);
    EXPECT_EQ(layer_json(read(layer + "\"auto\"}"))["partition"], "auto");
    EXPECT_TRUE(is_layer_field("partition") && is_layer_field("partition.rows"));
    EXPECT_FALSE(layer_json(read(kFull)).contains("partition"));
    EXPECT_THAT(refused(R"({"op": "sdp", "input": {"width": 8, "height": 8, "channels": 8}, "partition": "auto"})"),
                HasSubstr("/partition: an sdp layer has no kernel"));
}

TEST(Layer, AFullyConnectedKernelCoversTheInput)
{
    const Layer layer = read(R"({"op": "fully_connected", "input": {"width": 4, "height": 5, "channels": 50}, "kernel": {"count": 500}})");
    EXPECT_EQ(layer.kernel_width, 4u);
    EXPECT_EQ(layer.kernel_height, 5u);
    EXPECT_EQ(layer.out_width() * layer.out_height(), 1u);
    EXPECT_THAT(
        refused(
            R"({"op": "fully_connected", "input": {"width": 4, "height": 4, "channels": 5}, "kernel": {"width": 3, "height": 4, "count": 5}})"),
        HasSubstr("expected the input plane 4 x 4"));
}

TEST(Layer, UnknownKeysNameTheNearestKnownOne)
{
    EXPECT_THAT(refused(R"({"inputs": {}, "kernel": {}})"), HasSubstr("l.json: /inputs: unknown key (did you mean \"input\"?)"));
    EXPECT_THAT(refused(R"({"input": {"widht": 3}, "kernel": {}})"), HasSubstr("/input/widht: unknown key (did you mean \"width\"?)"));
    EXPECT_THAT(
        refused(
            R"({"input": {"width": 8, "height": 8, "channels": 8}, "kernel": {"width": 1, "height": 1, "count": 1}, "post": {"output": {"shfit": 3}}})"),
        HasSubstr("/post/output/shfit"));
}

struct Bad {
    const char* input;
    const char* kernel;
    const char* more;
    const char* says;
};

TEST(Layer, ImpossibleValuesAreRefusedWithPlaceFoundAndExpected)
{
    const char* good = R"({"width": 8, "height": 8, "channels": 8})";
    const char* one = R"({"width": 1, "height": 1, "count": 1})";
    const Bad list[] = {
        {R"({"width": -3, "height": 8, "channels": 8})", one, "", "/input/width: found -3, expected a whole number in 1..8192"},
        {R"({"width": 0, "height": 8, "channels": 8})", one, "", "/input/width: found 0"},
        {R"({"width": 8.5, "height": 8, "channels": 8})", one, "", "/input/width: found 8.5"},
        {R"({"width": 8.0, "height": 8, "channels": 8})", one, "", "/input/width: found 8.0"},
        {R"({"width": 1e30, "height": 8, "channels": 8})", one, "", "/input/width: found 1e+30"},
        {R"({"width": 18446744073709551615, "height": 8, "channels": 8})", one, "", "/input/width: found 18446744073709551615"},
        {R"({"width": 99999999999999999999999, "height": 8, "channels": 8})", one, "", "/input/width: found"},
        {R"({"width": "8", "height": 8, "channels": 8})", one, "", "/input/width: found \"8\""},
        {R"({"width": true, "height": 8, "channels": 8})", one, "", "/input/width: found true"},
        {R"({"width": null, "height": 8, "channels": 8})", one, "", "/input/width: found null"},
        {R"({"height": 8, "channels": 8})", one, "", "/input/width: is missing, expected input width"},
        {"[8, 8, 8]", one, "", "/input: found [8,8,8], expected an object"},
        {good, R"({"width": 9, "height": 1, "count": 1})", "", "spans 9 columns, expected at most the 8 of the padded input"},
        {good, R"({"width": 1, "height": 9, "count": 1})", R"(, "pad": {"right": 4})", "spans 9 rows, expected at most the 8"},
        {good, R"({"width": 5, "height": 1, "count": 1})", R"(, "dilation": {"x": 2})", "spans 9 columns"},
        {good, R"({"width": 33, "height": 1, "count": 1})", "", "/kernel/width: found 33, expected a whole number in 1..32"},
        {good, R"({"width": 1, "height": 1})", "", "/kernel/count: is missing"},
        {good, R"({"width": 1, "height": 1, "count": 8193})", "", "/kernel/count: found 8193"},
        {good, one, R"(, "stride": {"x": 0})", "/stride/x: found 0, expected a whole number in 1..8"},
        {good, one, R"(, "stride": {"x": 16})", "a 1 x 1 convolution with the pixels of a window as channels does the same"},
        {good, one, R"(, "stride": {"x": 1}, "strides": [1, 1])", "duplicates \"strides\""},
        {good, one, R"(, "strides": [1])", "expected a list of 2 numbers"},
        {good, one, R"(, "pad": {"left": 32})", "/pad/left: found 32"},
        {good, one, R"(, "pad": {"value": 128})", "/pad/value: found 128, expected a whole number in -128..127"},
        {good, one, R"(, "groups": 3)", "found 3 groups for 8 channels and 1 kernels, expected a divisor of both"},
        {good, one, R"(, "precision": "int4")", "/precision: found \"int4\", expected one of: int8, int16, fp16"},
        {good, one, R"(, "op": "conv3d")", "/op: found \"conv3d\""},
        {good, one, R"(, "mode": "image")", "expected a pixel format"},
        {good, one, R"(, "post": {"bias": 1})", "/post/bias: found 1, expected true or false"},
        {good, one, R"(, "post": {"activation": "gelu"})", "expected one of: none, relu"},
        {good, one, R"(, "post": {"output": {"precision": "fp16"}})", "SDP converts no other pair"},
        {good, one, R"(, "precision": "int16", "post": {"output": {"precision": "int8"}})", "SDP converts no other pair"},
        {good, one, R"(, "post": {"output": {"scale": 40000}})", "/post/output/scale: found 40000"},
        {good, one, R"(, "data": {"seed": -1})", "/data/seed: found -1"},
        {good, one, R"(, "partition": "rows")", "/partition: found \"rows\", expected \"auto\" or an object"},
        {good, one, R"(, "partition": 3)", "/partition: found 3, expected \"auto\" or an object"},
        {good, one, R"(, "partition": {})", "/partition: found {}, expected \"rows\", \"kernels\""},
        {good, one, R"(, "partition": {"reuse_data": true})", "expected \"rows\", \"kernels\""},
        {good, one, R"(, "partition": {"row": 3})", "/partition/row: unknown key (did you mean \"rows\"?)"},
        {good, one, R"(, "partition": {"rows": 0})", "/partition/rows: found 0, expected a whole number in 1..8192"},
        {good, one, R"(, "partition": {"rows": 3, "reuse_data": 1})", "/partition/reuse_data: found 1, expected true or false"},
        {good, one, R"(, "partition": {"data_banks": 33})", "/partition/data_banks: found 33"},
        {good, one, R"(, "data": {"bias": "b.npy"})", "the layer has no bias"},
        {R"({"width": 8, "height": 8, "channels": 3, "format": "T_A8B8G8R8"})", one, "", "expected 4, the components of T_A8B8G8R8"},
        {R"({"width": 8, "height": 8, "format": "jpeg"})", one, "", "expected \"feature\" or a pixel format"},
        {R"({"width": 8, "height": 8, "format": "T_R16_F"})", one, R"(, "precision": "int8")",
         "/input/format: found fp16 pixels (T_R16_F) for precision int8, expected precision fp16"},
        {R"({"width": 8, "height": 8, "format": "T_R16_F"})", one, R"(, "precision": "int16")", "they pass the converter unchanged"},
        {R"({"width": 8, "height": 8, "format": "T_R16_F", "mean": [3]})", one, R"(, "precision": "fp16")",
         "/input/mean: found a conversion of fp16 pixels (T_R16_F), expected none"},
        {R"({"width": 8192, "height": 8192, "channels": 8192})", one, R"(, "pad": {"left": 1})", "gives an output of 8193 x 8192"},
    };
    for (const Bad& bad : list) {
        const std::string text = std::string(R"({"input": )") + bad.input + R"(, "kernel": )" + bad.kernel + bad.more + "}";
        EXPECT_THAT(refused(text), HasSubstr(bad.says)) << text;
    }
}

TEST(Layer, BrokenFilesAreRefusedWithTheirPlace)
{
    EXPECT_THAT(refused("{\"input\": \n  {\"width\": }"), HasSubstr("l.json: not JSON at line 2, column"));
    EXPECT_THAT(refused(""), HasSubstr("not JSON"));
    EXPECT_THAT(refused("[]"), HasSubstr("expected an object"));
    EXPECT_THAT(refused(R"({"input": {"width": 1, "width": 2}})"), HasSubstr("key \"width\" is given twice"));
    EXPECT_THAT(refusal([] { read_layer("no/such/layer.json"); }), HasSubstr("no/such/layer.json: cannot be opened"));
    EXPECT_THAT(refusal([] { read_layer("/"); }), HasSubstr("expected a readable file"));
}

TEST(Layer, HalfPrecisionNumbersRoundToNearestEven)
{
    EXPECT_EQ(fp16_from_double(1.0), 0x3c00);
    EXPECT_EQ(fp16_from_double(-2.5), 0xc100);
    EXPECT_EQ(fp16_from_double(65504), 0x7bff);
    EXPECT_EQ(fp16_from_double(std::ldexp(1, -24)), 0x0001);
    EXPECT_EQ(fp16_from_double(std::ldexp(1, -25)), 0x0000);
    EXPECT_EQ(fp16_from_double(1 + std::ldexp(1, -11)), 0x3c00);
    EXPECT_EQ(fp16_from_double(1 + 3 * std::ldexp(1, -11)), 0x3c02);
    for (unsigned half = 0; half < 0x7c00; ++half) ASSERT_EQ(fp16_from_double(double_from_fp16(static_cast<std::uint16_t>(half))), half);
}

}  // namespace layer_test
}  // namespace dlasim
