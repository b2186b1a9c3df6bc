// fp16 blocks against the function that does one atom and one kernel at a time.
#include "numerics/fp16_block.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <vector>

#include "numerics/cmac.h"

namespace dlasim::numerics {
namespace fp16_block_test {

/// Values whose exponents lie in a window: the narrower it is, the fewer steps products are shifted by.
std::uint16_t random_value(std::mt19937& random, unsigned window, bool special)
{
    if (random() % 8 == 0) return static_cast<std::uint16_t>(random() % 2 * 0x8000);
    if (special && random() % 200 == 0) return static_cast<std::uint16_t>(0x7c00 | random());  // Inf or NaN
    const std::uint32_t exponent = (12 + random() % window) % 31;
    return static_cast<std::uint16_t>((random() & 0x83ff) | exponent << 10);
}

class Fp16BlockTest : public testing::TestWithParam<Vectors> {};

TEST_P(Fp16BlockTest, WordsAreThoseOfTheCellForEveryRangeOfExponents)
{
    std::mt19937 random{3};
    for (int trial = 0; trial < 1500; ++trial) {
        const std::uint32_t max_kernels = 1 + random() % 10, kernels = 1 + random() % max_kernels;
        const std::uint32_t lanes = 1 + random() % 64, count = 1 + random() % 6, pitch = 16;
        const unsigned window = 1 + static_cast<unsigned>(random() % (trial % 3 == 0 ? 31 : 12));
        const bool special = trial % 5 == 0;
        std::vector<std::uint16_t> weights(std::size_t{kernels} * lanes), atoms(std::size_t{count} * lanes);
        for (auto& w : weights) w = random_value(random, window, special);
        for (auto& d : atoms) d = random_value(random, window, special);
        std::vector<const std::uint8_t*> pointers;
        for (std::uint32_t i = 0; i < count; ++i)
            pointers.push_back(reinterpret_cast<const std::uint8_t*>(atoms.data() + std::size_t{i} * lanes));
        Fp16Block block(max_kernels, GetParam());
        block.load(reinterpret_cast<const std::uint8_t*>(weights.data()), 2 * lanes, Kernels(kernels), lanes);
        std::vector<std::int64_t> words(std::size_t{count} * pitch, -1);
        block.multiply(pointers.data(), count, words.data(), pitch);
        for (std::uint32_t i = 0; i < count; ++i)
            for (std::uint32_t k = 0; k < pitch; ++k) {
                std::int64_t expected = 0;
                if (k < kernels) {
                    Fp16Weights w;
                    Fp16Operand d;
                    std::array<std::uint16_t, 64> padded{};
                    std::copy_n(weights.begin() + std::ptrdiff_t(k * lanes), lanes, padded.begin());
                    unpack_fp16(padded, w);
                    padded.fill(0);
                    std::copy_n(atoms.begin() + std::ptrdiff_t(i * lanes), lanes, padded.begin());
                    unpack_fp16(padded, d);
                    expected = static_cast<std::int64_t>(dot_fp16(w, d));
                }
                ASSERT_EQ(words[i * pitch + k], expected)
                    << "trial " << trial << " kernel " << k << " of " << kernels << " lanes " << lanes;
            }
    }
}

TEST_P(Fp16BlockTest, TilesGiveTheFourWordsOfTheCell)
{
    std::mt19937 random{5};
    for (int trial = 0; trial < 1000; ++trial) {
        const unsigned window = 1 + static_cast<unsigned>(random() % (trial % 3 == 0 ? 31 : 12));
        std::array<std::uint16_t, 64> weights, atom;
        for (auto& w : weights) w = random_value(random, window, trial % 5 == 0);
        for (auto& d : atom) d = random_value(random, window, trial % 5 == 0);
        Fp16Block block(1, GetParam());
        block.load(reinterpret_cast<const std::uint8_t*>(weights.data()), 128, Kernels(1), 64);
        const std::uint8_t* pointer = reinterpret_cast<const std::uint8_t*>(atom.data());
        std::array<std::int64_t, 8> words;
        block.multiply_tiles(&pointer, 1, words.data(), 2);
        Fp16Weights w;
        Fp16Operand d;
        unpack_fp16(weights, w);
        unpack_fp16(atom, d);
        const auto expected = winograd_fp16(w, d);
        for (std::size_t j = 0; j < 4; ++j) {
            ASSERT_EQ(words[2 * j], static_cast<std::int64_t>(expected[j])) << "trial " << trial << " output " << j;
            ASSERT_EQ(words[2 * j + 1], 0);
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Forms, Fp16BlockTest, testing::ValuesIn(available_of({Vectors::Portable, Vectors::Avx2, Vectors::Avx512})),
                         [](const auto& info) { return name_of(info.param); });

}  // namespace fp16_block_test
}  // namespace dlasim::numerics
