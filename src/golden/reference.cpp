#include "golden/reference.h"

#include "golden/fp16.h"
#include "golden/pixels.h"
#include "golden/post.h"
#include "golden/winograd.h"
#include "numerics/fp.h"

namespace dlasim {
namespace {

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
                                sums[((std::size_t{n} * layer.kernels + k) * oh + static_cast<std::size_t>(oy)) * ow +
                                     static_cast<std::size_t>(ox)] += std::int32_t{input.at(n, channel, y, x)} * weights.at(k, c, r, s);
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
                            const std::size_t pixel =
                                (std::size_t{n} * layer.height + static_cast<std::size_t>(y)) * layer.width + static_cast<std::size_t>(x);
                            const std::int16_t* place = inside ? &data[pixel * layer.channels + k / per_group * channels] : padding.data();
                            sum += dot(place, &kernels[((std::size_t{k} * kh + r) * kw + s) * channels], channels);
                        }
                    sums.push_back(sum);
                }
    return sums;
}

Tensor reference_output(const Layer& layer, const Hardware& hardware, const LayerTensors& tensors, const Method& method)
{
    const bool flush = layer.flush_nan && !method.winograd;  // a transformed kernel is flushed behind its transform
    const bool changed = layer.image() || layer.conversion.on || layer.flush_nan;
    const Tensor converted = changed ? reference_input(layer, tensors.input) : Tensor{},
                 flushed = flush ? reference_weights(tensors.weights) : Tensor{};
    const Tensor &input = changed ? converted : tensors.input, &weights = flush ? flushed : tensors.weights;
    const bool fp = layer.precision == Precision::Fp16;
    const PostReference post(layer, hardware, tensors);
    std::vector<std::uint32_t> floats;
    std::vector<std::int64_t> sums;
    if (layer.op == Op::Sdp && fp)
        for (const std::int16_t value : input.values) floats.push_back(numerics::fp16_to_fp32(static_cast<std::uint16_t>(value)));
    else if (layer.op == Op::Sdp) sums.assign(input.values.begin(), input.values.end());
    else if (fp) floats = reference_fp16_sums(layer, input, weights, method);
    else if (method.winograd) sums = reference_winograd_sums(layer, input, weights);
    else sums = reference_sums(layer, input, weights);
    Tensor output(layer.batch, layer.kernels, layer.out_height(), layer.out_width());
    std::size_t i = 0;
    for (std::uint32_t n = 0; n < output.n; ++n)
        for (std::uint32_t k = 0; k < output.c; ++k)
            for (std::uint32_t y = 0; y < output.h; ++y)
                for (std::uint32_t x = 0; x < output.w; ++x, ++i)
                    output.values[i] = fp ? post.floating(floats[i], k, y, x) : post.integer(sums[i], k, y, x);
    return output;
}

}  // namespace dlasim
