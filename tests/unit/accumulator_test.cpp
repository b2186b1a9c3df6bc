// The accumulator's loops over whole stripes, in every form, against its one-by-one arithmetic.
#include "units/cacc/accumulator.h"

#include <gtest/gtest.h>

#include <random>

#include "facts/presets.h"
#include "numerics/cacc.h"

namespace dlasim {
namespace accumulator_test {

using cacc::Accumulator;

/// Every form of the loops that this processor has.
class AccumulatorTest : public testing::TestWithParam<Vectors> {};

/// Stripes of both halves: every number of atoms and kernels at the edges of a vector, sums up to the largest that fit.
template <class Element>
void expect_plain_sums(std::mt19937_64& random, Precision precision, std::uint32_t atoms, std::uint32_t kernels, std::uint32_t stripes,
                       std::uint32_t truncate, unsigned bits, Vectors vectors)
{
    const Hardware hw = *find_preset("nv_full");
    Accumulator accumulator(hw, vectors);
    accumulator.start_layer({precision, false, truncate});
    const std::uint32_t pitch = (kernels + 15) / 16 * 16, half = accumulator.kernels() / 2;
    ASSERT_LE(kernels, half);
    const std::size_t count = std::size_t{atoms} * pitch;
    std::vector<std::int64_t> plain[2] = {std::vector<std::int64_t>(count, 0), std::vector<std::int64_t>(count, 0)};
    for (std::uint32_t stripe = 0; stripe < stripes; ++stripe) {
        std::vector<Element> values[2];
        Sums sums[2];
        for (int side = 0; side < 2; ++side) {
            values[side].resize(count);
            for (std::size_t i = 0; i < count; ++i) {
                const auto any = static_cast<std::int64_t>(random()) >> (64 - bits);
                values[side][i] = static_cast<Element>(random() % 4 == 0 ? -(std::int64_t{1} << (bits - 1)) : any);
                plain[side][i] += values[side][i];
            }
            sums[side].atoms = atoms;
            sums[side].kernels = Kernels{kernels};
            sums[side].pitch = pitch;
            if constexpr (sizeof(Element) == 4) sums[side].narrow = values[side].data();
            else sums[side].wide = values[side].data();
        }
        accumulator.begin_stripe(sums[0], sums[1]);
        const bool last = stripe + 1 == stripes;
        if (!last) accumulator.add();
        for (std::uint32_t atom = 0; last && atom < atoms; ++atom) {
            std::vector<std::int32_t> results(accumulator.kernels(), -1);
            accumulator.finish(atom, results.data());
            for (std::uint32_t side = 0; side < 2; ++side)
                for (std::uint32_t k = 0; k < half; ++k)
                    ASSERT_EQ(results[side * half + k],
                              k < kernels ? numerics::finish_int(plain[side][std::size_t{atom} * pitch + k], truncate).value : 0)
                        << "atom " << atom << " of " << atoms << " kernel " << k << " of " << kernels << " stripes " << stripes;
        }
        accumulator.end_stripe(last);
    }
}

TEST_P(AccumulatorTest, SumsOfBytesAreExactForEveryNumberOfAtomsAndKernels)
{
    std::mt19937_64 random{7};
    for (std::uint32_t atoms = 1; atoms <= 9; ++atoms)
        for (std::uint32_t kernels = 1; kernels <= 16; ++kernels)
            for (const std::uint32_t stripes : {1u, 2u, 3u, 17u})
                for (const std::uint32_t truncate : {0u, 1u, 2u, 15u, 16u, 17u, 18u, 30u, 31u})
                    expect_plain_sums<std::int32_t>(random, Precision::Int8, atoms, kernels, stripes, truncate, 22, GetParam());
}

TEST_P(AccumulatorTest, SumsOfWordsAreExactForEveryNumberOfAtomsAndKernels)
{
    std::mt19937_64 random{8};
    for (std::uint32_t atoms = 1; atoms <= 9; ++atoms)
        for (std::uint32_t kernels = 1; kernels <= 8; ++kernels)
            for (const std::uint32_t stripes : {1u, 2u, 3u, 17u})
                for (const std::uint32_t truncate : {0u, 1u, 16u, 31u})
                    expect_plain_sums<std::int64_t>(random, Precision::Int16, atoms, kernels, stripes, truncate, 38, GetParam());
}

INSTANTIATE_TEST_SUITE_P(Forms, AccumulatorTest, testing::ValuesIn(available_of({Vectors::Portable, Vectors::Avx2, Vectors::Avx512})),
                         [](const auto& info) { return name_of(info.param); });

}  // namespace accumulator_test
}  // namespace dlasim
