#include "golden/fp16.h"

#include <algorithm>

#include "golden/winograd.h"
#include "numerics/cacc.h"

namespace dlasim {
namespace {

using numerics::Fp16Operand;
using numerics::Fp16Weights;
constexpr std::uint32_t kLanes = 64;  // channels of an atom, nv_full

/// Channels [first, first + 64) of one place, zero beyond the last channel.
template <class At>
std::array<std::uint16_t, kLanes> atom(std::uint32_t first, std::uint32_t channels, At at)
{
    std::array<std::uint16_t, kLanes> values{};
    for (std::uint32_t c = 0; c < kLanes && first + c < channels; ++c) values[c] = static_cast<std::uint16_t>(at(first + c));
    return values;
}

class Fp16Sums {
public:
    Fp16Sums(const Layer& layer, const Tensor& input, const Tensor& weights)
        : l_(layer), input_(input), weights_(weights), channels_(layer.kernel_channels()), slices_((channels_ + kLanes - 1) / kLanes)
    {
        unpack_input();
    }

    /// The fp32 patterns of one kernel's sums in one batch.
    void kernel(std::uint32_t n, std::uint32_t k, std::vector<std::uint32_t>& sums)
    {
        unpack_kernel(k);
        const std::uint32_t group = k / (l_.kernels / l_.groups);
        for (std::uint32_t oy = 0; oy < l_.out_height(); ++oy)
            for (std::uint32_t ox = 0; ox < l_.out_width(); ++ox) {
                numerics::FpSum sum = 0;
                for (std::uint32_t slice = 0; slice < slices_; ++slice)
                    for (std::uint32_t r = 0; r < l_.kernel_height; ++r)
                        for (std::uint32_t s = 0; s < l_.kernel_width; ++s)
                            sum = numerics::accumulate_fp(numerics::dot_fp16(kernel_[(slice * l_.kernel_height + r) * l_.kernel_width + s],
                                                                             data(n, group, slice, oy, ox, r, s)),
                                                          sum);
                sums.push_back(numerics::finish_fp(sum));
            }
    }

private:
    void unpack_input()
    {
        places_.resize(std::size_t{l_.batch} * l_.groups * slices_ * l_.height * l_.width);
        std::size_t place = 0;
        for (std::uint32_t n = 0; n < l_.batch; ++n)
            for (std::uint32_t g = 0; g < l_.groups; ++g)
                for (std::uint32_t slice = 0; slice < slices_; ++slice)
                    for (std::uint32_t y = 0; y < l_.height; ++y)
                        for (std::uint32_t x = 0; x < l_.width; ++x)
                            numerics::unpack_fp16(
                                atom(slice * kLanes, channels_, [&](std::uint32_t c) { return input_.at(n, g * channels_ + c, y, x); }),
                                places_[place++]);
        padding_.resize(slices_);
        for (std::uint32_t slice = 0; slice < slices_; ++slice)
            numerics::unpack_fp16(atom(slice * kLanes, channels_, [&](std::uint32_t) { return l_.pad.value; }), padding_[slice]);
    }

    void unpack_kernel(std::uint32_t k)
    {
        kernel_.resize(std::size_t{slices_} * l_.kernel_height * l_.kernel_width);
        std::size_t place = 0;
        for (std::uint32_t slice = 0; slice < slices_; ++slice)
            for (std::uint32_t r = 0; r < l_.kernel_height; ++r)
                for (std::uint32_t s = 0; s < l_.kernel_width; ++s)
                    numerics::unpack_fp16(atom(slice * kLanes, channels_, [&](std::uint32_t c) { return weights_.at(k, c, r, s); }),
                                          kernel_[place++]);
    }

    const Fp16Operand& data(std::uint32_t n, std::uint32_t group, std::uint32_t slice, std::uint32_t oy, std::uint32_t ox, std::uint32_t r,
                            std::uint32_t s) const
    {
        const std::int64_t y = std::int64_t{oy} * l_.stride.y + r * l_.dilation.y - l_.pad.top;
        const std::int64_t x = std::int64_t{ox} * l_.stride.x + s * l_.dilation.x - l_.pad.left;
        if (y < 0 || x < 0 || y >= l_.height || x >= l_.width) return padding_[slice];
        const std::size_t plane = (std::size_t{n} * l_.groups + group) * slices_ + slice;
        return places_[(plane * l_.height + static_cast<std::size_t>(y)) * l_.width + static_cast<std::size_t>(x)];
    }

    const Layer& l_;
    const Tensor &input_, &weights_;
    std::uint32_t channels_, slices_;
    std::vector<Fp16Operand> places_, padding_;
    std::vector<Fp16Weights> kernel_;
};

/// Pixels: an operation takes 64 elements of a kernel row, pixel major, or the same of several rows.
std::vector<std::uint32_t> image_sums(const Layer& l, const Tensor& input, const Tensor& weights, std::uint32_t rows)
{
    const std::uint32_t length = l.kernel_width * l.channels;
    std::vector<std::uint32_t> sums;
    for (std::uint32_t k = 0; k < l.kernels; ++k)
        for (std::uint32_t oy = 0; oy < l.out_height(); ++oy)
            for (std::uint32_t ox = 0; ox < l.out_width(); ++ox) {
                numerics::FpSum sum = 0;
                for (std::uint32_t e0 = 0; e0 < length; e0 += kLanes)
                    for (std::uint32_t r0 = 0; r0 < l.kernel_height; r0 += rows) {
                        std::array<std::uint16_t, kLanes> data{}, weight{};
                        std::uint32_t lane = 0;
                        for (std::uint32_t r = r0; r < std::min(l.kernel_height, r0 + rows); ++r)
                            for (std::uint32_t e = e0; e < std::min(length, e0 + kLanes); ++e, ++lane) {
                                const std::int64_t y = std::int64_t{oy} * l.stride.y + r - l.pad.top,
                                                   x = std::int64_t{ox} * l.stride.x + e / l.channels - l.pad.left;
                                const bool inside = y >= 0 && x >= 0 && y < l.height && x < l.width;
                                data[lane] = static_cast<std::uint16_t>(
                                    inside ? input.at(0, e % l.channels, static_cast<std::uint32_t>(y), static_cast<std::uint32_t>(x))
                                           : l.pad.value);
                                weight[lane] = static_cast<std::uint16_t>(weights.at(k, e % l.channels, r, e / l.channels));
                            }
                        Fp16Weights w;
                        Fp16Operand d;
                        numerics::unpack_fp16(weight, w);
                        numerics::unpack_fp16(data, d);
                        sum = numerics::accumulate_fp(numerics::dot_fp16(w, d), sum);
                    }
                sums.push_back(numerics::finish_fp(sum));
            }
    return sums;
}

/// Deconvolution: each output gathers the inputs that reach it, in ascending rows and columns of the input.
std::vector<std::uint32_t> deconvolution_sums(const Layer& l, const Tensor& input, const Tensor& weights)
{
    std::vector<std::uint32_t> sums;
    for (std::uint32_t k = 0; k < l.kernels; ++k)
        for (std::uint32_t oy = 0; oy < l.out_height(); ++oy)
            for (std::uint32_t ox = 0; ox < l.out_width(); ++ox) {
                numerics::FpSum sum = 0;
                for (std::uint32_t c0 = 0; c0 < l.channels; c0 += kLanes)
                    for (std::uint32_t y = 0; y < l.height; ++y)
                        for (std::uint32_t x = 0; x < l.width; ++x) {
                            const std::int64_t r = std::int64_t{oy} + l.pad.top - std::int64_t{y} * l.stride.y,
                                               s = std::int64_t{ox} + l.pad.left - std::int64_t{x} * l.stride.x;
                            if (r < 0 || s < 0 || r >= l.kernel_height || s >= l.kernel_width) continue;
                            Fp16Weights w;
                            Fp16Operand d;
                            numerics::unpack_fp16(atom(c0, l.channels,
                                                       [&](std::uint32_t c) {
                                                           return weights.at(k, c, static_cast<std::uint32_t>(r),
                                                                             static_cast<std::uint32_t>(s));
                                                       }),
                                                  w);
                            numerics::unpack_fp16(atom(c0, l.channels, [&](std::uint32_t c) { return input.at(0, c, y, x); }), d);
                            sum = numerics::accumulate_fp(numerics::dot_fp16(w, d), sum);
                        }
                sums.push_back(numerics::finish_fp(sum));
            }
    return sums;
}

}  // namespace

std::vector<std::uint32_t> reference_fp16_sums(const Layer& layer, const Tensor& input, const Tensor& weights, const Method& method)
{
    if (method.winograd) return reference_winograd_fp16(layer, input, weights);
    if (layer.op == Op::Deconvolution) return deconvolution_sums(layer, input, weights);
    if (layer.image()) return image_sums(layer, input, weights, method.image_rows);
    std::vector<std::uint32_t> sums;
    Fp16Sums reference(layer, input, weights);
    for (std::uint32_t n = 0; n < layer.batch; ++n)
        for (std::uint32_t k = 0; k < layer.kernels; ++k) reference.kernel(n, k, sums);
    return sums;
}

}  // namespace dlasim
