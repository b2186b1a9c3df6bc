#include "golden/compare.h"

#include <algorithm>

#include "base/expects.h"

namespace dlasim {
namespace {

std::string place_text(const Tensor& t, std::size_t i)
{
    return "batch " + std::to_string(i / t.w / t.h / t.c) + " kernel " + std::to_string(i / t.w / t.h % t.c) + " row " +
           std::to_string(i / t.w % t.h) + " column " + std::to_string(i % t.w);
}

}  // namespace

Comparison compare(const Tensor& output, const Tensor& reference)
{
    DLASIM_EXPECTS(output.values.size() == reference.values.size());
    Comparison result;
    result.compared = reference.values.size();
    for (std::size_t i = 0; i < reference.values.size(); ++i) {
        const std::int16_t found = output.values[i], expected = reference.values[i];
        if (found == expected) continue;
        if (++result.mismatches <= 5)
            result.examples.push_back(place_text(reference, i) + ": found " + std::to_string(found) + ", expected " +
                                      std::to_string(expected));
    }
    return result;
}

Comparison compare_status(std::uint32_t status, const Tensor& reference)
{
    const auto differs = [](std::int16_t value) { return value != 0; };
    const auto first = std::find_if(reference.values.begin(), reference.values.end(), differs);
    const bool unequal = first != reference.values.end();
    Comparison result;
    result.compared = 1;
    const std::string all = std::to_string(reference.values.size());
    if (unequal)
        result.finding = "UNEQUAL, " + std::to_string(std::count_if(first, reference.values.end(), differs)) + " of " + all +
                         " elements differ, the first at " +
                         place_text(reference, static_cast<std::size_t>(first - reference.values.begin()));
    else result.finding = "equal, all " + all + " elements";
    if ((status & 1) == (unequal ? 1u : 0u)) return result;
    result.mismatches = 1;
    result.examples.push_back(std::string("SDP.D_STATUS: found ") + (unequal ? "equal, expected unequal" : "unequal, expected equal"));
    return result;
}

}  // namespace dlasim
