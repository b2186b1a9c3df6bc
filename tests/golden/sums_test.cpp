// The blocked sums of the golden convolution against the definition of a layer, loop by loop, with every form of the loops.
#include "golden/sums.h"

#include <gtest/gtest.h>

#include <random>

#include "plain_sums.h"

namespace dlasim {
namespace sums_test {

class SumsTest : public testing::TestWithParam<Vectors> {};

/// A layer of any kind whose output exists.
Layer random_layer(std::mt19937& random, bool deconvolution)
{
    const auto in = [&](std::uint32_t low, std::uint32_t high) { return static_cast<std::uint32_t>(low + random() % (high - low + 1)); };
    for (;;) {
        Layer l;
        l.op = deconvolution ? Op::Deconvolution : Op::Convolution;
        l.precision = in(0, 1) == 0 ? Precision::Int8 : Precision::Int16;
        l.groups = in(0, 3) == 0 ? in(2, 5) : 1;
        l.width = in(1, 21), l.height = in(1, 9), l.channels = l.groups * in(1, 9), l.kernels = l.groups * in(1, 19), l.batch = in(1, 3);
        l.kernel_width = in(1, 5), l.kernel_height = in(1, 4);
        l.stride = {in(1, 3), in(1, 3)}, l.dilation = {in(1, 2), in(1, 2)};
        l.pad = {in(0, 3), in(0, 3), in(0, 3), in(0, 3), deconvolution ? 0 : static_cast<std::int32_t>(in(0, 255)) - 128};
        l.data.seed = random();
        const std::int64_t rows = deconvolution ? (std::int64_t{l.height} - 1) * l.stride.y + l.span_y() - l.pad.top - l.pad.bottom
                                                : std::int64_t{l.height} + l.pad.top + l.pad.bottom - l.span_y() + 1;
        const std::int64_t columns = deconvolution ? (std::int64_t{l.width} - 1) * l.stride.x + l.span_x() - l.pad.left - l.pad.right
                                                   : std::int64_t{l.width} + l.pad.left + l.pad.right - l.span_x() + 1;
        if (rows > 0 && columns > 0) return l;
    }
}

TEST_P(SumsTest, SumsAreThoseOfTheDefinition)
{
    std::mt19937 random{11};
    for (int trial = 0; trial < 400; ++trial) {
        const Layer layer = random_layer(random, trial % 3 == 0);
        const LayerTensors tensors = load_tensors(layer);
        ASSERT_EQ(reference_sums(layer, tensors.input, tensors.weights, GetParam()), plain_sums(layer, tensors.input, tensors.weights))
            << "trial " << trial;
    }
}

INSTANTIATE_TEST_SUITE_P(Forms, SumsTest, testing::ValuesIn(available_of({Vectors::Portable, Vectors::Avx2, Vectors::Avx512})),
                         [](const auto& info) { return name_of(info.param); });

}  // namespace sums_test
}  // namespace dlasim
