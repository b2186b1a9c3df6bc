// The sums of an integer layer loop by loop, as they are defined: slow and obvious, what the golden convolution is held against.
#pragma once
#include <vector>

#include "config/model/tensors.h"

namespace dlasim {

/// [batch, kernels, height, width]; a convolution gathers, a deconvolution scatters.
inline std::vector<std::int64_t> plain_sums(const Layer& l, const Tensor& input, const Tensor& weights)
{
    const std::uint32_t ow = l.out_width(), oh = l.out_height(), per_group = l.kernels / l.groups;
    std::vector<std::int64_t> sums(std::size_t{l.batch} * l.kernels * ow * oh);
    const auto sum = [&](std::uint32_t n, std::uint32_t k, std::int64_t y, std::int64_t x) -> std::int64_t& {
        return sums[((std::size_t{n} * l.kernels + k) * oh + static_cast<std::size_t>(y)) * ow + static_cast<std::size_t>(x)];
    };
    for (std::uint32_t n = 0; n < l.batch; ++n)
        for (std::uint32_t k = 0; k < l.kernels; ++k)
            for (std::uint32_t c = 0; c < l.kernel_channels(); ++c)
                for (std::uint32_t r = 0; r < l.kernel_height; ++r)
                    for (std::uint32_t s = 0; s < l.kernel_width; ++s) {
                        const std::int64_t weight = weights.at(k, c, r, s);
                        const std::uint32_t channel = k / per_group * l.kernel_channels() + c;
                        if (l.op == Op::Deconvolution) {
                            for (std::uint32_t y = 0; y < l.height; ++y)
                                for (std::uint32_t x = 0; x < l.width; ++x) {
                                    const std::int64_t oy = std::int64_t{y} * l.stride.y + r * l.dilation.y - l.pad.top;
                                    const std::int64_t ox = std::int64_t{x} * l.stride.x + s * l.dilation.x - l.pad.left;
                                    if (oy >= 0 && ox >= 0 && oy < oh && ox < ow) sum(n, k, oy, ox) += weight * input.at(n, channel, y, x);
                                }
                            continue;
                        }
                        for (std::uint32_t oy = 0; oy < oh; ++oy)
                            for (std::uint32_t ox = 0; ox < ow; ++ox) {
                                const std::int64_t y = std::int64_t{oy} * l.stride.y + r * l.dilation.y - l.pad.top;
                                const std::int64_t x = std::int64_t{ox} * l.stride.x + s * l.dilation.x - l.pad.left;
                                const bool inside = y >= 0 && x >= 0 && y < l.height && x < l.width;
                                sum(n, k, oy, ox) +=
                                    weight * (inside ? input.at(n, channel, static_cast<std::uint32_t>(y), static_cast<std::uint32_t>(x))
                                                     : l.pad.value);
                            }
                    }
    return sums;
}

}  // namespace dlasim
