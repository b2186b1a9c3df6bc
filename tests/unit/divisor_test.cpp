// Against the division of the processor.
#include "base/divisor.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>

namespace dlasim {
namespace divisor_test {

void expect_divides(const Divisor& divisor, std::uint64_t number)
{
    ASSERT_EQ(divisor(number), number / divisor.by()) << number << " / " << divisor.by();
}

// Around multiples, at both sides of where the multiplication ends, and at random.
TEST(Divisor, DividesAsTheProcessorDoes)
{
    std::mt19937_64 random(1);
    for (unsigned i = 0; i < 20'000; ++i) {
        const std::uint64_t by = i < 64 ? std::uint64_t{1} << i : std::max<std::uint64_t>(random() >> random() % 64, 1);
        const Divisor divisor(by);
        const std::uint64_t most = UINT64_MAX / by;
        for (const std::uint64_t number : {std::uint64_t{0}, most - 1, most, most + 1, UINT64_MAX, by - 1, by})
            expect_divides(divisor, number);
        for (unsigned n = 0; n < 8; ++n) {
            expect_divides(divisor, random() >> random() % 64);
            const std::uint64_t multiple = (most == UINT64_MAX ? random() : random() % (most + 1)) * by;
            for (const std::uint64_t number : {multiple - 1, multiple, multiple + 1}) expect_divides(divisor, number);
        }
    }
}

}  // namespace divisor_test
}  // namespace dlasim
