#include "jobs/traffic_bound.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include "base/bits.h"

namespace dlasim {
namespace {

/// Sizes of 1, 2, 3, .. equal parts, smallest first.
std::vector<std::uint64_t> parts_of(std::uint64_t size)
{
    std::set<std::uint64_t> parts;
    for (std::uint64_t count = 1; count <= size; ++count) parts.insert(ceil_div<std::uint64_t>(size, count));
    return {parts.begin(), parts.end()};
}

/// One direction of a convolution.
struct Axis {
    std::uint64_t in, out, kernel, span, stride, before;
    /// Elements of the input that a block of places needs, padding included.
    std::uint64_t window(std::uint64_t places) const { return (places - 1) * stride + span; }
    /// That all blocks fetch.
    std::uint64_t fetched(std::uint64_t places) const
    {
        std::uint64_t sum = 0;
        for (std::uint64_t first = 0; first < out; first += places) {
            const std::int64_t from = static_cast<std::int64_t>(first * stride) - static_cast<std::int64_t>(before);
            const std::int64_t to = from + static_cast<std::int64_t>(window(std::min(places, out - first)));
            const std::int64_t begin = std::max<std::int64_t>(0, from), end = std::min(static_cast<std::int64_t>(in), to);
            sum += end > begin ? static_cast<std::uint64_t>(end - begin) : 0;
        }
        return sum;
    }
};

class Chip {
public:
    Chip(const Layer& l, double on_chip)
        : x_{l.width, l.out_width(), l.kernel_width, l.span_x(), l.stride.x, l.pad.left},
          y_{l.height, l.out_height(), l.kernel_height, l.span_y(), l.stride.y, l.pad.top},
          images_(l.batch),
          channels_(l.channels),
          kernels_(l.kernels),
          taps_(std::uint64_t{l.kernel_width} * l.kernel_height),
          room_(on_chip)
    {
        for (const std::uint64_t columns : parts_of(x_.out)) x_parts_.push_back({columns, x_.fetched(columns)});
        for (const std::uint64_t rows : parts_of(y_.out)) y_parts_.push_back({rows, y_.fetched(rows)});
    }

    std::uint64_t outputs() const { return images_ * x_.out * y_.out * kernels_; }
    std::uint64_t weights() const { return taps_ * channels_ * kernels_; }

    double bound() const
    {
        const double macs = static_cast<double>(outputs()) * static_cast<double>(taps_ * channels_);
        return 2 * macs / std::sqrt(reuse() * room_) + static_cast<double>(outputs());
    }

    std::optional<TiledTraffic> best() const
    {
        std::optional<TiledTraffic> best;
        each_block([&](const TiledTraffic& t) {
            if (!best || t.all() < best->all()) best = t;
        });
        return best;
    }

    TrafficByOctave balances() const
    {
        TrafficByOctave least;
        each_block([&](const TiledTraffic& t) {
            const double balance = static_cast<double>(t.images * t.columns * t.rows) / (reuse() * static_cast<double>(t.kernels));
            const auto [at, first] = least.try_emplace(static_cast<int>(std::lround(std::log2(balance))), t.all());
            if (!first) at->second = std::min(at->second, t.all());
        });
        return least;
    }

    /// All kernels of a block of places of one image: the inputs are read once, blocks are small.
    std::optional<std::uint64_t> all_kernels() const
    {
        std::optional<std::uint64_t> least;
        each_tile([&](const Part& x, const Part& y) {
            if (fits(kernels_ * x.places * y.places + x_.window(x.places) * y_.window(y.places) + kernels_))
                lower(least, images_ * (blocks(x, y) * weights() + channels_ * x.fetched * y.fetched) + outputs());
        });
        return least;
    }

    /// The largest block of places of one image; kernels take what it leaves.
    std::optional<std::uint64_t> all_places() const
    {
        std::optional<std::uint64_t> least;
        std::uint64_t largest = 0;
        each_tile([&](const Part& x, const Part& y) {
            const std::uint64_t kernels = std::min(kernels_, kernels_that_fit_with(1, x.places, y.places)), places = x.places * y.places;
            if (kernels == 0 || places < largest) return;
            if (places > largest) least.reset();
            largest = places;
            lower(least,
                  images_ * (blocks(x, y) * weights() + ceil_div<std::uint64_t>(kernels_, kernels) * channels_ * x.fetched * y.fetched) +
                      outputs());
        });
        return least;
    }

    /// A tile of the input with all its channels stays, beside taps of 64 kernels, and all weights pass it. Where no tile fits: the inputs
    /// of one place, by channels, and sums that leave the chip and come back.
    std::uint64_t inputs_stay() const
    {
        const std::uint64_t taps = kTapsBeside * taps_;
        std::optional<std::uint64_t> least;
        each_tile([&](const Part& x, const Part& y) {
            if (fits(x_.window(x.places) * y_.window(y.places) * channels_ + taps))
                lower(least, images_ * (channels_ * x.fetched * y.fetched + blocks(x, y) * weights()) + outputs());
        });
        if (least) return *least;
        const double room = std::floor((room_ - static_cast<double>(taps)) / static_cast<double>(taps_));
        const std::uint64_t together = room < 1 ? 1 : static_cast<std::uint64_t>(room);
        return images_ * (channels_ * x_.fetched(1) * y_.fetched(1) + x_.out * y_.out * weights()) +
               outputs() * (2 * ceil_div<std::uint64_t>(channels_, together) - 1);
    }

    /// Kernels stay, with as many channels as fit beside a window of lines of the input, and all inputs pass them.
    std::optional<std::uint64_t> weights_stay() const
    {
        std::optional<std::uint64_t> least;
        for (const std::uint64_t kernels : parts_of(kernels_)) {
            const std::uint64_t channel = taps_ * kernels + (y_.kernel - 1) * (x_.out - 1 + x_.kernel) + x_.kernel;
            const double room = std::floor((room_ - static_cast<double>(kernels)) / static_cast<double>(channel));
            if (room < 1) continue;
            const std::uint64_t together = std::min(channels_, static_cast<std::uint64_t>(room));
            lower(least, weights() + ceil_div<std::uint64_t>(kernels_, kernels) * images_ * x_.in * y_.in * channels_ +
                             outputs() * (2 * ceil_div<std::uint64_t>(channels_, together) - 1));
        }
        return least;
    }

private:
    static constexpr std::uint64_t kTapsBeside = 64;
    struct Part {
        std::uint64_t places, fetched;
    };

    template <class Visit>
    void each_tile(Visit visit) const
    {
        for (const Part& x : x_parts_)
            for (const Part& y : y_parts_) visit(x, y);
    }
    /// Every block with as many kernels as fit into it, blocks of kernels being equal.
    template <class Visit>
    void each_block(Visit visit) const
    {
        for (std::uint64_t images = 1; images <= images_; ++images) {
            if (images_ % images != 0) continue;
            each_tile([&](const Part& x, const Part& y) {
                const std::uint64_t most = kernels_that_fit_with(images, x.places, y.places);
                if (most == 0) return;
                const std::uint64_t blocks = ceil_div<std::uint64_t>(kernels_, std::min(most, kernels_));
                visit(TiledTraffic{
                    images, x.places, y.places, ceil_div<std::uint64_t>(kernels_, blocks),
                    images_ / images * ceil_div<std::uint64_t>(x_.out, x.places) * ceil_div<std::uint64_t>(y_.out, y.places) * weights(),
                    blocks * images_ * channels_ * x.fetched * y.fetched, outputs()});
            });
        }
    }
    /// R.
    double reuse() const { return static_cast<double>(taps_) / static_cast<double>(x_.stride * y_.stride); }
    bool fits(std::uint64_t elements) const { return static_cast<double>(elements) <= room_; }
    static void lower(std::optional<std::uint64_t>& least, std::uint64_t traffic) { least = least ? std::min(*least, traffic) : traffic; }
    std::uint64_t blocks(const Part& x, const Part& y) const
    {
        return ceil_div<std::uint64_t>(x_.out, x.places) * ceil_div<std::uint64_t>(y_.out, y.places);
    }
    /// Beside the sums, a channel of their inputs and a tap of each kernel.
    std::uint64_t kernels_that_fit_with(std::uint64_t images, std::uint64_t columns, std::uint64_t rows) const
    {
        const double left = room_ - static_cast<double>(images * x_.window(columns) * y_.window(rows));
        return left < 0 ? 0 : static_cast<std::uint64_t>(left / static_cast<double>(images * columns * rows + 1));
    }

    Axis x_, y_;
    std::uint64_t images_, channels_, kernels_, taps_;
    double room_;
    std::vector<Part> x_parts_, y_parts_;
};

}  // namespace

Dataflows dataflows_of(const Layer& layer, double on_chip)
{
    const Chip chip(layer, on_chip);
    return {chip.bound(), chip.best(), chip.balances(), chip.all_kernels(), chip.all_places(), chip.inputs_stay(), chip.weights_stay()};
}

}  // namespace dlasim
