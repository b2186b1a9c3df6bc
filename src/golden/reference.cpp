#include "golden/reference.h"

#include <algorithm>

#include "config/half.h"
#include "golden/fp16.h"
#include "golden/pixels.h"
#include "golden/winograd.h"

namespace dlasim {
namespace {

std::int64_t clamp_bits(std::int64_t value, int width)
{
    const std::int64_t high = (std::int64_t{1} << (width - 1)) - 1;
    return std::clamp(value, -high - 1, high);
}

/// value / 2^shift to nearest, ties away from zero.
std::int64_t round_shift(std::int64_t value, unsigned shift)
{
    if (shift == 0) return value;
    const std::int64_t half = std::int64_t{1} << (shift - 1);
    return value >= 0 ? (value + half) >> shift : -((-value + half) >> shift);
}

/// [batch][height][width][channels], so that the innermost loop runs over channels.
std::vector<std::int16_t> channels_last(const Tensor& tensor)
{
    std::vector<std::int16_t> values(tensor.values.size());
    std::size_t place = 0;
    for (std::uint32_t n = 0; n < tensor.n; ++n)
        for (std::uint32_t y = 0; y < tensor.h; ++y)
            for (std::uint32_t x = 0; x < tensor.w; ++x)
                for (std::uint32_t c = 0; c < tensor.c; ++c) values[place++] = tensor.at(n, c, y, x);
    return values;
}

std::int64_t dot(const std::int16_t* a, const std::int16_t* b, std::uint32_t count)
{
    std::int64_t sum = 0;
    for (std::uint32_t i = 0; i < count; ++i) sum += std::int32_t{a[i]} * b[i];
    return sum;
}

std::vector<std::int64_t> scatter_sums(const Layer& layer, const Tensor& input, const Tensor& weights)
{
    const std::uint32_t ow = layer.out_width(), oh = layer.out_height(), per_group = layer.kernels / layer.groups;
    std::vector<std::int64_t> sums(std::size_t{layer.batch} * layer.kernels * ow * oh);
    for (std::uint32_t n = 0; n < layer.batch; ++n)
        for (std::uint32_t k = 0; k < layer.kernels; ++k)
            for (std::uint32_t c = 0; c < layer.kernel_channels(); ++c)
                for (std::uint32_t y = 0; y < layer.height; ++y)
                    for (std::uint32_t x = 0; x < layer.width; ++x)
                        for (std::uint32_t r = 0; r < layer.kernel_height; ++r)
                            for (std::uint32_t s = 0; s < layer.kernel_width; ++s) {
                                const std::int64_t oy = std::int64_t{y} * layer.stride.y + r * layer.dilation.y - layer.pad.top;
                                const std::int64_t ox = std::int64_t{x} * layer.stride.x + s * layer.dilation.x - layer.pad.left;
                                if (oy < 0 || ox < 0 || oy >= oh || ox >= ow) continue;
                                const std::uint32_t channel = k / per_group * layer.kernel_channels() + c;
                                sums[((std::size_t{n} * layer.kernels + k) * oh + static_cast<std::size_t>(oy)) * ow + static_cast<std::size_t>(ox)] +=
                                    std::int32_t{input.at(n, channel, y, x)} * weights.at(k, c, r, s);
                            }
    return sums;
}

}  // namespace

std::vector<std::int64_t> reference_sums(const Layer& layer, const Tensor& input, const Tensor& weights)
{
    if (layer.op == Op::Deconvolution) return scatter_sums(layer, input, weights);
    const std::vector<std::int16_t> data = channels_last(input), kernels = channels_last(weights);
    const std::uint32_t channels = layer.kernel_channels(), per_group = layer.kernels / layer.groups;
    const std::uint32_t kw = layer.kernel_width, kh = layer.kernel_height;
    const std::vector<std::int16_t> padding(channels, static_cast<std::int16_t>(layer.pad.value));
    std::vector<std::int64_t> sums;
    sums.reserve(std::size_t{layer.batch} * layer.kernels * layer.out_width() * layer.out_height());
    for (std::uint32_t n = 0; n < layer.batch; ++n)
        for (std::uint32_t k = 0; k < layer.kernels; ++k)
            for (std::uint32_t oy = 0; oy < layer.out_height(); ++oy)
                for (std::uint32_t ox = 0; ox < layer.out_width(); ++ox) {
                    std::int64_t sum = 0;
                    for (std::uint32_t r = 0; r < kh; ++r)
                        for (std::uint32_t s = 0; s < kw; ++s) {
                            const std::int64_t y = std::int64_t{oy} * layer.stride.y + r * layer.dilation.y - layer.pad.top;
                            const std::int64_t x = std::int64_t{ox} * layer.stride.x + s * layer.dilation.x - layer.pad.left;
                            const bool inside = y >= 0 && x >= 0 && y < layer.height && x < layer.width;
                            const std::size_t pixel = (std::size_t{n} * layer.height + static_cast<std::size_t>(y)) * layer.width + static_cast<std::size_t>(x);
                            const std::int16_t* place = inside ? &data[pixel * layer.channels + k / per_group * channels] : padding.data();
                            sum += dot(place, &kernels[((std::size_t{k} * kh + r) * kw + s) * channels], channels);
                        }
                    sums.push_back(sum);
                }
    return sums;
}

std::int16_t reference_post(const Layer& layer, std::int64_t sum, std::int16_t bias)
{
    std::int64_t value = clamp_bits(sum, 32);                                                          // CACC
    if (layer.bias) value = clamp_bits(value + clamp_bits(std::int64_t{bias} << layer.bias_shift, 32), 32);  // BS
    if (layer.activation == Activation::Relu) value = std::max<std::int64_t>(value, 0);
    const std::int64_t scaled = (value - layer.output.offset) * layer.output.scale;                    // converter
    value = clamp_bits(round_shift(scaled, layer.output.shift), 17);
    if (layer.output.precision == Precision::Fp16) return static_cast<std::int16_t>(half_from_double(static_cast<double>(std::clamp<std::int64_t>(value, -65504, 65504))));
    return static_cast<std::int16_t>(clamp_bits(value, layer.output.precision == Precision::Int8 ? 8 : 16));
}

Tensor reference_output(const Layer& layer, const Hardware& hardware, const LayerTensors& tensors, const Method& method)
{
    const Tensor converted = layer.image() ? reference_pixels(layer, tensors.input) : Tensor{};
    const Tensor& input = layer.image() ? converted : tensors.input;
    if (layer.precision == Precision::Fp16) return reference_fp16(layer, hardware, input, tensors, method);
    const std::vector<std::int64_t> sums =
        method.winograd ? reference_winograd_sums(layer, input, tensors.weights) : reference_sums(layer, input, tensors.weights);
    Tensor output(layer.batch, layer.kernels, layer.out_height(), layer.out_width());
    const std::size_t plane = std::size_t{output.h} * output.w;
    for (std::size_t i = 0; i < sums.size(); ++i) {
        const std::size_t kernel = i / plane % layer.kernels;
        output.values[i] = reference_post(layer, sums[i], layer.bias ? tensors.bias[kernel] : std::int16_t{0});
    }
    return output;
}

}  // namespace dlasim
