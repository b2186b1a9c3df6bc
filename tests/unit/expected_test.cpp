// What is said of an output that is not the tensor it should be.
#include "golden/memory/expected.h"

#include <gtest/gtest.h>

#include <cmath>

namespace dlasim {
namespace expected_test {

TEST(Expected, EqualTensorsAreEqual)
{
    Tensor tensor(2, 3, 4, 5);
    tensor.at(1, 2, 3, 4) = 7;
    const Difference d = difference(tensor, tensor, Precision::Int8, {}, "a.npy");
    EXPECT_TRUE(d.equal());
    EXPECT_EQ(d.compared, 120u);
    EXPECT_EQ(d.largest, 0);
}

TEST(Expected, TheFirstDifferenceHasItsPlaceAndTheLargestItsSize)
{
    Tensor output(2, 3, 4, 5), expected = output;
    output.at(0, 2, 1, 3) = -5;
    expected.at(0, 2, 1, 3) = -4;
    output.at(1, 0, 0, 0) = -128;
    expected.at(1, 0, 0, 0) = 127;
    const Difference d = difference(output, expected, Precision::Int8, {}, "a.npy");
    EXPECT_EQ(d.differing, 2u);
    EXPECT_EQ(std::tie(d.n, d.c, d.y, d.x), std::make_tuple(0u, 2u, 1u, 3u));
    EXPECT_EQ(d.found, -5);
    EXPECT_EQ(d.expected, -4);
    EXPECT_EQ(d.largest, 255);
}

TEST(Expected, HalfFloatsDifferAsNumbersAndByTheirBits)
{
    Tensor output(1, 1, 1, 2), expected = output;
    output.values = {0x3c00, 0};
    expected.values = {0x3e00, static_cast<std::int16_t>(0x8000)};  // 1 and 1.5, 0 and -0
    const Difference d = difference(output, expected, Precision::Fp16, {}, "a.npy");
    EXPECT_EQ(d.differing, 2u);
    EXPECT_EQ(d.largest, 0.5);
    output.values[1] = 0x7e00;
    EXPECT_TRUE(std::isinf(difference(output, expected, Precision::Fp16, {}, "a.npy").largest));
}

}  // namespace expected_test
}  // namespace dlasim
