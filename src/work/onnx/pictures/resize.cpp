#include <algorithm>
#include <cmath>

#include "onnx/pictures/preprocessing.h"

namespace dlasim {
namespace {

constexpr int kWeightBits = 22;  // after the point of a weight

/// The pixels of a line that make one of the new line, and their weights.
struct PixelWindow {
    std::uint32_t first = 0;
    std::vector<std::int32_t> weights{};
};

std::vector<PixelWindow> windows_of(std::uint32_t from, std::uint32_t to)
{
    const double scale = static_cast<double>(from) / to, reach = std::max(scale, 1.0);
    std::vector<PixelWindow> windows(to);
    for (std::uint32_t i = 0; i < to; ++i) {
        const double centre = (i + 0.5) * scale;
        const auto begin = static_cast<std::uint32_t>(std::max(centre - reach + 0.5, 0.0));
        const auto end = static_cast<std::uint32_t>(std::min(centre + reach + 0.5, static_cast<double>(from)));
        std::vector<double> weights;
        double sum = 0;
        for (std::uint32_t x = begin; x < end; ++x) {
            weights.push_back(std::max(1 - std::abs((x - centre + 0.5) * (1 / reach)), 0.0));
            sum += weights.back();
        }
        windows[i].first = begin;
        for (const double weight : weights)
            windows[i].weights.push_back(static_cast<std::int32_t>(0.5 + (sum == 0 ? weight : weight / sum) * (1 << kWeightBits)));
    }
    return windows;
}

std::uint8_t weighted(const PixelWindow& window, const std::uint8_t* from, std::size_t step)
{
    std::int64_t sum = 1 << (kWeightBits - 1);
    for (const std::int32_t weight : window.weights) {
        sum += std::int64_t{*from} * weight;
        from += step;
    }
    return static_cast<std::uint8_t>(std::min<std::int64_t>(sum >> kWeightBits, UINT8_MAX));
}

Picture resized_rows(const Picture& from, std::uint32_t width)
{
    Picture to{width, from.height, from.components, {}};
    to.bytes.reserve(std::size_t{width} * from.height * from.components);
    const std::vector<PixelWindow> windows = windows_of(from.width, width);
    for (std::uint32_t y = 0; y < from.height; ++y)
        for (const PixelWindow& window : windows)
            for (std::uint32_t c = 0; c < from.components; ++c)
                to.bytes.push_back(
                    weighted(window, &from.bytes[(std::size_t{y} * from.width + window.first) * from.components + c], from.components));
    return to;
}

Picture resized_columns(const Picture& from, std::uint32_t height)
{
    const std::size_t row = std::size_t{from.width} * from.components;
    Picture to{from.width, height, from.components, {}};
    to.bytes.reserve(row * height);
    for (const PixelWindow& window : windows_of(from.height, height))
        for (std::size_t x = 0; x < row; ++x) to.bytes.push_back(weighted(window, &from.bytes[window.first * row + x], row));
    return to;
}

}  // namespace

Picture resized(const Picture& picture, std::uint32_t width, std::uint32_t height)
{
    const Picture rows = width == picture.width ? picture : resized_rows(picture, width);
    return height == picture.height ? rows : resized_columns(rows, height);
}

}  // namespace dlasim
