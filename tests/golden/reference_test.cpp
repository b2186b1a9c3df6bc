// The golden convolution against oneDNN: int8 exactly, int16 and fp16 through fp32 arithmetic of
// somebody else, and small layers by hand.
#include "golden/reference.h"

#include <gtest/gtest.h>

#include <cmath>
#include <dnnl.hpp>
#include <random>

#include "config/layer/layer_reader.h"
#include "config/model/fp16.h"
#include "facts/presets.h"
#include "golden/post.h"
#include "golden/sums.h"

namespace dlasim {
namespace reference_test {

using dnnl::memory;

struct Shape {
    std::uint32_t w, h, c, k, s, r, sx, sy, dx, dy, pl, pr, pt, pb, groups, batch;
};

Layer layer_of(const Shape& a, Precision precision, std::uint64_t seed)
{
    Layer l;
    l.width = a.w, l.height = a.h, l.channels = a.c, l.batch = a.batch;
    l.kernel_width = a.s, l.kernel_height = a.r, l.kernels = a.k;
    l.stride = {a.sx, a.sy}, l.dilation = {a.dx, a.dy}, l.groups = a.groups;
    l.pad = {a.pl, a.pr, a.pt, a.pb, 0};
    l.precision = l.output.precision = precision;
    l.data.seed = seed;
    return l;
}

float number(Precision precision, std::int16_t value)
{
    return precision == Precision::Fp16 ? static_cast<float>(double_from_fp16(static_cast<std::uint16_t>(value)))
                                        : static_cast<float>(value);
}

/// Sums by oneDNN in fp32.
std::vector<float> dnnl_sums(const Layer& l, const LayerTensors& t)
{
    using tag = memory::format_tag;
    const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
    dnnl::stream stream(engine);
    const memory::dim n = l.batch, c = l.channels, k = l.kernels, g = l.groups;
    const memory::desc source({n, c, l.height, l.width}, memory::data_type::f32, tag::nchw);
    const memory::desc weights({g, k / g, c / g, l.kernel_height, l.kernel_width}, memory::data_type::f32, tag::goihw);
    const memory::desc sums({n, k, l.out_height(), l.out_width()}, memory::data_type::f32, tag::nchw);
    const dnnl::convolution_forward::desc what(dnnl::prop_kind::forward_inference, dnnl::algorithm::convolution_direct, source, weights,
                                               sums, {l.stride.y, l.stride.x}, {l.dilation.y - 1, l.dilation.x - 1},
                                               {l.pad.top, l.pad.left}, {l.pad.bottom, l.pad.right});
    std::vector<float> a(t.input.values.size()), b(t.weights.values.size()),
        out(static_cast<std::size_t>(n * k * l.out_height() * l.out_width()));
    for (std::size_t i = 0; i < a.size(); ++i) a[i] = number(l.precision, t.input.values[i]);
    for (std::size_t i = 0; i < b.size(); ++i) b[i] = number(l.precision, t.weights.values[i]);
    memory in(source, engine, a.data()), w(weights, engine, b.data()), o(sums, engine, out.data());
    dnnl::convolution_forward({what, engine}).execute(stream, {{DNNL_ARG_SRC, in}, {DNNL_ARG_WEIGHTS, w}, {DNNL_ARG_DST, o}});
    stream.wait();
    return out;
}

std::vector<Shape> random_shapes(unsigned count)
{
    std::mt19937 random{7};
    const auto in = [&](std::uint32_t low, std::uint32_t high) { return static_cast<std::uint32_t>(low + random() % (high - low + 1)); };
    std::vector<Shape> shapes;
    while (shapes.size() < count) {
        const std::uint32_t groups = in(0, 3) == 0 ? 2 : 1;
        Shape a{in(1, 17), in(1, 17), groups * in(1, 40), groups * in(1, 20), in(1, 5), in(1, 5), in(1, 3), in(1, 3),
                in(1, 2),  in(1, 2),  in(0, 3),           in(0, 3),           in(0, 3), in(0, 3), groups,   in(1, 2)};
        if ((a.s - 1) * a.dx + 1 > a.w + a.pl + a.pr || (a.r - 1) * a.dy + 1 > a.h + a.pt + a.pb) continue;
        shapes.push_back(a);
    }
    return shapes;
}

TEST(Reference, Int8SumsAreExactlyThoseOfOneDnn)
{
    std::uint64_t seed = 1;
    for (const Shape& shape : random_shapes(60)) {
        const Layer layer = layer_of(shape, Precision::Int8, seed++);
        const LayerTensors tensors = load_tensors(layer);
        const auto mine = reference_sums(layer, tensors.input, tensors.weights);
        const auto theirs = dnnl_sums(layer, tensors);  // below 2^24: exact in fp32
        ASSERT_EQ(mine.size(), theirs.size());
        for (std::size_t i = 0; i < mine.size(); ++i)
            ASSERT_EQ(static_cast<float>(mine[i]), theirs[i]) << "seed " << seed - 1 << " place " << i;
    }
}

TEST(Reference, Int16SumsAgreeWithOneDnnToItsPrecision)
{
    std::uint64_t seed = 1;
    for (const Shape& shape : random_shapes(30)) {
        const Layer layer = layer_of(shape, Precision::Int16, seed++);
        const LayerTensors tensors = load_tensors(layer);
        const auto mine = reference_sums(layer, tensors.input, tensors.weights);
        const auto theirs = dnnl_sums(layer, tensors);
        for (std::size_t i = 0; i < mine.size(); ++i)
            ASSERT_NEAR(static_cast<double>(mine[i]), theirs[i], 1e-4 * std::abs(static_cast<double>(mine[i])) + 3e4)
                << "seed " << seed - 1;
    }
}

TEST(Reference, Fp16ResultsAgreeWithOneDnnToHalfPrecision)
{
    std::uint64_t seed = 1;
    for (const Shape& shape : random_shapes(30)) {
        const Layer layer = layer_of(shape, Precision::Fp16, seed++);
        const LayerTensors tensors = load_tensors(layer);
        const Tensor mine = reference_output(layer, *find_preset("nv_full"), tensors, {});
        const auto theirs = dnnl_sums(layer, tensors);
        for (std::size_t i = 0; i < mine.values.size(); ++i) {
            const double value = double_from_fp16(static_cast<std::uint16_t>(mine.values[i]));
            ASSERT_NEAR(value, theirs[i], std::abs(theirs[i]) / 1024 + 2e-3) << "seed " << seed - 1 << " place " << i;
        }
    }
}

TEST(Reference, PaddingTakesItsValue)
{
    Layer layer = layer_of({1, 1, 1, 1, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, Precision::Int8, 1);
    layer.pad.value = -2;
    LayerTensors tensors = load_tensors(layer);
    tensors.input.values = {10};
    tensors.weights.values = {1, 1, 1, 1, 3, 1, 1, 1, 1};
    EXPECT_EQ(reference_sums(layer, tensors.input, tensors.weights)[0], 30 - 16);
}

// sdp.md 4.1 and 4.2 by hand: shifts round half away from zero, everything saturates.
TEST(Reference, PostProcessingRoundsAwayFromZeroAndSaturates)
{
    Layer layer;
    LayerTensors tensors;
    const PostReference post(layer, *find_preset("nv_full"), tensors);
    layer.output.shift = 1;
    EXPECT_EQ(post.integer(3, 0, 0, 0), 2);
    EXPECT_EQ(post.integer(-3, 0, 0, 0), -2);
    EXPECT_EQ(post.integer(1000, 0, 0, 0), 127);
    EXPECT_EQ(post.integer(-1000, 0, 0, 0), -128);
    layer.post.bs().relu = true;
    EXPECT_EQ(post.integer(-1000, 0, 0, 0), 0);
    layer.post.add_bias(2);
    tensors.operands[0] = Tensor(1, 1, 1, 1);
    tensors.operands[0].values = {5};
    EXPECT_EQ(post.integer(-10, 0, 0, 0), 5);  // (-10 + 20) / 2
    layer.output = {Precision::Int16, 4, 3, 0};
    tensors.operands[0].values = {0};
    EXPECT_EQ(post.integer(10, 0, 0, 0), 18);  // (10 - 4) * 3
    EXPECT_EQ(post.integer(std::int64_t{1} << 40, 0, 0, 0), 32767);
}

// A deconvolution spreads each input over the kernel: 1-d by hand, stride 2, kernel 3.
TEST(Reference, DeconvolutionScatters)
{
    Layer layer;
    layer.op = Op::Deconvolution;
    layer.width = 3, layer.kernel_width = 3, layer.stride = {2, 1};
    LayerTensors tensors = load_tensors(layer);
    tensors.input.values = {1, 10, 100};
    tensors.weights.values = {1, 2, 3};
    const std::vector<std::int64_t> expected{1, 2, 13, 20, 130, 200, 300};
    EXPECT_EQ(reference_sums(layer, tensors.input, tensors.weights), expected);
}

// Winograd with weights of even multiples of four and nothing truncated is the plain convolution times four.
TEST(Reference, WinogradWithoutTruncationIsTheConvolution)
{
    Layer layer = layer_of({10, 6, 3, 2, 3, 3, 1, 1, 1, 1, 0, 0, 1, 1, 1, 1}, Precision::Int16, 3);
    layer.mode = Mode::Winograd;
    layer.winograd_truncate = 0;
    LayerTensors tensors = load_tensors(layer);
    for (std::int16_t& value : tensors.input.values) value = static_cast<std::int16_t>(value / 16);
    for (std::int16_t& value : tensors.weights.values) value = static_cast<std::int16_t>(value / 64);
    const auto plain = reference_sums(layer, tensors.input, tensors.weights);
    Layer shifted = layer;
    shifted.output.shift = 2;
    const Tensor winograd = reference_output(shifted, *find_preset("nv_full"), tensors, {true, 1});
    for (std::size_t i = 0; i < plain.size(); ++i)
        EXPECT_EQ(winograd.values[i], static_cast<std::int16_t>(std::clamp<std::int64_t>(plain[i], -32768, 32767))) << i;
}

}  // namespace reference_test
}  // namespace dlasim
