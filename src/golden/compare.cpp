#include "golden/compare.h"

#include <algorithm>

#include "base/expects.h"

namespace dlasim {

Comparison compare(const Tensor& output, const Tensor& reference)
{
    DLASIM_EXPECTS(output.values.size() == reference.values.size());
    Comparison result;
    for (std::uint32_t n = 0; n < reference.n; ++n)
        for (std::uint32_t c = 0; c < reference.c; ++c)
            for (std::uint32_t y = 0; y < reference.h; ++y)
                for (std::uint32_t x = 0; x < reference.w; ++x) {
                    ++result.compared;
                    const std::int16_t found = output.at(n, c, y, x), expected = reference.at(n, c, y, x);
                    if (found == expected) continue;
                    if (++result.mismatches <= 5)
                        result.examples.push_back("batch " + std::to_string(n) + " kernel " + std::to_string(c) + " row " +
                                                  std::to_string(y) + " column " + std::to_string(x) + ": found " + std::to_string(found) +
                                                  ", expected " + std::to_string(expected));
                }
    return result;
}

Comparison compare_status(std::uint32_t status, const Tensor& reference)
{
    const bool unequal = std::any_of(reference.values.begin(), reference.values.end(), [](std::int16_t value) { return value != 0; });
    Comparison result;
    result.compared = 1;
    if ((status & 1) == (unequal ? 1u : 0u)) return result;
    result.mismatches = 1;
    result.examples.push_back(std::string("SDP.D_STATUS: found ") + (unequal ? "equal, expected unequal" : "unequal, expected equal"));
    return result;
}

}  // namespace dlasim
