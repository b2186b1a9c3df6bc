// Two descriptions of the fp16 MAC cell and accumulator agree: the golden one, with the multiplier in bit slices, and the
// machine's, which reproduces the measured vectors.
#include "golden/cell.h"

#include <gtest/gtest.h>

#include <random>
#include <span>

#include "numerics/cacc.h"
#include "numerics/cmac.h"

namespace dlasim {
namespace cell_test {

using Lanes = CellAtom::Values;

/// Values whose exponents lie in a window: the wider it is, the more steps products are shifted by.
Lanes random_lanes(std::mt19937& random, unsigned window, bool special)
{
    Lanes lanes;
    for (std::uint16_t& x : lanes) {
        const unsigned kind = static_cast<unsigned>(random() % 16);
        x = static_cast<std::uint16_t>((random() & 0x83ff) | (31 - random() % window) << 10);
        if ((x & 0x7c00) == 0x7c00) x ^= 0x4000;  // no Inf, no NaN
        if (kind == 0) x &= 0x8000;
        if (kind == 1) x = static_cast<std::uint16_t>(x & 0x83ff);  // denormal
        if (kind == 2 && special) x = static_cast<std::uint16_t>((x & 0x8000) | 0x7c00);
        if (special && random() % 300 == 0) x |= 0x7c00;
    }
    return lanes;
}

/// Every form of the loops that this processor has.
class CellTest : public testing::TestWithParam<Vectors> {};

TEST_P(CellTest, WordsAndTilesAreThoseOfTheMachineForEveryRangeOfExponents)
{
    std::mt19937 random{5};
    for (int trial = 0; trial < 4000; ++trial) {
        const unsigned window = 1 + static_cast<unsigned>(random() % 32);
        const bool special = trial % 5 == 0;
        std::array<Lanes, CellKernels::kTogether> w;
        for (Lanes& kernel : w) kernel = random_lanes(random, trial % 2 == 0 ? window : 1 + static_cast<unsigned>(random() % 32), special);
        const Lanes d = random_lanes(random, window, special);
        const std::size_t count = 1 + random() % w.size();
        const CellKernels kernels(std::span<const Lanes>(w).first(count), GetParam());
        const CellAtom atom(d, GetParam());
        CellKernels::Each words;
        std::array<CellKernels::Each, 4> tiles;
        cell_words(kernels, atom, words, GetParam());
        cell_tiles(kernels, atom, tiles, GetParam());
        numerics::Fp16Operand data;
        numerics::unpack_fp16(d, data, GetParam());
        for (std::size_t k = 0; k < count; ++k) {
            numerics::Fp16Weights weights;
            numerics::unpack_fp16(w[k], weights, GetParam());
            ASSERT_EQ(words[k], numerics::dot_fp16(weights, data, GetParam())) << "trial " << trial << " kernel " << k;
            const auto expected = numerics::winograd_fp16(weights, data, GetParam());
            for (std::size_t o = 0; o < tiles.size(); ++o) ASSERT_EQ(tiles[o][k], expected[o]) << "trial " << trial << " kernel " << k;
        }
        for (std::size_t k = count; k < w.size(); ++k) ASSERT_EQ(words[k], 0u);
    }
}

INSTANTIATE_TEST_SUITE_P(Forms, CellTest, testing::ValuesIn(available_of({Vectors::Portable, Vectors::Avx2, Vectors::Avx512})),
                         [](const auto& info) { return name_of(info.param); });

TEST(Cell, AnAtomOfZerosIsZero)
{
    const Lanes zeros{};
    CellKernels::Each words;
    cell_words(CellKernels(std::span<const Lanes>(&zeros, 1)), CellAtom(zeros), words);
    EXPECT_EQ(words, CellKernels::Each{});
}

// cacc.md 4.2: words one after the other, the sum after each, and the fp32 it would be.
TEST(Accumulator, FollowsTheDocumentedExample)
{
    struct Step {
        std::uint64_t exponent;
        std::int64_t mantissa;
        std::uint64_t sum_exponent;
        std::int64_t sum;
        std::uint32_t result;
    };
    constexpr Step kSteps[] = {{24, 100663296, 63, 412316860416, 0x3FC00000},
                               {24, -3, 63, 412316848128, 0x3FC00000},
                               {40, 7, 63, 414195896320, 0x3FC0E000},
                               {0, -1, 63, 414195896320, 0x3FC0E000},
                               {56, -8589934592, 101, -549755813886, 0xD3000000},
                               {56, 8589934591, 68, -532575944704, 0xC2780000},
                               {56, 1, 64, 274877906944, 0x40000000},
                               {24, -100663296, 62, 274877906944, 0x3F000000}};
    std::uint64_t sum = 0;
    for (const Step& step : kSteps) {
        sum = accumulated(sum, step.exponent << 38 | (static_cast<std::uint64_t>(step.mantissa) & ((std::uint64_t{1} << 38) - 1)));
        EXPECT_EQ(sum, step.sum_exponent << 40 | (static_cast<std::uint64_t>(step.sum) & ((std::uint64_t{1} << 40) - 1)));
        EXPECT_EQ(accumulator_result(sum), step.result);
    }
}

TEST(Accumulator, SumsAreThoseOfTheMachine)
{
    std::mt19937_64 random{6};
    for (int trial = 0; trial < 20000; ++trial) {
        std::uint64_t mine = 0, theirs = 0;
        const unsigned spread = 1 + static_cast<unsigned>(random() % 15);
        for (int i = 0; i < 20; ++i) {
            const auto exponent = static_cast<std::uint64_t>(4 * (random() % spread));
            const std::int64_t mantissa = static_cast<std::int64_t>(random()) >> (29 + random() % 35);  // 35 bits at most
            std::uint64_t word = exponent << 38 | (static_cast<std::uint64_t>(mantissa) & ((std::uint64_t{1} << 38) - 1));
            if (random() % 100 == 0) word = std::uint64_t{63} << 38 | (random() & 0x7ff) << 27;
            mine = accumulated(mine, word);
            theirs = numerics::accumulate_fp(word, theirs);
            ASSERT_EQ(mine, theirs) << "trial " << trial;
            ASSERT_EQ(accumulator_result(mine), numerics::finish_fp(theirs)) << "trial " << trial;
        }
    }
}

}  // namespace cell_test
}  // namespace dlasim
