// Graphs become networks of int8 or fp16: steps of tensors, integers of weights, what runs behind; images as integers. Expected values by
// hand.
#include <gmock/gmock.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "config/model/fp16.h"
#include "onnx/images.h"
#include "onnx/quantise.h"
#include "onnx_models.h"
#include "refusal.h"

namespace dlasim {
namespace onnx_quantise_test {

using testing::DoubleEq;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

/// The ranges of a graph whose inputs are these numbers.
Ranges seen(const RealGraph& graph, const std::vector<RealTensor>& inputs)
{
    Ranges ranges(graph);
    ranges.see(evaluate(graph, inputs));
    return ranges;
}
QuantisedNetwork quantised_with(RealGraph graph, const std::vector<RealTensor>& inputs)
{
    const Ranges ranges = seen(graph, inputs);
    return quantised(graph, ranges);
}
Quantisation quantisation_of(const QuantisedNetwork& made, const std::string& tensor)
{
    for (const NetworkTensor& of : made.network.tensors)
        if (of.name == tensor) return *of.quantisation;
    ADD_FAILURE() << tensor;
    return {};
}
std::vector<NetworkOp> operations(const QuantisedNetwork& made)
{
    std::vector<NetworkOp> list;
    for (const NetworkLayer& layer : made.network.layers) list.push_back(layer.op);
    return list;
}

TEST(OnnxQuantise, TheLargestMagnitudeIs127)
{
    const RealGraph graph = OnnxMaker({4, 1, 1}).node("Neg", {"x"}, "n").node("LeakyRelu", {"n"}, "y").simple();
    Ranges ranges(graph);
    ranges.see(evaluate(graph, {{1, -2, 3, 0.5F}}));
    ranges.see(evaluate(graph, {{-5.08F, 0, 0, 0}}));
    RealGraph copy = graph;
    const QuantisedNetwork made = quantised(copy, ranges);
    EXPECT_NEAR(quantisation_of(made, "x").scale, 5.08 / 127, 1e-7);
    EXPECT_NEAR(quantisation_of(made, "y").scale, 5.08 / 127, 1e-7);
    EXPECT_EQ(quantisation_of(made, "x").zero, 0);
    EXPECT_THAT(operations(made), ElementsAre(NetworkOp::Affine));
}

TEST(OnnxQuantise, WhatPoolingAndConcatenationJoinHasOneStep)
{
    RealGraph graph = OnnxMaker({1, 2, 2})
                          .node("Neg", {"x"}, "n")
                          .node("MaxPool", {"n"}, "p")
                          .with("kernel_shape", {2, 2})
                          .with("pads", {0, 0, 1, 1})
                          .reals("three", {}, {3})
                          .node("Mul", {"x", "three"}, "m")
                          .node("Concat", {"p", "m"}, "y")
                          .with("axis", 1)
                          .simple();
    const QuantisedNetwork made = quantised_with(graph, {{1, 2, -3, -4}});
    for (const char* name : {"n", "p", "m", "y"}) EXPECT_NEAR(quantisation_of(made, name).scale, 12.0 / 127, 1e-7) << name;
    EXPECT_NEAR(quantisation_of(made, "x").scale, 4.0 / 127, 1e-7);
}

TEST(OnnxQuantise, StepsOfTheModelAreChangedInFrontOfPooling)
{
    OnnxMaker maker = OnnxMaker({1, 2, 2}).steps("a", 0.5F, 3).steps("b", 0.25F, -4);
    maker.quantised("x", "a", "d")
        .node("MaxPool", {"d"}, "p")
        .with("kernel_shape", {2, 2})
        .with("strides", {2, 2})
        .quantised("p", "b", "y");
    const QuantisedNetwork made = quantised_with(maker.simple(), {{1, 2, 3, 4}});
    EXPECT_THAT(operations(made), ElementsAre(NetworkOp::Affine, NetworkOp::Pool));
    EXPECT_EQ(made.network.tensors[made.network.layers[0].output].quantisation, (Quantisation{0.25, -4}));
    EXPECT_EQ(made.network.tensors[made.network.layers[0].inputs[0]].quantisation, (Quantisation{0.5, 3}));
    EXPECT_EQ(made.network.tensors[made.outputs[0].tensor].quantisation, (Quantisation{0.25, -4}));
    EXPECT_TRUE(made.network.tensors[made.outputs[0].tensor].wanted);
}

TEST(OnnxQuantise, WeightsAreMultiplesOfOneStep)
{
    const RealGraph graph =
        OnnxMaker({2, 1, 1}).reals("w", {3, 2, 1, 1}, {12.7F, -1, 0.1F, 1.27F, 0, 0}).node("Conv", {"x", "w"}, "y").simple();
    const QuantisedNetwork made = quantised_with(graph, {{1, 1}});
    const LayerNumbers& n = *made.network.layers.front().numbers;
    ASSERT_THAT(n.weight_scale, SizeIs(3));
    const double step = n.weight_scale[0] / 32767;
    EXPECT_NEAR(n.weight_scale[0], 0.1, 1e-6);
    for (const double scale : n.weight_scale) EXPECT_NEAR(scale / step, std::round(scale / step), 1e-6);
    EXPECT_NEAR(n.weight_scale[1], 0.01, step);
    EXPECT_THAT(n.weights.values, ElementsAre(127, -10, 10, 127, 0, 0));
    // Of weights that are all 0 any step would do.
    const RealGraph nothing = OnnxMaker({2, 1, 1}).reals("w", {1, 2, 1, 1}, {0, 0}).node("Conv", {"x", "w"}, "y").simple();
    EXPECT_THAT(quantised_with(nothing, {{1, 1}}).network.layers.front().numbers->weight_scale, ElementsAre(1));
}

TEST(OnnxQuantise, WeightsKeepTheScalesOfTheModel)
{
    OnnxMaker maker = OnnxMaker({1, 1, 1}).wholes("w.q", {2, 1, 1, 1}, {-128, 5}, OnnxType::Int8).reals("w.s", {2}, {0.5F, 2});
    maker.wholes("w.z", {2}, {0, 0}, OnnxType::Int8).dequantised("w.q", "w", "w").with("axis", 0).node("Conv", {"x", "w"}, "y");
    const QuantisedNetwork made = quantised_with(maker.simple(), {{1}});
    EXPECT_THAT(made.network.layers.front().numbers->weight_scale, ElementsAre(0.5, 2));
    EXPECT_THAT(made.network.layers.front().numbers->weights.values, ElementsAre(-128, 5));
}

OnnxMaker product(std::int32_t zero, std::int32_t other)
{
    OnnxMaker maker = OnnxMaker({4, 1, 1}).input("z", {4, 1, 1}).steps("a", 0.5F, zero).steps("b", 0.25F, other);
    maker.quantised("x", "a", "d").quantised("z", "b", "e").node("Mul", {"d", "e"}, "y");
    return maker;
}

TEST(OnnxQuantise, OneFactorOfAProductHasNoZeroPoint)
{
    const std::vector<RealTensor> inputs{{1, 2, 3, 4}, {1, 1, 1, 1}};
    // 132 integers from zero point 4 down, 133 from 5
    QuantisedNetwork made = quantised_with(product(5, -4).simple(), inputs);
    ASSERT_THAT(operations(made), ElementsAre(NetworkOp::Affine, NetworkOp::Multiply));
    const NetworkLayer* layer = &made.network.layers[1];
    EXPECT_EQ(made.network.tensors[layer->inputs[0]].name, "x");
    EXPECT_EQ(made.network.tensors[layer->inputs[1]].quantisation->zero, 0);
    EXPECT_THAT(made.network.tensors[layer->inputs[1]].quantisation->scale, DoubleEq(0.25 * 131 / 127));
    EXPECT_EQ(made.network.tensors[made.network.layers[0].inputs[0]].name, "z");
    // The first one is nearer to the middle.
    made = quantised_with(product(1, -90).simple(), inputs);
    layer = &made.network.layers[1];
    EXPECT_EQ(made.network.tensors[layer->inputs[0]].name, "z");
    EXPECT_THAT(made.network.tensors[layer->inputs[1]].quantisation->scale, DoubleEq(0.5 * 129 / 127));
    // One has none already.
    made = quantised_with(product(0, -90).simple(), inputs);
    ASSERT_THAT(operations(made), ElementsAre(NetworkOp::Multiply));
    EXPECT_EQ(made.network.tensors[made.network.layers[0].inputs[0]].name, "z");
}

TEST(OnnxQuantise, ALimitBehindASumWithZeroPointsIsAStepOfItsOwn)
{
    const auto ops = [](std::int32_t zero) {
        OnnxMaker maker = OnnxMaker({4, 1, 1}).input("z", {4, 1, 1}).steps("a", 0.5F, zero).steps("b", 0.25F, 0);
        maker.quantised("x", "a", "d")
            .quantised("z", "a", "e")
            .node("Add", {"d", "e"}, "s")
            .node("Relu", {"s"}, "r")
            .quantised("r", "b", "y");
        return operations(quantised_with(maker.simple(), {{1, 2, 3, 4}, {1, 1, 1, 1}}));
    };
    EXPECT_THAT(ops(0), ElementsAre(NetworkOp::Add));
    EXPECT_THAT(ops(7), ElementsAre(NetworkOp::Add, NetworkOp::Affine));
}

TEST(OnnxQuantise, TheLastNodesOfEachOutputRunBehind)
{
    const RealGraph graph = OnnxMaker({4, 1, 1})
                                .node("Neg", {"x"}, "n")
                                .node("Sigmoid", {"n"}, "s")
                                .node("Softmax", {"s"}, "a")
                                .with("axis", 1)
                                .node("Exp", {"n"}, "b")
                                .node("Tanh", {"n"}, "t")
                                .node("Neg", {"t"}, "c")
                                .simple({"a", "b", "n", "t", "c"});
    RealGraph made = graph;
    const QuantisedNetwork q = quantised(made, seen(graph, {{1, 2, 3, 4}}));
    std::vector<std::size_t> counts;
    for (const QuantisedNetwork::Output& output : q.outputs) counts.push_back(output.trailing.size());
    EXPECT_THAT(counts, ElementsAre(2, 1, 0, 0, 0));  // the machine needs t for c
    EXPECT_EQ(q.outputs[0].tensor, q.outputs[2].tensor);
    EXPECT_EQ(q.outputs[1].tensor, q.outputs[2].tensor);
    EXPECT_THAT(operations(q), ElementsAre(NetworkOp::Affine, NetworkOp::Function, NetworkOp::Affine));
    EXPECT_THAT(q.network.outputs,
                ElementsAre(q.outputs[0].tensor, q.outputs[1].tensor, q.outputs[2].tensor, q.outputs[3].tensor, q.outputs[4].tensor));
}

TEST(OnnxQuantise, TheMachineDoesSomethingAtLeast)
{
    const QuantisedNetwork made = quantised_with(OnnxMaker({4, 1, 1}).node("Sigmoid", {"x"}, "y").simple(), {{1, 2, 3, 4}});
    EXPECT_THAT(operations(made), ElementsAre(NetworkOp::Affine));
    EXPECT_THAT(made.outputs.front().trailing, SizeIs(1));
    EXPECT_EQ(made.network.tensors[0].quantisation, made.network.tensors[1].quantisation);
}

TEST(OnnxQuantise, AllThatCannotBeIsToldAtOnce)
{
    OnnxMaker maker = OnnxMaker({4, 3, 3}).steps("a", 0.5F, 5).reals("w", {4, 1, 1, 1}, {1, 2, 3, 4});
    maker.quantised("x", "a", "d").node("LRN", {"d"}, "l").with("size", 3).node("ConvTranspose", {"d", "w"}, "y");
    const RealGraph graph = maker.simple({"y", "l"});
    const std::string said = refusal([&] { quantised_with(graph, {RealTensor(36, 1)}); });
    EXPECT_THAT(said, HasSubstr("2 problems"));
    EXPECT_THAT(said, HasSubstr("node \"l\" (LRN)"));
    EXPECT_THAT(said, HasSubstr("node \"y\" (ConvTranspose)"));
}

TEST(OnnxHalves, NumbersAreRoundedAndNothingHasSteps)
{
    OnnxMaker maker = OnnxMaker({1, 1, 1}).reals("w", {2, 1, 1, 1}, {1.0F / 3, 2049});
    RealGraph graph = OnnxMaker(maker).node("Conv", {"x", "w"}, "y").simple();
    const QuantisedNetwork made = fp16_network(graph);
    EXPECT_THAT(made.network.layers.front().numbers->weights.values, ElementsAre(0x3555, 0x6800));  // 2049 is between 2048 and 2050: even
    EXPECT_FALSE(made.network.tensors.front().quantisation);
    RealGraph wide = OnnxMaker(maker).reals("v", {1, 1, 1, 1}, {70000}).node("Conv", {"x", "v"}, "y").simple();
    EXPECT_THAT(refusal([&] { fp16_network(wide); }), HasSubstr("beyond 65504"));
    RealGraph stepped = OnnxMaker({1, 1, 1}).steps("a", 1, 0).quantised("x", "a", "y").simple();
    EXPECT_THAT(refusal([&] { fp16_network(stepped); }), HasSubstr("expected none with fp16"));
}

// Images.

class OnnxImages : public testing::Test {
protected:
    std::string file(const std::string& name, const std::string& type, const std::vector<std::uint64_t>& shape,
                     const std::vector<double>& values)
    {
        const std::string path = (folder_ / name).string();
        std::ofstream(path, std::ios::binary) << npy_numbers(type, shape, values);
        return path;
    }
    void SetUp() override
    {
        folder_ = std::filesystem::path(testing::TempDir()) /
                  ("dlasim_images_" + std::string(testing::UnitTest::GetInstance()->current_test_info()->name()));
        std::filesystem::create_directories(folder_);
    }
    void TearDown() override { std::filesystem::remove_all(folder_); }

private:
    std::filesystem::path folder_;
};

RealGraph two_inputs() { return OnnxMaker({2}).input("z", {1, 2}).node("Neg", {"x"}, "y").node("Neg", {"z"}, "v").simple({"y", "v"}); }

TEST_F(OnnxImages, ComeBySeedWithoutFiles)
{
    const RealGraph graph = two_inputs();
    const Images images(graph, {}, "--input", 5), again(graph, {}, "--input", 5), other(graph, {}, "--input", 6);
    EXPECT_EQ(images.count(), 1u);
    EXPECT_EQ(images.reals(0), again.reals(0));
    EXPECT_NE(images.reals(0), other.reals(0));
    for (const RealTensor& tensor : images.reals(0))
        for (const float x : tensor) EXPECT_LE(std::abs(x), 1);
}

TEST_F(OnnxImages, AreRoundedToTheirStepsTiesToEven)
{
    RealGraph graph = OnnxMaker({6}).node("Neg", {"x"}, "y").simple();
    graph.values[graph.inputs.front()].quantisation = Quantisation{0.5, -3};
    const std::string x = file("x.npy", "<f4", {2, 6}, {0.25, 0.75, -0.25, 1000, -1000, 0.5, 0, 0, 0, 0, 0, 1});
    const Images images(graph, {x}, "--input", 1);
    EXPECT_EQ(images.count(), 2u);
    EXPECT_THAT(images.integers(0)[0].values, ElementsAre(-3, -1, -3, 127, -128, -2));
    EXPECT_THAT(images.integers(1)[0].values, ElementsAre(-3, -3, -3, -3, -3, -1));
    EXPECT_THAT(images.reals(1)[0], ElementsAre(0, 0, 0, 0, 0, 1));
}

TEST_F(OnnxImages, BytesStandForThemselves)
{
    const RealGraph graph =
        OnnxMaker({3}, OnnxType::Uint8).steps("a", 0.5F, 100, OnnxType::Uint8).dequantised("x", "a", "d").node("Neg", {"d"}, "y").simple();
    const Images images(graph, {file("x.npy", "|u1", {1, 3}, {0, 100, 255})}, "--input", 1);
    EXPECT_THAT(images.integers(0)[0].values, ElementsAre(-128, -28, 127));
    EXPECT_THAT(images.reals(0)[0], ElementsAre(-50, 0, 77.5F));
    EXPECT_THAT(refusal([&] { Images(graph, {file("f.npy", "<f4", {1, 3}, {0, 1, 2})}, "--input", 1); }), HasSubstr("expected \"|u1\""));
}

TEST_F(OnnxImages, AsHalvesEndAt65504)
{
    const RealGraph graph = OnnxMaker({3}).node("Neg", {"x"}, "y").simple();
    const Images images(graph, {file("x.npy", "<f8", {1, 3}, {1e6, -1e6, 2049})}, "--input", 1);
    std::vector<double> found;
    const std::vector<Tensor> fp16 = images.fp16(0);
    for (const std::int16_t pattern : fp16[0].values) found.push_back(double_from_fp16(static_cast<std::uint16_t>(pattern)));
    EXPECT_THAT(found, ElementsAre(65504, -65504, 2048));
}

TEST_F(OnnxImages, EachInputHasOneFileOfItsShape)
{
    const RealGraph graph = two_inputs();
    const std::string x = file("x.npy", "<f4", {3, 2}, {1, 2, 3, 4, 5, 6}), z = file("z.npy", "<f4", {3, 1, 2}, {7, 8, 9, 10, 11, 12});
    const Images images(graph, {"z=" + z, "x=" + x}, "--input", 1);
    EXPECT_THAT(images.reals(2)[0], ElementsAre(5, 6));
    EXPECT_THAT(images.reals(2)[1], ElementsAre(11, 12));
    const auto said = [&](const std::vector<std::string>& files) { return refusal([&] { Images(graph, files, "--input", 1); }); };
    EXPECT_THAT(said({x}), HasSubstr("the model has 2 inputs"));
    EXPECT_THAT(said({"x=" + x, "x=" + x}), HasSubstr("two files for one input"));
    EXPECT_THAT(said({"x=" + x}), HasSubstr("no file for input \"z\""));
    EXPECT_THAT(said({"x=" + z, "z=" + z}), HasSubstr("found shape (3, 1, 2), expected images of (2) each"));
    EXPECT_THAT(said({"x=" + x, "z=" + file("w.npy", "<f4", {2, 1, 2}, {0, 0, 0, 0})}), HasSubstr("found 2 images, expected 3"));
    EXPECT_THAT(said({"x=" + file("n.npy", "<f4", {1, 2}, {0, NAN}), "z=" + z}), HasSubstr("not finite"));
    EXPECT_THAT(said({"x=" + file("0.npy", "<f4", {0, 2}, {}), "z=" + z}), HasSubstr("found 0 images"));
}

TEST_F(OnnxImages, LabelsAreWholeNumbers)
{
    EXPECT_THAT(read_labels(file("l.npy", "|u1", {3}, {2, 0, 255}), 3), ElementsAre(2, 0, 255));
    EXPECT_THAT(read_labels(file("c.npy", "|i1", {2, 1}, {1, -1}), 2), ElementsAre(1, -1));
    EXPECT_THAT(refusal([&] { read_labels(file("f.npy", "<f4", {2}, {1, 2}), 2); }), HasSubstr("expected integers"));
    EXPECT_THAT(refusal([&] { read_labels(file("s.npy", "|u1", {2, 2}, {1, 2, 3, 4}), 2); }), HasSubstr("a label an image"));
}

}  // namespace onnx_quantise_test
}  // namespace dlasim
