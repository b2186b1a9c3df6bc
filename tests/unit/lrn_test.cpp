// LRN layers: what their descriptors may say, the tables of the specification's recipe, where their bytes go.
#include <gmock/gmock.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "config/layer/transfer_reader.h"
#include "facts/presets.h"
#include "lowering/program/lrn_tables.h"
#include "lowering/transfer/transfer_plan.h"
#include "refusal.h"
#include "registers/fields/cdp.h"

namespace dlasim {
namespace lrn_test {

using testing::ElementsAre;
using testing::HasSubstr;

Transfer read(const std::string& text) { return transfer_from_json(parse_json(text, "t.json"), "t.json", "", "data"); }
std::string layer(const std::string& lrn, const std::string& more = "")
{
    return R"({"op": "lrn", "lrn": )" + lrn + R"(, "input": {"width": 20, "height": 3, "channels": 40})" + more + "}";
}
std::string refused(const std::string& text, const char* hardware = "nv_full")
{
    return refusal([&] { plan_transfer(read(text), *find_preset(hardware)); });
}

TEST(LrnReader, TheDefaultsAreThoseOfOnnx)
{
    const Lrn lrn = *read(layer(R"({"size": 7, "bias": 4})")).lrn();
    EXPECT_EQ(lrn.size, 7u);
    EXPECT_EQ(lrn.alpha, 1e-4);
    EXPECT_EQ(lrn.beta, 0.75);
    EXPECT_EQ(lrn.bias, 4);
    EXPECT_EQ(lrn.input_scale, 1);
    EXPECT_DOUBLE_EQ(lrn.output_scale, std::pow(4, -0.75));
    EXPECT_EQ(lrn.precision, Precision::Int8);
}

TEST(LrnReader, ReadsBackWhatItWrote)
{
    for (const char* text : {R"({"size": 3})", R"({"size": 9, "alpha": 0.3, "beta": 1.5, "bias": 0.1, "input_scale": 0.007})"}) {
        const std::string written = transfer_json(read(layer(text, R"(, "data": {"seed": 5, "input": "x.npy"})"))).dump();
        EXPECT_EQ(transfer_json(transfer_from_json(parse_json(written, "t.json"), "t.json", "", "")).dump(), written);
    }
}

TEST(LrnReader, RefusesWhatCdpCannotDo)
{
    EXPECT_THAT(refused(layer("{}")), HasSubstr("t.json: /lrn/size"));
    EXPECT_THAT(refused(layer(R"({"size": 4})")), HasSubstr("/lrn/size: found 4, expected 3, 5, 7 or 9"));
    EXPECT_THAT(refused(layer(R"({"size": 11})")), HasSubstr("/lrn/size"));
    EXPECT_THAT(refused(layer(R"({"size": 5, "alpha": -1})")), HasSubstr("/lrn/alpha: found -1"));
    EXPECT_THAT(refused(layer(R"({"size": 5, "bias": 0})")), HasSubstr("/lrn/bias: found 0"));
    EXPECT_THAT(refused(layer(R"({"size": 5, "region": 1})")), HasSubstr("region"));
    EXPECT_THAT(refused(layer(R"({"size": 5, "input_scale": 1})", R"(, "precision": "fp16")")), HasSubstr("/lrn/input_scale"));
    EXPECT_THAT(refused(layer(R"({"size": 5, "output_scale": 1e-12})")), HasSubstr("/lrn/output_scale: requires the output converter"));
    EXPECT_THAT(refused(layer(R"({"size": 5})", R"(, "precision": "int16")"), "nv_large"), HasSubstr("/precision: found \"int16\""));
    EXPECT_THAT(refused(layer(R"({"size": 5})", R"(, "placement": {"input": {"memory": "cvsram", "address": 0}})"), "nv_small"),
                HasSubstr("cvsram"));
    EXPECT_THAT(refused(layer(R"({"size": 5})", R"(, "placement": {"input": 4096, "output": 6144})")), HasSubstr("overlap"));
    EXPECT_EQ(refused(layer(R"({"size": 5})", R"(, "placement": {"input": 4096, "output": 4096})")), "nothing was refused");
}

/// The memory in front of the run is asked whether it has them.
TEST(LrnPlan, NamesWhatItTouches)
{
    const TransferPlan plan =
        plan_transfer(read(layer(R"({"size": 5})", R"(, "placement": {"input": 4096, "output": 65536})")), *find_preset("nv_full"));
    ASSERT_EQ(plan.ranges.size(), 2u);
    EXPECT_EQ(plan.ranges[0].place.address, Address{4096});
    EXPECT_EQ(plan.ranges[0].bytes, 20u * 3 * 64);
    EXPECT_EQ(plan.ranges[1].place.address, Address{65536});
    EXPECT_EQ(plan.ranges[1].where, "t.json: /placement/output");
}

/// What CDP makes of a sum of integers: LO as far as it reaches, LE at powers of two beyond; both interpolate.
double looked_up(const LrnTables& t, std::uint64_t sum)
{
    const std::uint64_t place = sum >> t.lo_select;
    if (place < LrnTables::kLoEntries - 1) {
        const double part = static_cast<double>(sum - (place << t.lo_select)) / std::ldexp(1.0, t.lo_select);
        return t.lo[place] + part * (static_cast<double>(t.lo[place + 1]) - t.lo[place]);
    }
    const int octave = static_cast<int>(std::bit_width(sum)) - 1;
    const double part = static_cast<double>(sum) / std::ldexp(1.0, octave) - 1;
    const auto i = static_cast<std::size_t>(octave - t.le_offset);
    return t.le[i] + part * (static_cast<double>(t.le[i + 1]) - t.le[i]);
}

/// Steps of the output: an element is no larger than the root of the sum that it is part of.
TEST(LrnTables, AreNearTheirFunctionForEverySum)
{
    for (const std::uint32_t size : {3u, 5u, 9u})
        for (const double alpha : {1e-4, 1e-3, 0.01, 0.05, 0.5, 5.0, 1000.0})
            for (const double beta : {0.5, 0.75, 1.0}) {
                Lrn lrn;
                lrn.size = size;
                lrn.alpha = alpha;
                lrn.beta = beta;
                lrn.input_scale = lrn.output_scale = 1;
                const LrnTables t = lrn_tables(lrn, "here");
                double worst = 0;
                for (std::uint64_t sum = 1; sum <= size * 128u * 128u; ++sum) {
                    const double output = looked_up(t, sum) * t.scale / std::ldexp(1.0, static_cast<int>(t.shift));
                    const double exact = std::pow(1 + alpha / size * static_cast<double>(sum), -beta);
                    worst = std::max(worst, std::min(128.0, std::sqrt(static_cast<double>(sum))) * std::abs(output - exact));
                }
                EXPECT_LT(worst, 0.25) << size << ", " << alpha << ", " << beta;
            }
}

TEST(LrnTables, HaveTheScaleOfTheirOutput)
{
    Lrn alexnet;
    alexnet.input_scale = alexnet.output_scale = 1.2;
    const LrnTables t = lrn_tables(alexnet, "here");
    EXPECT_EQ(t.scale, 16384);
    EXPECT_EQ(t.shift, 28u);
    Lrn wide;
    wide.size = 9;
    wide.bias = 2;
    wide.alpha = 0.01;
    wide.beta = 0.5;
    wide.input_scale = 0.3;
    wide.output_scale = 0.3 * std::pow(2, -0.5);
    const LrnTables w = lrn_tables(wide, "here");
    EXPECT_EQ(w.scale, 23170);
    EXPECT_EQ(w.shift, 29u);
}

/// What a program writes to a register, the last time.
std::uint32_t value_written(const Program& program, const std::string& name)
{
    std::uint32_t value = 0;
    for (const ProgramEntry& entry : program)
        if (const auto* write = std::get_if<RegisterWrite>(&entry); write && write->name == name) value = write->value;
    return value;
}

TEST(LrnPlan, StridesArePackedAndTheEnablesStandLast)
{
    const TransferPlan plan = plan_transfer(read(layer(R"({"size": 7})", R"(, "precision": "fp16")")), *find_preset("nv_full"));
    EXPECT_EQ(plan.layout.padded_channels, 48u);
    EXPECT_EQ(plan.bytes, 20u * 3 * 3 * 32);
    EXPECT_EQ(value_written(plan.program, "CDP_RDMA.D_DATA_CUBE_CHANNEL"), 39u);
    EXPECT_EQ(value_written(plan.program, "CDP_RDMA.D_SRC_LINE_STRIDE"), 20u * 32);
    EXPECT_EQ(value_written(plan.program, "CDP.D_DST_SURFACE_STRIDE"), 20u * 32 * 3);
    EXPECT_EQ(value_written(plan.program, "CDP.D_LRN_CFG"), 2u);
    EXPECT_EQ(value_written(plan.program, "CDP.D_DATA_FORMAT"), 2u);
    EXPECT_EQ(value_written(plan.program, "CDP.D_NAN_FLUSH_TO_ZERO"), 1u);
    EXPECT_EQ(reg::cdp::S_LUT_INFO::LUT_LE_INDEX_OFFSET.get(value_written(plan.program, "CDP.S_LUT_INFO")), 0xe8u);  // LE from 2^-24 on
    const std::size_t entries = plan.program.size();
    EXPECT_EQ(std::get<RegisterWrite>(plan.program[entries - 4]).name, "CDP.D_OP_ENABLE");
    EXPECT_EQ(std::get<RegisterWrite>(plan.program[entries - 3]).name, "CDP_RDMA.D_OP_ENABLE");
}

// cdp.md 4.5: 27 x 4 x 48 on nv_small is 5184 beats, lag 4, the last block 3 pixels wide.
TEST(LrnPlan, TheBoundOfTheCoreIsThatOfTheSpecification)
{
    const std::string text = R"({"op": "lrn", "lrn": {"size": 5}, "input": {"width": 27, "height": 4, "channels": 48}})";
    const TransferPlan plan = plan_transfer(read(text), *find_preset("nv_small"));
    ASSERT_EQ(plan.bounds[0].name, std::string("cdp_core"));
    EXPECT_EQ(plan.bounds[0].cycles, 5184u + 12 + 4 * 20);
}

}  // namespace lrn_test
}  // namespace dlasim
