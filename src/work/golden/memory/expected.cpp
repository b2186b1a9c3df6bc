#include "golden/memory/expected.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/expects.h"
#include "config/model/fp16.h"
#include "golden/memory/difference_kind.h"

namespace dlasim {
namespace {

/// fp16 in their order: neighbours are one apart.
std::int64_t rank_of(double value)
{
    const std::uint16_t bits = fp16_from_double(value);
    return bits & 0x8000 ? -static_cast<std::int64_t>(bits & 0x7fff) : bits;
}

bool allowed(double found, double expected, bool halves, const Tolerance& tolerance)
{
    if (std::isnan(found) || std::isnan(expected)) return tolerance.any() && std::isnan(found) && std::isnan(expected);
    const double distance = std::abs(found - expected);
    if (tolerance.any() && distance <= tolerance.atol + tolerance.rtol * std::abs(expected)) return true;
    if (tolerance.ulp == 0) return false;
    return halves ? std::abs(rank_of(found) - rank_of(expected)) <= tolerance.ulp : distance <= tolerance.ulp;
}

}  // namespace

Difference difference(const ComparedArrays& arrays, const Tolerance& tolerance, const std::string& file)
{
    DLASIM_EXPECTS(arrays.found.size() == arrays.expected.size());
    const auto [batches, channels, rows, columns] = arrays.shape;
    Difference result;
    result.file = file;
    result.compared = arrays.found.size();
    const auto same = [&](double a, double b) {
        return a == b ? !arrays.halves || std::signbit(a) == std::signbit(b) : std::isnan(a) && std::isnan(b) && !arrays.halves;
    };
    for (std::size_t i = 0; i < arrays.found.size(); ++i) {
        const double found = arrays.found[i], wanted = arrays.expected[i], distance = std::abs(found - wanted);
        if (same(found, wanted)) continue;
        if (allowed(found, wanted, arrays.halves, tolerance)) {
            ++result.tolerated;
            continue;
        }
        const std::uint64_t channel = i / columns / rows % channels;
        if (++result.differing == 1) {
            result.x = static_cast<std::uint32_t>(i % columns);
            result.y = static_cast<std::uint32_t>(i / columns % rows);
            result.c = static_cast<std::uint32_t>(channel);
            result.n = static_cast<std::uint32_t>(i / columns / rows / channels);
            result.found = found;
            result.expected = wanted;
            result.by_channel.resize(channels);
        }
        ++result.by_channel[channel];
        result.largest = std::max(result.largest, std::isnan(distance) ? INFINITY : distance);
    }
    if (result.equal()) return result;
    result.kind = difference_kind(arrays);
    result.values.reserve(arrays.found.size());
    for (std::size_t i = 0; i < arrays.found.size(); ++i) result.values.push_back(arrays.found[i] - arrays.expected[i]);
    return result;
}

Difference difference(const Tensor& output, const Tensor& expected, Precision precision, const Tolerance& tolerance,
                      const std::string& file)
{
    DLASIM_EXPECTS(output.values.size() == expected.values.size());
    if (output.values == expected.values) {
        Difference equal;
        equal.file = file;
        equal.compared = output.values.size();
        return equal;
    }
    const auto numbers = [&](const Tensor& tensor) {
        std::vector<double> list(tensor.values.begin(), tensor.values.end());
        for (std::size_t i = 0; precision == Precision::Fp16 && i < list.size(); ++i) {
            list[i] = double_from_fp16(static_cast<std::uint16_t>(tensor.values[i]));
            if (std::isnan(list[i]) && output.values[i] == expected.values[i]) list[i] = INFINITY;  // the same NaN
        }
        return list;
    };
    const std::vector<double> found = numbers(output), wanted = numbers(expected);
    return difference({found, wanted, {output.n, output.c, output.h, output.w}, precision == Precision::Fp16}, tolerance, file);
}

std::string difference_text(const Difference& d)
{
    std::string text = fmt::format(
        "{} of {} outputs differ from {}, the largest by {}; the first at batch {} channel {} row {} column {}: found {}, expected {}",
        d.differing, d.compared, d.file, d.largest, d.n, d.c, d.y, d.x, d.found, d.expected);
    if (d.tolerated != 0) text += fmt::format("; {} more are within the tolerance", d.tolerated);
    return d.kind.empty() ? text : text + "; " + d.kind;
}

}  // namespace dlasim
