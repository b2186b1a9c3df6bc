#include "onnx/ranges.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace dlasim {
namespace {

constexpr std::size_t kSteps = 128;  // of one sign, 0 among them
constexpr std::size_t kStride = 16;  // bins between two ranges that are tried
constexpr double kShare = 0.9999;
constexpr double kSaturated = 0.01;  // most magnitudes that entropy saturates: one frequent value looks like a loss of every wide range
constexpr double kNothing = 1e-6;    // share of a step that has no element

double magnitude(float x) { return std::abs(static_cast<double>(x)); }

/// Of the first `count` bins, what lies beyond them in the last one, against the same in `kSteps` equal steps.
double divergence(const std::vector<std::uint64_t>& bins, std::size_t count)
{
    const auto sum = [&](std::size_t from, std::size_t to) {
        return static_cast<double>(std::accumulate(bins.begin() + static_cast<std::ptrdiff_t>(from),
                                                   bins.begin() + static_cast<std::ptrdiff_t>(to), std::uint64_t{0}));
    };
    const double inside = sum(0, count), beyond = sum(count, bins.size());
    if (!(inside > 0)) return INFINITY;
    double lost = 0;
    for (std::size_t step = 0; step < kSteps; ++step) {
        const std::size_t from = step * count / kSteps, to = (step + 1) * count / kSteps;
        const auto filled =
            static_cast<double>(std::count_if(bins.begin() + static_cast<std::ptrdiff_t>(from),
                                              bins.begin() + static_cast<std::ptrdiff_t>(to), [](std::uint64_t n) { return n != 0; }));
        if (filled == 0) continue;
        const double each = sum(from, to) / filled / inside;
        for (std::size_t i = from; i < to; ++i) {
            if (bins[i] == 0) continue;
            const double is = (static_cast<double>(bins[i]) + (i + 1 == count ? beyond : 0)) / (inside + beyond);
            lost += is * std::log(is / each);
        }
    }
    if (bins[count - 1] == 0 && beyond > 0)  // what lies beyond is where nothing was
        lost += beyond / (inside + beyond) * std::max(0.0, std::log(beyond / (inside + beyond) / kNothing));
    return lost;
}

}  // namespace

void Ranges::Histogram::see(const RealTensor& values, double most)
{
    if (!(most > 0)) return;
    if (bins.empty()) bins.resize(kBins);
    if (top == 0) top = most;
    while (top < most) {
        for (std::size_t i = 0; i < kBins; ++i) bins[i] = i < kBins / 2 ? bins[2 * i] + bins[2 * i + 1] : 0;
        top *= 2;
    }
    for (const float x : values)
        if (std::isfinite(x) && x != 0.0F)
            ++bins[std::min(kBins - 1, static_cast<std::size_t>(magnitude(x) / top * static_cast<double>(kBins)))];
}

std::size_t Ranges::Histogram::bins_of(double share) const
{
    const auto all = static_cast<double>(std::accumulate(bins.begin(), bins.end(), std::uint64_t{0}));
    double seen = 0;
    for (std::size_t i = 0; i < bins.size(); ++i)
        if ((seen += static_cast<double>(bins[i])) >= share * all) return i + 1;
    return bins.size();
}

double Ranges::Histogram::percentile() const { return top * static_cast<double>(bins_of(kShare)) / static_cast<double>(kBins); }

double Ranges::Histogram::least_squares() const
{
    const double bin = top / static_cast<double>(kBins);
    double best = INFINITY, range = top;
    for (std::size_t count = kSteps; count <= kBins; count += kStride) {
        const double end = bin * static_cast<double>(count), step = end / static_cast<double>(kSteps - 1);
        double squares = 0;
        for (std::size_t i = 0; i < kBins; ++i) {
            const double far = bin * (static_cast<double>(i) + 0.5) - end;
            squares += static_cast<double>(bins[i]) * (i < count ? step * step / 12 : far * far);
        }
        if (squares < best) {
            best = squares;
            range = end;
        }
    }
    return range;
}

double Ranges::Histogram::least_divergence() const
{
    double best = INFINITY, range = top;
    const std::size_t least = (std::max(bins_of(1 - kSaturated), kSteps) + kStride - 1) / kStride * kStride;
    for (std::size_t count = least; count <= kBins; count += kStride)
        if (const double lost = divergence(bins, count); lost < best) {
            best = lost;
            range = top * static_cast<double>(count) / static_cast<double>(kBins);
        }
    return range;
}

void Ranges::see(const std::vector<RealTensor>& values)
{
    for (std::size_t v = 0; v < values.size(); ++v) {
        double most = 0;
        for (const float x : values[v])
            if (std::isfinite(x)) most = std::max(most, magnitude(x));
        most_[v] = std::max(most_[v], most);
        if (!histograms_.empty()) histograms_[v].see(values[v], most);
    }
}

double Ranges::most(std::size_t value) const
{
    if (how_ == Calibration::Max || histograms_[value].top == 0) return most_[value];
    const Histogram& histogram = histograms_[value];
    const double range = how_ == Calibration::Percentile ? histogram.percentile()
                         : how_ == Calibration::Mse      ? histogram.least_squares()
                                                         : histogram.least_divergence();
    return std::min(range, most_[value]);
}

}  // namespace dlasim
