// Products of the golden convolution against sums written down the plain way, with every form of the loops.
#include "golden/products.h"

#include <gtest/gtest.h>

#include <random>

namespace dlasim {
namespace products_test {

constexpr std::uint32_t kPlaces = Products::kPlaces;

class ProductsTest : public testing::TestWithParam<Vectors> {};

void expect_plain_sums(std::mt19937& random, std::uint32_t kernels, std::size_t length, std::int32_t most_data, std::int32_t most_weight,
                       bool extreme, Vectors vectors)
{
    const auto value = [&](std::int32_t most) {
        if (extreme) return static_cast<std::int16_t>(-most);
        return static_cast<std::int16_t>(static_cast<std::int32_t>(random() % static_cast<std::uint32_t>(2 * most)) - most);
    };
    std::vector<std::int16_t> weights(kernels * length), data(length * kPlaces);
    for (auto& w : weights) w = value(most_weight);
    for (auto& d : data) d = value(most_data);
    Products products(weights, kernels, length, most_data, vectors);
    const std::uint32_t first = random() % kernels, count = 1 + random() % (kernels - first);
    std::vector<std::int64_t> sums(std::size_t{count} * kPlaces, -1);
    products.multiply(data.data(), first, count, sums.data());
    for (std::uint32_t k = 0; k < count; ++k)
        for (std::uint32_t i = 0; i < kPlaces; ++i) {
            std::int64_t sum = 0;
            for (std::size_t e = 0; e < length; ++e) sum += std::int64_t{weights[(first + k) * length + e]} * data[e * kPlaces + i];
            ASSERT_EQ(sums[std::size_t{k} * kPlaces + i], sum)
                << "kernel " << k << " of " << kernels << ", place " << i << ", length " << length;
        }
}

TEST_P(ProductsTest, SumsAreExactForEveryNumberOfKernelsAndEveryLength)
{
    std::mt19937 random{1};
    for (std::uint32_t kernels = 1; kernels <= 20; ++kernels)
        for (std::size_t length = 1; length <= 9; ++length)
            for (const std::int32_t most : {128, 32768}) expect_plain_sums(random, kernels, length, most, most, false, GetParam());
}

TEST_P(ProductsTest, SumsAreExactUpToTheExtremes)
{
    std::mt19937 random{2};
    for (const std::int32_t data : {1, 128, 255, 2048, 32768})
        for (const std::int32_t weight : {1, 128, 2048, 32768})
            for (const std::size_t length : {1u, 2u, 127u, 128u, 129u, 510u, 511u, 512u, 513u, 1023u, 4608u})
                for (const bool extreme : {false, true}) expect_plain_sums(random, 9, length, data, weight, extreme, GetParam());
}

// 131,072 products of -128 * -128 are 2^31: one more than 32 bits hold.
TEST_P(ProductsTest, SumsOfBytesThatDoNotFit32BitsAreExact)
{
    std::mt19937 random{3};
    for (const std::size_t length : {131070u, 131071u, 131072u, 131073u, 300000u})
        expect_plain_sums(random, 2, length, 128, 128, true, GetParam());
}

INSTANTIATE_TEST_SUITE_P(Forms, ProductsTest, testing::ValuesIn(available_of({Vectors::Portable, Vectors::Avx2, Vectors::Avx512})),
                         [](const auto& info) { return name_of(info.param); });

}  // namespace products_test
}  // namespace dlasim
