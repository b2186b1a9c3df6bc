// Winograd blocks against the functions that do one tile and one kernel at a time.
#include "numerics/tile_block.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "numerics/cmac.h"
#include "numerics/pra.h"

namespace dlasim::numerics {
namespace tile_block_test {

std::int16_t random_word(std::mt19937& random, bool bytes)
{
    // Often an extreme.
    const unsigned kind = static_cast<unsigned>(random() % 4);
    if (kind == 0) return bytes ? -128 : -32768;
    if (kind == 1) return bytes ? 127 : 32767;
    return bytes ? static_cast<std::int8_t>(random()) : static_cast<std::int16_t>(random());
}

/// Every form of the loops that this processor has.
class TileBlockTest : public testing::TestWithParam<Vectors> {};

TEST_P(TileBlockTest, TransformOfFourChannelsIsTheTransformOfEach)
{
    std::mt19937 random{1};
    for (int trial = 0; trial < 4000; ++trial) {
        const bool bytes = trial % 2 == 0;
        const unsigned truncate = static_cast<unsigned>(random() % 3);
        std::int16_t tile[64], out[64];
        for (auto& x : tile) x = random_word(random, bytes);
        transform_tiles(bytes, truncate, tile, out, GetParam());
        for (unsigned c = 0; c < 4; ++c) {
            std::uint16_t in[16], expected[16];
            for (unsigned i = 0; i < 16; ++i) in[i] = static_cast<std::uint16_t>(tile[4 * i + c]);
            transform_tile(bytes ? Precision::Int8 : Precision::Int16, truncate, in, expected);
            for (unsigned i = 0; i < 16; ++i) ASSERT_EQ(static_cast<std::uint16_t>(out[4 * i + c]), expected[i]);
        }
    }
}

TEST_P(TileBlockTest, TransformOfHalfFloatsIsTheTransformOfEachChannelForEveryKindOfValue)
{
    std::mt19937 random{4};
    for (int trial = 0; trial < 20000; ++trial) {
        std::uint16_t tile[64], out[64];
        const unsigned window = 1 + static_cast<unsigned>(random() % 31);
        for (auto& x : tile) {
            const unsigned kind = static_cast<unsigned>(random() % 16);
            x = static_cast<std::uint16_t>((random() & 0x83ff) | (random() % window) << 10);
            if (kind == 0) x &= 0x8000;
            if (kind == 1) x = static_cast<std::uint16_t>(0x7bff | (x & 0x8000));
            if (trial % 4 == 0 && kind == 2) x |= 0x7c00;               // Inf or NaN
            if (kind == 3) x = static_cast<std::uint16_t>(x & 0x83ff);  // denormal
        }
        transform_tiles_fp16(tile, out, GetParam());
        for (unsigned c = 0; c < 4; ++c) {
            std::uint16_t in[16], expected[16];
            for (unsigned i = 0; i < 16; ++i) in[i] = tile[4 * i + c];
            transform_tile(Precision::Fp16, 0, in, expected);
            for (unsigned i = 0; i < 16; ++i) ASSERT_EQ(out[4 * i + c], expected[i]) << "trial " << trial;
        }
    }
}

TEST_P(TileBlockTest, SumsOfABlockAreTheSumsOfEveryKernel)
{
    std::mt19937 random{2};
    for (int trial = 0; trial < 400; ++trial) {
        const bool bytes = trial % 2 == 0;
        const std::uint32_t max_kernels = 1 + random() % 20, kernels = 1 + random() % max_kernels, count = 1 + random() % 5;
        std::vector<std::int16_t> weights(std::size_t{kernels} * 64), atoms(std::size_t{count} * 64);
        for (auto& w : weights) w = random_word(random, bytes);
        for (auto& d : atoms) d = random_word(random, bytes);
        std::vector<std::uint8_t> stored(weights.size() * (bytes ? 1 : 2));
        for (std::size_t i = 0; i < weights.size(); ++i) {
            if (bytes) stored[i] = static_cast<std::uint8_t>(weights[i]);
            else std::memcpy(stored.data() + 2 * i, &weights[i], 2);
        }
        std::vector<const std::uint8_t*> pointers;
        for (std::uint32_t i = 0; i < count; ++i)
            pointers.push_back(reinterpret_cast<const std::uint8_t*>(atoms.data() + std::size_t{i} * 64));
        TileBlock block(max_kernels, GetParam());
        block.load(bytes, stored.data(), bytes ? 64 : 128, Kernels(kernels));
        std::vector<std::int32_t> narrow(std::size_t{count} * 4 * block.pitch(), -1);
        std::vector<std::int64_t> wide(narrow.size(), -1);
        if (bytes) block.multiply_bytes(pointers.data(), count, narrow.data());
        else block.multiply_words(pointers.data(), count, wide.data());
        for (std::uint32_t i = 0; i < count; ++i)
            for (std::uint32_t k = 0; k < kernels; ++k) {
                const auto expected = winograd_int16({weights.data() + std::size_t{k} * 64, 64}, {atoms.data() + std::size_t{i} * 64, 64});
                for (std::uint32_t j = 0; j < 4; ++j) {
                    const std::size_t at = (std::size_t{i} * 4 + j) * block.pitch() + k;
                    ASSERT_EQ(bytes ? narrow[at] : wide[at], expected[j]) << "kernel " << k << " output " << j;
                }
            }
    }
}

INSTANTIATE_TEST_SUITE_P(Forms, TileBlockTest, testing::ValuesIn(available_of({Vectors::Portable, Vectors::Avx2, Vectors::Avx512})),
                         [](const auto& info) { return name_of(info.param); });

}  // namespace tile_block_test
}  // namespace dlasim::numerics
