#include "golden/memory/expected.h"

#include <algorithm>
#include <cmath>

#include "base/expects.h"
#include "config/model/fp16.h"

namespace dlasim {

Difference difference(const Tensor& output, const Tensor& expected, Precision precision, const std::string& file)
{
    DLASIM_EXPECTS(output.values.size() == expected.values.size());
    const auto number = [&](std::int16_t value) {
        return precision == Precision::Fp16 ? double_from_fp16(static_cast<std::uint16_t>(value)) : static_cast<double>(value);
    };
    Difference result;
    result.file = file;
    result.compared = output.values.size();
    for (std::size_t i = 0; i < output.values.size(); ++i) {
        if (output.values[i] == expected.values[i]) continue;
        const double found = number(output.values[i]), wanted = number(expected.values[i]), distance = std::abs(found - wanted);
        if (++result.differing == 1) {
            result.x = static_cast<std::uint32_t>(i % output.w);
            result.y = static_cast<std::uint32_t>(i / output.w % output.h);
            result.c = static_cast<std::uint32_t>(i / output.w / output.h % output.c);
            result.n = static_cast<std::uint32_t>(i / output.w / output.h / output.c);
            result.found = found;
            result.expected = wanted;
        }
        result.largest = std::max(result.largest, std::isnan(distance) ? INFINITY : distance);
    }
    return result;
}

}  // namespace dlasim
