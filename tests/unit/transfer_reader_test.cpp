// Descriptors of BDMA and Rubik.
#include "config/layer/transfer_reader.h"

#include <gmock/gmock.h>

#include "config/layer/layer_reader.h"
#include "refusal.h"

namespace dlasim {
namespace transfer_reader_test {

using testing::HasSubstr;

Transfer read(const std::string& text) { return transfer_from_json(parse_json(text, "t.json"), "t.json", "", "data"); }
std::string refused(const std::string& text)
{
    return refusal([&] { read(text); });
}

/// One block with these keys beside its ends.
std::string block(const std::string& keys, const std::string& source = "4096", const std::string& destination = "8192")
{
    return R"({"op": "bdma", "blocks": [{"source": )" + source + R"(, "destination": )" + destination + ", " + keys + "}]}";
}
/// A reshape with this in "rubik", and more keys behind.
std::string cube(const std::string& rubik, const std::string& input = R"({"width": 20, "height": 3, "channels": 40})",
                 const std::string& more = "")
{
    return R"({"op": "rubik", "rubik": )" + rubik + R"(, "input": )" + input + more + "}";
}

TEST(TransferReader, ABlockIsPackedUnlessItSaysOtherwise)
{
    const Transfer t = read(block(R"("line_bytes": 96, "lines": 5, "surfaces": 2)", R"({"memory": "cvsram", "address": 64})",
                                  R"({"address": 4096, "line_stride": 128})"));
    EXPECT_EQ(t.name, "t");
    ASSERT_EQ(t.copy()->blocks.size(), 1u);
    const CopyBlock& b = t.copy()->blocks[0];
    EXPECT_EQ(b.source.place, (Place{false, Address{64}}));
    EXPECT_EQ(b.source.strides.line, 96u);
    EXPECT_EQ(b.source.strides.surface, 5u * 96);
    EXPECT_EQ(b.destination.place, (Place{true, Address{4096}}));
    EXPECT_EQ(b.destination.strides.line, 128u);
    EXPECT_EQ(b.destination.strides.surface, 5u * 128);
    EXPECT_EQ(b.destination.line_address(1, 3), Address{4096 + 640 + 384});
    EXPECT_EQ(b.bytes(), 960u);
}

TEST(TransferReader, ABlockOfOneLineHasNoStrides)
{
    const CopyBlock b = read(block(R"("line_bytes": 262144)")).copy()->blocks[0];
    EXPECT_EQ(b.source.strides.line, 0u);
    EXPECT_EQ(b.destination.strides.surface, 0u);
}

TEST(TransferReader, ABlockIsOfTheGroupOfTheOneBefore)
{
    const Transfer t = read(R"({"op": "bdma", "blocks": [{"source": 0, "destination": 4096, "line_bytes": 32},
        {"source": 0, "destination": 8192, "line_bytes": 32, "group": 1}, {"source": 0, "destination": 12288, "line_bytes": 32, "wait": true}]})");
    EXPECT_EQ(t.copy()->blocks[0].group, 0u);
    EXPECT_EQ(t.copy()->blocks[1].group, 1u);
    EXPECT_EQ(t.copy()->blocks[2].group, 1u);
    EXPECT_TRUE(t.copy()->blocks[2].wait);
}

TEST(TransferReader, AReshapeHasDefaultsForAllButModeAndInput)
{
    const Transfer t = read(cube(R"({"mode": "merge"})"));
    const Reshape& r = *t.reshape();
    EXPECT_EQ(r.mode, Reshape::Mode::Merge);
    EXPECT_EQ(r.precision, Precision::Int8);
    EXPECT_EQ(r.input, (Place{true, Address{0x80000000}}));
    EXPECT_EQ(r.output, (Place{true, Address{0xa0000000}}));
    EXPECT_EQ(t.seed, 1u);
}

TEST(TransferReader, AContractionMultipliesWidthAndHeightByItsStride)
{
    const Transfer t = read(cube(R"({"mode": "contract", "stride": {"x": 2, "y": 4}})", R"({"width": 20, "height": 3, "channels": 40})",
                                 R"(, "precision": "fp16", "data": {"input": "x.npy", "seed": 7})"));
    const Reshape& r = *t.reshape();
    EXPECT_EQ(r.out_channels(), 5u);
    EXPECT_EQ(r.out_width(), 40u);
    EXPECT_EQ(r.out_height(), 12u);
    EXPECT_EQ(r.data, "data/x.npy");
    EXPECT_EQ(t.seed, 7u);
}

TEST(TransferReader, WhatIsWrittenReadsBackAsTheSame)
{
    for (
        const std::string& text :
        {block(R"("line_bytes": 96, "lines": 5, "surfaces": 2, "group": 1, "wait": true)", R"({"memory": "cvsram", "address": 64})",
               R"({"address": 4096, "line_stride": 128})"),
         cube(
             R"({"mode": "contract", "stride": {"x": 2}})", R"({"width": 1, "height": 2, "channels": 4})",
             R"(, "name": "n", "placement": {"input": {"memory": "cvsram", "address": 32}, "output": 64}, "data": {"seed": 3, "input": "/x.npy"})"),
         cube(R"({"mode": "split"})")}) {
        const std::string written = transfer_json(read(text)).dump();
        EXPECT_EQ(transfer_json(read(written)).dump(), written);
    }
}

TEST(TransferReader, OnlyBdmaAndRubikAreTransfers)
{
    EXPECT_TRUE(is_transfer(Json{{"op", "bdma"}}));
    EXPECT_TRUE(is_transfer(Json{{"op", "rubik"}}));
    for (const Json& json : {Json{{"op", "conv2d"}}, Json{{"op", 3}}, Json::object(), Json::array(), Json("bdma")})
        EXPECT_FALSE(is_transfer(json)) << json;
    EXPECT_TRUE(is_transfer_field("blocks.0.lines"));
    EXPECT_FALSE(is_transfer_field("kernel.count"));
}

TEST(TransferReader, ASlipInTheOperationIsToldFirst)
{
    EXPECT_EQ(refusal([] { layer_from_json(parse_json(R"({"op": "bmda", "blocks": []})", "t.json"), "t.json", "", ""); }),
              "t.json: /op: found \"bmda\" (did you mean \"bdma\"?), expected an operation");
    EXPECT_EQ(refusal([] { layer_from_json(parse_json(R"({"op": "rubik"})", "t.json"), "t.json", "", ""); }),
              "t.json: /op: found \"rubik\", expected a layer's operation");
}

TEST(TransferReader, BlocksThatTheRegistersCannotHoldAreRefused)
{
    EXPECT_THAT(refused(R"({"op": "bdma"})"), HasSubstr("t.json: /blocks: is missing"));
    EXPECT_THAT(refused(R"({"op": "bdma", "blocks": []})"), HasSubstr("t.json: /blocks: found 0 blocks, expected a list of 1..65536"));
    EXPECT_THAT(refused(R"({"op": "bdma", "blocks": {}})"), HasSubstr("found {}, expected a list"));
    EXPECT_THAT(refused(R"({"op": "bdma", "blocks": [3]})"), HasSubstr("t.json: /blocks/0: found 3, expected an object"));
    EXPECT_THAT(refused(block(R"("lines": 2)")), HasSubstr("t.json: /blocks/0/line_bytes: is missing"));
    EXPECT_THAT(refused(block(R"("line_bytes": 33)")), HasSubstr("/blocks/0/line_bytes: found 33, expected a multiple of 32"));
    EXPECT_THAT(refused(block(R"("line_bytes": 0)")), HasSubstr("in 32..262144"));
    EXPECT_THAT(refused(block(R"("line_bytes": 262176)")), HasSubstr("in 32..262144"));
    EXPECT_THAT(refused(block(R"("line_bytes": 32, "lines": 8193)")),
                HasSubstr("/blocks/0/lines: found 8193, expected a whole number in 1..8192"));
    EXPECT_THAT(refused(block(R"("line_bytes": 32, "surfaces": 0)")), HasSubstr("/blocks/0/surfaces: found 0"));
    EXPECT_THAT(refused(block(R"("line_bytes": 32, "group": 2)")), HasSubstr("/blocks/0/group: found 2, expected a whole number in 0..1"));
    EXPECT_THAT(refused(block(R"("line_bytes": 32, "wait": 1)")), HasSubstr("/blocks/0/wait: found 1, expected true or false"));
    EXPECT_THAT(refused(block(R"("line_bytes": 32, "line": 4)")), HasSubstr("/blocks/0/line: unknown key (did you mean \"lines\"?)"));
    EXPECT_THAT(refused(block(R"("line_bytes": 32)", "48")), HasSubstr("/blocks/0/source: found 48, expected a multiple of 32"));
    EXPECT_THAT(refused(block(R"("line_bytes": 32)", R"({"memory": "cvsram"})")), HasSubstr("/blocks/0/source/address: is missing"));
    EXPECT_THAT(refused(block(R"("line_bytes": 32)", R"({"address": 281474976710656})")), HasSubstr("in 0..281474976710624"));
    EXPECT_THAT(refused(block(R"("line_bytes": 32)", "0", R"({"address": 32, "line_strid": 64})")),
                HasSubstr("did you mean \"line_stride\"?"));
    EXPECT_THAT(refused(block(R"("line_bytes": 32)", "0", R"({"address": 32, "line_stride": 4294967296})")), HasSubstr("in 0..4294967264"));
    EXPECT_THAT(refused(block(R"("line_bytes": 262144, "lines": 8192, "surfaces": 2)", "0", R"({"address": 0, "line_stride": 1048576})")),
                HasSubstr("/blocks/0/destination/surface_stride: is missing and would be 8589934592, expected at most 4294967264"));
    EXPECT_THAT(refused(R"({"op": "bdma", "blocks": [], "kernel": {}})"), HasSubstr("t.json: /kernel: unknown key"));
    EXPECT_THAT(refused(R"({"op": "bdma", "blocks": [{"source": 0, "destination": 32, "line_bytes": 32}], "data": {"input": "x.npy"}})"),
                HasSubstr("/data/input: unknown key"));
}

TEST(TransferReader, CubesThatTheRegistersCannotHoldAreRefused)
{
    EXPECT_THAT(refused(R"({"op": "rubik", "input": {"width": 1, "height": 1, "channels": 1}})"), HasSubstr("t.json: /rubik: is missing"));
    EXPECT_THAT(refused(cube("{}")), HasSubstr("/rubik/mode: is missing"));
    EXPECT_THAT(refused(cube(R"({"mode": "slit"})")), HasSubstr("/rubik/mode: found \"slit\", expected one of: contract, split, merge"));
    EXPECT_THAT(refused(cube(R"({"mode": "split", "stride": {"x": 2}})")), HasSubstr("only contract has a stride"));
    EXPECT_THAT(refused(cube(R"({"mode": "contract"})")), HasSubstr("/rubik/stride: is missing"));
    EXPECT_THAT(refused(cube(R"({"mode": "contract", "stride": {"x": 33}})")),
                HasSubstr("/rubik/stride/x: found 33, expected a whole number in 1..32"));
    EXPECT_THAT(refused(cube(R"({"mode": "contract", "stride": {"x": 3}})")),
                HasSubstr("/input/channels: found 40, expected a multiple of 3"));
    EXPECT_THAT(refused(cube(R"({"mode": "contract", "stride": {"x": 2}})", R"({"width": 1, "height": 1, "channels": 16386})")),
                HasSubstr("/input/channels: found 16386, expected at most 16384: 8192 for each sub-cube"));
    EXPECT_THAT(refused(cube(R"({"mode": "split"})", R"({"width": 1, "height": 1, "channels": 8193})")), HasSubstr("in 1..8192"));
    EXPECT_THAT(refused(cube(R"({"mode": "contract", "stride": {"x": 8}})", R"({"width": 1025, "height": 1, "channels": 8})")),
                HasSubstr("/rubik/stride/x: gives an output line of 8200 atoms, expected at most 8192"));
    EXPECT_EQ(
        read(cube(R"({"mode": "contract", "stride": {"x": 9}})", R"({"width": 1025, "height": 1, "channels": 9})")).reshape()->out_width(),
        9225u);
    EXPECT_THAT(refused(cube(R"({"mode": "split"})", R"({"width": 0, "height": 1, "channels": 1})")), HasSubstr("/input/width: found 0"));
    EXPECT_THAT(refused(cube(R"({"mode": "split"})", R"({"width": 1, "height": 1, "channels": 1, "batch": 2})")),
                HasSubstr("/input/batch: unknown key"));
    EXPECT_THAT(refused(cube(R"({"mode": "split"})", R"({"width": 1, "height": 1, "channels": 1})", R"(, "placement": {"output": 40})")),
                HasSubstr("/placement/output: found 40"));
    EXPECT_THAT(refused(cube(R"({"mode": "split"})", R"({"width": 1, "height": 1, "channels": 1})", R"(, "data": {"input": ""})")),
                HasSubstr("expected a NumPy file"));
    EXPECT_THAT(refused(cube(R"({"mode": "split"})", R"({"width": 1, "height": 1, "channels": 1})", R"(, "precision": "int4")")),
                HasSubstr("/precision: found \"int4\""));
}

}  // namespace transfer_reader_test
}  // namespace dlasim
