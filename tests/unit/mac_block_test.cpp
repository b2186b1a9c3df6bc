// The block products of the MAC array against sums written down the plain way.
#include "numerics/mac_block.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <vector>

namespace dlasim::numerics {
namespace mac_block_test {

class MacBlockTest : public testing::TestWithParam<Vectors> {};

struct Operands {
    std::vector<std::vector<std::uint8_t>> atoms;
    std::vector<const std::uint8_t*> pointers;
    std::vector<std::uint8_t> weights;
    std::uint32_t pitch;

    Operands(std::mt19937& random, std::uint32_t count, std::uint32_t kernels, std::uint32_t lanes, std::uint32_t element, bool extreme)
        : pitch(lanes * element)
    {
        const auto byte = [&](std::size_t i) {
            // Extreme: -128 or -32768 everywhere.
            return static_cast<std::uint8_t>(!extreme ? random() : i % element + 1 == element ? 0x80 : 0);
        };
        for (std::uint32_t i = 0; i < count; ++i) {
            atoms.emplace_back(pitch + 4);
            for (std::size_t j = 0; j < atoms.back().size(); ++j) atoms.back()[j] = byte(j);
        }
        for (const auto& atom : atoms) pointers.push_back(atom.data());
        weights.resize(std::size_t{kernels} * pitch);
        for (std::size_t j = 0; j < weights.size(); ++j) weights[j] = byte(j);
    }
    std::int64_t element(const std::uint8_t* at, std::uint32_t lane) const { return static_cast<std::int8_t>(at[lane]); }
    std::int64_t expected(std::uint32_t atom, std::uint32_t kernel, std::uint32_t lanes, bool wide) const
    {
        std::int64_t sum = 0;
        for (std::uint32_t c = 0; c < lanes; ++c) {
            const std::uint8_t* w = weights.data() + std::size_t{kernel} * pitch;
            if (!wide) {
                sum += element(pointers[atom], c) * element(w, c);
            } else {
                std::int16_t x, y;
                std::memcpy(&x, pointers[atom] + 2 * c, 2);
                std::memcpy(&y, w + 2 * c, 2);
                sum += std::int64_t{x} * y;
            }
        }
        return sum;
    }
};

TEST_P(MacBlockTest, SumsOfBytesAreExactForEverySizeOfKernelGroupAndSlice)
{
    std::mt19937 random{1};
    for (int trial = 0; trial < 300; ++trial) {
        const std::uint32_t max_kernels = 1 + random() % 40, kernels = 1 + random() % max_kernels;
        const std::uint32_t lanes = 1 + random() % 130, count = 1 + random() % 40;
        MacBlock block(max_kernels, lanes, GetParam());
        // A second load must not see anything of the first.
        const Operands first(random, 1, max_kernels, lanes, 1, false), o(random, count, kernels, lanes, 1, trial % 7 == 0);
        block.load_int8(first.weights.data(), first.pitch, Kernels(max_kernels), lanes);
        block.load_int8(o.weights.data(), o.pitch, Kernels(kernels), lanes);
        std::vector<std::int32_t> sums(std::size_t{count} * block.pitch(), -1);
        block.multiply_int8(o.pointers.data(), count, sums.data());
        for (std::uint32_t i = 0; i < count; ++i)
            for (std::uint32_t k = 0; k < block.pitch(); ++k)
                ASSERT_EQ(sums[i * block.pitch() + k], k < kernels ? o.expected(i, k, lanes, false) : 0)
                    << "atom " << i << " kernel " << k << " of " << kernels << ", lanes " << lanes;
    }
}

TEST_P(MacBlockTest, SumsOfWordsAreExactUpToTheExtremes)
{
    std::mt19937 random{2};
    for (int trial = 0; trial < 300; ++trial) {
        const std::uint32_t max_kernels = 1 + random() % 20, kernels = 1 + random() % max_kernels;
        const std::uint32_t lanes = 1 + random() % 70, count = 1 + random() % 20;
        MacBlock block(max_kernels, lanes, GetParam());
        const Operands first(random, 1, max_kernels, lanes, 2, false), o(random, count, kernels, lanes, 2, trial % 7 == 0);
        block.load_int16(first.weights.data(), first.pitch, Kernels(max_kernels), lanes);
        block.load_int16(o.weights.data(), o.pitch, Kernels(kernels), lanes);
        std::vector<std::int64_t> sums(std::size_t{count} * block.pitch(), -1);
        block.multiply_int16(o.pointers.data(), count, sums.data());
        for (std::uint32_t i = 0; i < count; ++i)
            for (std::uint32_t k = 0; k < block.pitch(); ++k)
                ASSERT_EQ(sums[i * block.pitch() + k], k < kernels ? o.expected(i, k, lanes, true) : 0)
                    << "atom " << i << " kernel " << k << " of " << kernels << ", lanes " << lanes;
    }
}

INSTANTIATE_TEST_SUITE_P(Forms, MacBlockTest,
                         testing::ValuesIn(available_of({Vectors::Portable, Vectors::Sse2, Vectors::Avx2, Vectors::Avx512})),
                         [](const auto& info) { return name_of(info.param); });

}  // namespace mac_block_test
}  // namespace dlasim::numerics
