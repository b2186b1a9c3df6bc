// Models become graphs: what constants of shapes and weights fold to, and which nodes become one. Expected values by hand.
#include <gmock/gmock.h>

#include "onnx_models.h"
#include "refusal.h"

namespace dlasim {
namespace onnx_graph_test {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

using Dims = std::vector<std::int64_t>;

/// The dimensions of x, 2 x 3 x 4, in the shape that these nodes make of constants as "s".
Dims reshaped_to(const OnnxMaker& maker) { return OnnxMaker(maker).node("Reshape", {"x", "s"}, "y").graph().outputs.front().dims; }
OnnxMaker shapes()
{
    return OnnxMaker({2, 3, 4})
        .wholes("a", {4}, {1, 6, 2, 2})
        .wholes("rest", {1}, {-1})
        .wholes("0", {1}, {0})
        .wholes("1", {1}, {1})
        .wholes("3", {1}, {3});
}
/// The numbers of a constant that these nodes make: x is multiplied by each.
std::vector<double> factors(const OnnxMaker& maker) { return OnnxMaker(maker).node("Mul", {"x", "k"}, "y").graph().nodes.front().factor; }

TEST(OnnxFold, ShapesThatExportersWrite)
{
    // x.shape[0], -1
    EXPECT_EQ(reshaped_to(shapes()
                              .node("Shape", {"x"}, "whole")
                              .node("Slice", {"whole", "0", "1"}, "first")
                              .node("Concat", {"first", "rest"}, "s")
                              .with("axis", 0)),
              Dims{24});
    // the last two numbers of a list, by negative places
    EXPECT_EQ(reshaped_to(shapes()
                              .wholes("-2", {1}, {-2})
                              .wholes("all", {1}, {INT32_MAX})
                              .node("Slice", {"a", "-2", "all"}, "end")
                              .node("Concat", {"1", "rest", "end"}, "s")),
              (Dims{1, 6, 2, 2}));  // a 1 of the model's in front is no batch
    EXPECT_EQ(
        reshaped_to(shapes().node("Shape", {"x"}, "whole").node("Gather", {"whole", "3"}, "w").node("Concat", {"1", "w", "rest"}, "s")),
        (Dims{1, 4, 6}));
    EXPECT_EQ(reshaped_to(shapes()
                              .wholes("two", {1}, {2})
                              .node("Div", {"a", "two"}, "half")
                              .node("Mul", {"half", "two"}, "twice")
                              .node("Cast", {"twice"}, "s")
                              .with("to", 7)),
              // 1 / 2 is 0: as the tensor has it; the batch is 1
              (Dims{6, 2, 2}));
}

TEST(OnnxShapes, DimensionZeroIsABatchWhereNothingMixesIt)
{
    const RealGraph images = OnnxMaker({2, 3, 4}).node("Flatten", {"x"}, "y").graph();
    EXPECT_TRUE(images.batched);
    EXPECT_EQ(images.outputs.front().dims, (Dims{24}));
    const RealGraph whole = OnnxMaker({2, 3, 4}).node("Flatten", {"x"}, "y").with("axis", 0).graph();
    EXPECT_FALSE(whole.batched);
    EXPECT_EQ(whole.outputs.front().dims, (Dims{1, 24}));
    EXPECT_EQ(OnnxMaker({2, 3, 4}).node("Unsqueeze", {"x"}, "y").with("axes", Dims{0}).graph().outputs.front().dims, (Dims{1, 1, 2, 3, 4}));
    EXPECT_EQ(OnnxMaker({2, 3, 4}).node("Transpose", {"x"}, "y").graph().outputs.front().dims, (Dims{4, 3, 2, 1}));
}

TEST(OnnxShapes, MovesThatFollowEachOtherAreOne)
{
    const RealGraph graph = OnnxMaker({2, 3})
                                .node("Transpose", {"x"}, "t")
                                .with("perm", Dims{0, 2, 1})
                                .wholes("i", {2}, {2, 0})
                                .node("Gather", {"t", "i"}, "y")
                                .with("axis", 1)
                                .simple();
    ASSERT_THAT(operations(graph), ElementsAre(RealOp::Reshape));
    EXPECT_THAT(graph.nodes.front().move.from, ElementsAre(2, 5, 0, 3));
}

TEST(OnnxShapes, ZerosAroundJoinTheConvolution)
{
    const RealGraph graph = OnnxMaker({1, 4, 4})
                                .wholes("p", {8}, {0, 0, 1, 0, 0, 0, 0, 2})
                                .reals("w", {1, 1, 1, 1}, {1})
                                .node("Pad", {"x", "p"}, "q")
                                .node("Conv", {"q", "w"}, "y")
                                .simple();
    ASSERT_THAT(operations(graph), ElementsAre(RealOp::Convolution));
    EXPECT_EQ(graph.nodes.front().geometry.pad.top, 1u);
    EXPECT_EQ(graph.nodes.front().geometry.pad.right, 2u);
}

TEST(OnnxFold, AxesThatAreTaken)
{
    const auto of = [](const Dims& axes) {
        const OnnxMaker maker = OnnxMaker({2, 3, 4}).wholes("k", {1, 2, 1, 1}, {1, 2}).node("Squeeze", {"k"}, "s");
        OnnxMaker with = axes.empty() ? maker : OnnxMaker(maker).with("axes", axes);
        return with.node("Shape", {"s"}, "n")
            .node("Shape", {"n"}, "rank")
            .node("ConstantOfShape", {"rank"}, "ones")
            .node("Add", {"x", "rank"}, "y")
            .graph()
            .nodes.front()
            .bias;
    };
    EXPECT_THAT(of({}), ElementsAre(1));
    EXPECT_THAT(of({0}), ElementsAre(3));
    EXPECT_THAT(of({-1, 0}), ElementsAre(2));
    EXPECT_THAT(refusal([&] { of({1}); }), HasSubstr("expected one of size 1"));
}

TEST(OnnxFold, NumbersOfChannels)
{
    const OnnxMaker maker = OnnxMaker({2, 3, 4}).reals("a", {2, 1, 1}, {3, 5}).reals("b", {}, {2}).wholes("order", {2}, {1, 0});
    EXPECT_THAT(factors(OnnxMaker(maker).node("Add", {"a", "b"}, "k")), ElementsAre(5, 7));
    EXPECT_THAT(factors(OnnxMaker(maker).node("Sub", {"b", "a"}, "k")), ElementsAre(-1, -3));
    EXPECT_THAT(factors(OnnxMaker(maker).node("Div", {"a", "b"}, "k")), ElementsAre(1.5, 2.5));
    EXPECT_THAT(factors(OnnxMaker(maker).node("Identity", {"a"}, "k")), ElementsAre(3, 5));
    EXPECT_THAT(refusal([&] {
                    OnnxMaker(maker).reals("c", {3, 1, 1}, {1, 2, 3}).node("Add", {"a", "c"}, "k").node("Mul", {"x", "k"}, "y").graph();
                }),
                HasSubstr("expected equal numbers, or one"));
}

TEST(OnnxFold, TransposedWeights)
{
    OnnxMaker maker({3});
    maker.reals("w", {2, 3}, {1, 2, 3, 4, 5, 6}).node("Transpose", {"w"}, "t").node("MatMul", {"x", "t"}, "y");
    const RealGraph graph = maker.graph();
    EXPECT_THAT(graph.nodes.front().weights, ElementsAre(1, 2, 3, 4, 5, 6));  // [kernels][channels]
    EXPECT_EQ(graph.nodes.front().geometry.kernels, 2u);
    EXPECT_THAT(refusal([&] {
                    OnnxMaker(maker).node("Transpose", {"w"}, "u").with("perm", {0, 0}).node("Identity", {"x"}, "z").graph({"z"});
                }),
                HasSubstr("perm"));
}

TEST(OnnxFold, ImpossibleOnesAreRefused)
{
    EXPECT_THAT(refusal([] {
                    reshaped_to(shapes().wholes("i", {1}, {9}).node("Gather", {"a", "i"}, "s"));
                }),
                HasSubstr("gathers an index out of range"));
    EXPECT_THAT(refusal([] { reshaped_to(shapes().node("Div", {"a", "0"}, "s")); }), HasSubstr("divides by 0"));
    EXPECT_THAT(refusal([] {
                    reshaped_to(shapes().wholes("huge", {2}, {1 << 20, 1 << 20}).node("ConstantOfShape", {"huge"}, "s"));
                }),
                HasSubstr("too many elements"));
}

// Simplify.

OnnxMaker convolution()
{
    return OnnxMaker({2, 1, 1})
        .reals("w", {2, 2, 1, 1}, {1, 2, 3, 4})
        .reals("b", {2}, {10, 20})
        .reals("k", {2, 1, 1}, {2, -3})
        .reals("l", {2, 1, 1}, {1, 5})
        .node("Conv", {"x", "w", "b"}, "c");
}

TEST(OnnxSimplify, ArithmeticOfChannelsGoesIntoTheConvolutionInFront)
{
    const RealGraph graph = convolution().node("Mul", {"c", "k"}, "m").node("Add", {"m", "l"}, "a").node("Relu", {"a"}, "y").simple();
    ASSERT_THAT(operations(graph), ElementsAre(RealOp::Convolution));
    const RealNode& node = graph.nodes.front();
    EXPECT_THAT(node.weights, ElementsAre(2, 4, -9, -12));
    EXPECT_THAT(node.bias, ElementsAre(21, -55));
    EXPECT_EQ(node.clamp.low, 0.0);
    EXPECT_EQ(graph.values[node.output].name, "y");
}

TEST(OnnxSimplify, WhatSomebodyElseReadsStays)
{
    OnnxMaker maker = convolution().node("Relu", {"c"}, "r").node("Add", {"c", "r"}, "y");
    EXPECT_THAT(operations(maker.simple()), ElementsAre(RealOp::Convolution, RealOp::Affine, RealOp::Add));
    // An output reads too.
    maker = convolution().node("Relu", {"c"}, "y");
    EXPECT_THAT(operations(maker.simple({"y"})), ElementsAre(RealOp::Convolution));
    EXPECT_THAT(operations(maker.simple({"c", "y"})), ElementsAre(RealOp::Convolution, RealOp::Affine));
}

TEST(OnnxSimplify, NothingIsAddedBehindAnActivation)
{
    const RealGraph graph = convolution().node("Relu", {"c"}, "r").node("Mul", {"r", "k"}, "y").simple();
    EXPECT_THAT(operations(graph), ElementsAre(RealOp::Convolution, RealOp::Affine));
    EXPECT_THAT(graph.nodes[1].factor, ElementsAre(2, -3));
}

TEST(OnnxSimplify, LimitsBehindLimitsAreOne)
{
    const auto limits = [](float low, float high) {
        const RealGraph graph = convolution()
                                    .reals("lo", {}, {low})
                                    .reals("hi", {}, {high})
                                    .node("Relu", {"c"}, "r")
                                    .node("Clip", {"r", "lo", "hi"}, "y")
                                    .simple();
        EXPECT_EQ(graph.nodes.size(), 1u);
        return std::pair{graph.nodes.front().clamp.low, graph.nodes.front().clamp.high};
    };
    EXPECT_EQ(limits(-1, 6), (std::pair<std::optional<double>, std::optional<double>>{0, 6}));
    EXPECT_EQ(limits(2, 6), (std::pair<std::optional<double>, std::optional<double>>{2, 6}));
    EXPECT_EQ(limits(-3, -1), (std::pair<std::optional<double>, std::optional<double>>{-1, -1}));  // all are below
}

TEST(OnnxSimplify, StepsOfTheModelStayBetween)
{
    OnnxMaker maker = convolution().steps("q", 0.5F, 3);
    const RealGraph graph = maker.quantised("c", "q", "d").node("Relu", {"d"}, "y").simple();
    ASSERT_THAT(operations(graph), ElementsAre(RealOp::Convolution, RealOp::Affine));
    EXPECT_EQ(graph.values[graph.nodes.front().output].quantisation, (Quantisation{0.5, 3}));
    EXPECT_FALSE(graph.values[graph.nodes.back().output].quantisation);
}

TEST(OnnxSimplify, StepsOfAnInputAreItsOwn)
{
    OnnxMaker maker = OnnxMaker({2, 1, 1}).steps("q", 0.25F, 7, OnnxType::Uint8);
    const RealGraph graph = maker.quantised("x", "q", "d").node("Sigmoid", {"d"}, "y").simple({"y", "d"});
    EXPECT_THAT(operations(graph), ElementsAre(RealOp::Function));
    EXPECT_EQ(graph.values[graph.inputs.front()].quantisation, (Quantisation{0.25, 7 - 128}));
    EXPECT_EQ(graph.nodes.front().inputs.front(), graph.inputs.front());
    EXPECT_EQ(graph.outputs[1].value, graph.inputs.front());
}

TEST(OnnxSimplify, WhatNobodyReadsIsGone)
{
    const RealGraph graph = convolution().node("Sigmoid", {"c"}, "s").node("Exp", {"s"}, "e").node("Relu", {"x"}, "y").simple();
    EXPECT_THAT(operations(graph), ElementsAre(RealOp::Affine));
}

// Arithmetic that repeats.

TEST(OnnxArithmetic, WhatIsThereOnceIsRepeated)
{
    OnnxMaker maker = OnnxMaker({3, 4, 5}).input("z", {1, 4, 1});
    const RealGraph graph = maker.node("Mul", {"z", "x"}, "y").graph();
    ASSERT_THAT(operations(graph), ElementsAre(RealOp::Upsample, RealOp::Multiply));
    EXPECT_EQ(graph.nodes[0].copies, 3u);
    EXPECT_EQ(graph.nodes[0].times.x, 5u);
    EXPECT_EQ(graph.nodes[0].times.y, 1u);
    EXPECT_EQ(graph.outputs.front().dims, (Dims{3, 4, 5}));
    EXPECT_THAT(refusal([] {
                    OnnxMaker({3, 4, 5}).input("z", {2, 4, 5}).node("Add", {"x", "z"}, "y").graph();
                }),
                HasSubstr("3 and 2 channels, rows or columns"));
}

TEST(OnnxArithmetic, ConstantsStandInMemoryWhereTheyAreNoNumbersOfChannels)
{
    const OnnxMaker maker = OnnxMaker({2, 1, 3}).reals("row", {3}, {1, 2, 3}).reals("column", {2, 1, 1}, {4, 5});
    const RealGraph rows = OnnxMaker(maker).node("Div", {"x", "row"}, "y").graph();
    ASSERT_THAT(operations(rows), ElementsAre(RealOp::Multiply));
    EXPECT_THAT(rows.fixed[1], ElementsAre(1, 0.5F, 1 / 3.0F, 1, 0.5F, 1 / 3.0F));
    const RealGraph columns = OnnxMaker(maker).node("Sub", {"column", "x"}, "y").graph();
    ASSERT_THAT(operations(columns), ElementsAre(RealOp::Affine));
    EXPECT_THAT(columns.nodes.front().factor, ElementsAre(-1));
    EXPECT_THAT(columns.nodes.front().bias, ElementsAre(4, 5));
    EXPECT_THAT(refusal([&] {
                    OnnxMaker(maker).reals("zero", {3}, {1, 0, 3}).node("Div", {"x", "zero"}, "y").graph();
                }),
                HasSubstr("divides by 0"));
    EXPECT_THAT(refusal([&] {
                    OnnxMaker(maker).reals("none", {0}, {}).node("Add", {"x", "none"}, "y").graph();
                }),
                HasSubstr("without elements"));
}

}  // namespace onnx_graph_test
}  // namespace dlasim
