#include "golden/sums.h"

#include <algorithm>
#include <cstdlib>
#include <optional>

namespace dlasim {
namespace {

constexpr std::uint32_t kSumPlaces = Products::kPlaces;

/// An output place: where its first tap is in the input, and its position in a plane of the output.
struct SumPlace {
    std::uint32_t batch;
    std::int64_t y, x;
    std::size_t out;
};
/// A tap: its distance from the first one in the input, and its place in a plane of the kernel.
struct Tap {
    std::int64_t y, x;
    std::size_t number;
};

/// Places and taps that all meet each other.
struct Phase {
    std::vector<SumPlace> places;
    std::vector<Tap> taps;
};

Phase convolution(const Layer& l)
{
    Phase phase;
    for (std::uint32_t n = 0; n < l.batch; ++n)
        for (std::uint32_t y = 0; y < l.out_height(); ++y)
            for (std::uint32_t x = 0; x < l.out_width(); ++x)
                phase.places.push_back({n, std::int64_t{y} * l.stride.y - l.pad.top, std::int64_t{x} * l.stride.x - l.pad.left,
                                        std::size_t{y} * l.out_width() + x});
    for (std::uint32_t r = 0; r < l.kernel_height; ++r)
        for (std::uint32_t s = 0; s < l.kernel_width; ++s)
            phase.taps.push_back({std::int64_t{r} * l.dilation.y, std::int64_t{s} * l.dilation.x, std::size_t{r} * l.kernel_width + s});
    return phase;
}

/// Outputs with (oy + top) mod stride = py: input row y gives to row y * stride + r * dilation - top.
Phase deconvolution(const Layer& l, std::uint32_t py, std::uint32_t px)
{
    Phase phase;
    for (std::uint32_t n = 0; n < l.batch; ++n)
        for (std::uint32_t y = 0; y < l.out_height(); ++y)
            for (std::uint32_t x = 0; x < l.out_width(); ++x)
                if ((y + l.pad.top) % l.stride.y == py && (x + l.pad.left) % l.stride.x == px)
                    phase.places.push_back({n, (std::int64_t{y} + l.pad.top) / l.stride.y, (std::int64_t{x} + l.pad.left) / l.stride.x,
                                            std::size_t{y} * l.out_width() + x});
    for (std::uint32_t r = 0; r < l.kernel_height; ++r)
        for (std::uint32_t s = 0; s < l.kernel_width; ++s)
            if (r * l.dilation.y % l.stride.y == py && s * l.dilation.x % l.stride.x == px)
                phase.taps.push_back({-(std::int64_t{r} * l.dilation.y / l.stride.y), -(std::int64_t{s} * l.dilation.x / l.stride.x),
                                      std::size_t{r} * l.kernel_width + s});
    return phase;
}

std::int32_t largest(const Tensor& input, std::int32_t padding)
{
    std::int32_t low = std::min(padding, 0), high = std::max(padding, 0);
    for (const std::int16_t value : input.values) {
        low = std::min<std::int32_t>(low, value);
        high = std::max<std::int32_t>(high, value);
    }
    return std::max(-low, high);
}

class PhaseSums {
public:
    PhaseSums(const Layer& layer, const Tensor& input, const Tensor& weights, Phase phase, std::vector<std::int64_t>& sums, Vectors vectors)
        : l_(layer),
          input_(input),
          phase_(std::move(phase)),
          sums_(sums),
          channels_(layer.kernel_channels()),
          length_(phase_.taps.size() * channels_)
    {
        const bool zero = l_.op == Op::Deconvolution;
        padding_ = static_cast<std::int16_t>(zero ? 0 : l_.pad.value);
        const std::span<const std::int16_t> all(weights.values);
        const std::size_t kernel = std::size_t{channels_} * weights.h * weights.w;
        if (length_ != kernel) {
            chosen_.reserve(length_ * weights.n);
            for (std::size_t plane = 0; plane < all.size(); plane += kernel / channels_)
                for (const Tap& tap : phase_.taps) chosen_.push_back(all[plane + tap.number]);
        }
        products_.emplace(length_ == kernel ? all : std::span<const std::int16_t>(chosen_), weights.n, length_, largest(input, padding_),
                          vectors);
        data_.resize(length_ * kSumPlaces);
        offsets_.resize(phase_.taps.size() * kSumPlaces);
        part_.resize(std::size_t{l_.kernels / l_.groups} * kSumPlaces);
    }

    void run()
    {
        const std::uint32_t per_group = l_.kernels / l_.groups;
        for (std::size_t first = 0; first < phase_.places.size(); first += kSumPlaces) {
            const std::size_t count = std::min<std::size_t>(kSumPlaces, phase_.places.size() - first);
            const SumPlace* places = &phase_.places[first];
            find(places, count);
            for (std::uint32_t g = 0; g < l_.groups; ++g) {
                gather(g, count);
                products_->multiply(data_.data(), g * per_group, per_group, part_.data());
                for (std::uint32_t k = 0; k < per_group; ++k) put(places, count, g * per_group + k, &part_[std::size_t{k} * kSumPlaces]);
            }
        }
    }

private:
    static constexpr std::ptrdiff_t kOutside = -1;

    /// Where in the planes of its batch each place meets each tap.
    void find(const SumPlace* places, std::size_t count)
    {
        std::ptrdiff_t* to = offsets_.data();
        const auto plane = static_cast<std::ptrdiff_t>(std::size_t{input_.h} * input_.w),
                   batch = static_cast<std::ptrdiff_t>(input_.c) * plane;
        for (const Tap& tap : phase_.taps)
            for (std::size_t i = 0; i < kSumPlaces; ++i, ++to) {
                const SumPlace& place = places[std::min(i, count - 1)];
                const std::int64_t y = place.y + tap.y, x = place.x + tap.x;
                const bool inside = y >= 0 && x >= 0 && y < input_.h && x < input_.w;
                *to = inside ? place.batch * batch + y * input_.w + x : kOutside;
            }
    }

    void gather(std::uint32_t group, std::size_t count)
    {
        const std::size_t plane = std::size_t{input_.h} * input_.w, taps = phase_.taps.size();
        const std::int16_t* values = input_.values.data() + std::size_t{group} * channels_ * plane;
        for (std::size_t t = 0; t < taps; ++t) {
            const std::ptrdiff_t* offset = &offsets_[t * kSumPlaces];
            std::int16_t* to = &data_[t * kSumPlaces];
            bool outside = false, straight = count == kSumPlaces;
            for (std::uint32_t i = 0; i < kSumPlaces; ++i) {
                outside |= offset[i] == kOutside;
                straight &= offset[i] == offset[0] + static_cast<std::ptrdiff_t>(i);
            }
            const std::int16_t* from = values;
            for (std::uint32_t c = 0; c < channels_; ++c, from += plane, to += taps * kSumPlaces) {
                if (outside)
                    for (std::uint32_t i = 0; i < kSumPlaces; ++i) to[i] = offset[i] == kOutside ? padding_ : from[offset[i]];
                else if (straight) std::copy_n(from + offset[0], kSumPlaces, to);
                else
                    for (std::uint32_t i = 0; i < kSumPlaces; ++i) to[i] = from[offset[i]];
            }
        }
    }

    void put(const SumPlace* places, std::size_t count, std::uint32_t k, const std::int64_t* part)
    {
        const std::size_t plane = std::size_t{l_.out_height()} * l_.out_width();
        for (std::size_t i = 0; i < count; ++i) sums_[(std::size_t{places[i].batch} * l_.kernels + k) * plane + places[i].out] = part[i];
    }

    const Layer& l_;
    const Tensor& input_;
    const Phase phase_;
    std::vector<std::int64_t>& sums_;
    const std::uint32_t channels_;
    const std::size_t length_;
    std::int16_t padding_;
    std::vector<std::int16_t> chosen_;  // the weights of the taps, if these are not all
    std::optional<Products> products_;
    std::vector<std::int16_t> data_;       // [channel][tap][kSumPlaces]
    std::vector<std::ptrdiff_t> offsets_;  // [tap][kSumPlaces]
    std::vector<std::int64_t> part_;
};

}  // namespace

std::vector<std::int64_t> reference_sums(const Layer& layer, const Tensor& input, const Tensor& weights, Vectors vectors)
{
    std::vector<std::int64_t> sums(std::size_t{layer.batch} * layer.kernels * layer.out_width() * layer.out_height());
    const auto add = [&](Phase phase) {
        // A phase that no tap reaches stays 0.
        if (!phase.taps.empty()) PhaseSums(layer, input, weights, std::move(phase), sums, vectors).run();
    };
    if (layer.op != Op::Deconvolution) {
        add(convolution(layer));
        return sums;
    }
    for (std::uint32_t py = 0; py < layer.stride.y; ++py)
        for (std::uint32_t px = 0; px < layer.stride.x; ++px) add(deconvolution(layer, py, px));
    return sums;
}

}  // namespace dlasim
