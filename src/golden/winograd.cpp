#include "golden/winograd.h"

#include <algorithm>
#include <cmath>

#include "config/half.h"
#include "numerics/cacc.h"
#include "numerics/cmac.h"
#include "numerics/pra.h"

namespace dlasim {
namespace {

using Tile = std::array<std::uint16_t, 16>;

/// A strided kernel is sx * sy kernels of 3 x 3 on the phases of the input: programming.md 5.
struct Phases {
    explicit Phases(const Layer& layer) : l(layer)
    {
        const std::uint32_t per_surface = layer.precision == Precision::Int8 ? 32 : 16;
        padded = (layer.channels + per_surface - 1) / per_surface * per_surface;
        channels = padded * layer.stride.x * layer.stride.y;
    }
    std::uint32_t channel(std::uint32_t extended) const { return extended % padded; }
    std::uint32_t phase_x(std::uint32_t extended) const { return extended / padded % l.stride.x; }
    std::uint32_t phase_y(std::uint32_t extended) const { return extended / padded / l.stride.x; }

    std::array<std::int16_t, 9> kernel(const Tensor& weights, std::uint32_t k, std::uint32_t extended) const
    {
        std::array<std::int16_t, 9> g{};
        if (channel(extended) >= l.channels) return g;
        for (std::uint32_t r = 0; r < 3; ++r)
            for (std::uint32_t s = 0; s < 3; ++s) {
                const std::uint32_t y = phase_y(extended) + l.stride.y * r, x = phase_x(extended) + l.stride.x * s;
                if (y < l.kernel_height && x < l.kernel_width) g[3 * r + s] = weights.at(k, channel(extended), y, x);
            }
        return g;
    }

    /// The 4 x 4 values under the output tile whose first output is (oy, ox), transformed.
    Tile input(const Tensor& data, std::uint32_t n, std::uint32_t extended, std::uint32_t oy, std::uint32_t ox) const
    {
        Tile in{}, out{};
        for (std::uint32_t r = 0; r < 4; ++r)
            for (std::uint32_t s = 0; s < 4; ++s) {
                const std::int64_t y = std::int64_t{oy + r} * l.stride.y + phase_y(extended) - l.pad.top;
                const std::int64_t x = std::int64_t{ox + s} * l.stride.x + phase_x(extended) - l.pad.left;
                const bool inside = y >= 0 && x >= 0 && y < data.h && x < data.w && channel(extended) < data.c;
                in[4 * r + s] = static_cast<std::uint16_t>(
                    inside ? data.at(n, channel(extended), static_cast<std::uint32_t>(y), static_cast<std::uint32_t>(x)) : l.pad.value);
            }
        numerics::transform_tile(l.precision, l.winograd_truncate, in, out);
        return out;
    }

    const Layer& l;
    std::uint32_t padded, channels;
};

/// The transformed input of every tile and extended channel of a batch, channels last.
std::vector<Tile> transformed_input(const Phases& phases, const Tensor& input, std::uint32_t n, std::uint32_t oh, std::uint32_t ow)
{
    std::vector<Tile> tiles;
    tiles.reserve(std::size_t{oh / 2} * (ow / 2) * phases.channels);
    for (std::uint32_t y = 0; y < oh; y += 2)
        for (std::uint32_t x = 0; x < ow; x += 2)
            for (std::uint32_t e = 0; e < phases.channels; ++e) tiles.push_back(phases.input(input, n, e, y, x));
    return tiles;
}

std::vector<std::array<std::int16_t, 16>> transformed_kernel(const Phases& phases, const Tensor& weights, std::uint32_t k)
{
    std::vector<std::array<std::int16_t, 16>> u;
    for (std::uint32_t e = 0; e < phases.channels; ++e) {
        u.push_back(winograd_weights(phases.l.precision, phases.kernel(weights, k, e)));
        // CDMA sees the kernel transformed.
        for (std::int16_t& value : u.back())
            if (phases.l.flush_nan && (value & 0x7fff) > 0x7c00) value = 0;
    }
    return u;
}

/// Calls place(batch, kernel, oy, ox, kernel transform, first tile) for every tile of the output.
template <class Place>
void for_each_tile(const Layer& layer, const Tensor& input, const Tensor& weights, Place place)
{
    const Phases phases(layer);
    const std::uint32_t oh = layer.out_height(), ow = layer.out_width();
    for (std::uint32_t n = 0; n < layer.batch; ++n) {
        const std::vector<Tile> tiles = transformed_input(phases, input, n, oh, ow);
        for (std::uint32_t k = 0; k < layer.kernels; ++k) {
            const auto u = transformed_kernel(phases, weights, k);
            for (std::uint32_t y = 0; y < oh; y += 2)
                for (std::uint32_t x = 0; x < ow; x += 2)
                    place(n, k, y, x, u, &tiles[(std::size_t{y / 2} * (ow / 2) + x / 2) * phases.channels]);
        }
    }
}

std::size_t output_index(const Layer& layer, std::uint32_t n, std::uint32_t k, std::uint32_t y, std::uint32_t x)
{
    return ((std::size_t{n} * layer.kernels + k) * layer.out_height() + y) * layer.out_width() + x;
}

}  // namespace

std::array<std::int16_t, 16> winograd_weights(Precision precision, const std::array<std::int16_t, 9>& kernel)
{
    // Rows of 2 G: whole numbers. 4 U = (2 G) g (2 G)^T.
    constexpr int kRows[4][3] = {{2, 0, 0}, {1, 1, 1}, {1, -1, 1}, {0, 0, 2}};
    std::array<std::int16_t, 16> u{};
    for (std::size_t r = 0; r < 4; ++r)
        for (std::size_t s = 0; s < 4; ++s) {
            double sum = 0;
            for (std::size_t i = 0; i < 3; ++i)
                for (std::size_t j = 0; j < 3; ++j) {
                    const std::int16_t g = kernel[3 * i + j];
                    sum += kRows[r][i] * kRows[s][j] * (precision == Precision::Fp16 ? double_from_half(static_cast<std::uint16_t>(g)) : g);
                }
            if (precision == Precision::Fp16) u[4 * r + s] = static_cast<std::int16_t>(half_from_double(sum / 4));
            else if (precision == Precision::Int8) u[4 * r + s] = static_cast<std::int16_t>(std::clamp(sum, -128.0, 127.0));
            else u[4 * r + s] = static_cast<std::int16_t>(std::clamp(sum, -32768.0, 32767.0));
        }
    return u;
}

std::vector<std::int64_t> reference_winograd_sums(const Layer& layer, const Tensor& input, const Tensor& weights)
{
    std::vector<std::int64_t> sums(std::size_t{layer.batch} * layer.kernels * layer.out_height() * layer.out_width());
    for_each_tile(layer, input, weights,
                  [&](std::uint32_t n, std::uint32_t k, std::uint32_t y, std::uint32_t x, const auto& u, const Tile* tiles) {
                      std::array<std::int64_t, 16> products{};
                      for (std::size_t e = 0; e < u.size(); ++e)
                          for (std::size_t p = 0; p < 16; ++p)
                              products[p] += std::int64_t{u[e][p]} * static_cast<std::int16_t>(tiles[e][p]);
                      const std::array<std::int64_t, 4> out = numerics::winograd_outputs(products);
                      for (std::uint32_t i = 0; i < 4; ++i) sums[output_index(layer, n, k, y + i / 2, x + i % 2)] = out[i];
                  });
    return sums;
}

std::vector<std::uint32_t> reference_winograd_fp16(const Layer& layer, const Tensor& input, const Tensor& weights)
{
    std::vector<std::uint32_t> results(std::size_t{layer.batch} * layer.kernels * layer.out_height() * layer.out_width());
    for_each_tile(layer, input, weights,
                  [&](std::uint32_t n, std::uint32_t k, std::uint32_t y, std::uint32_t x, const auto& u, const Tile* tiles) {
                      std::array<numerics::FpSum, 4> sums{};
                      for (std::size_t first = 0; first < u.size(); first += 4) {  // four channels an atom: lane 4 * position + channel
                          std::array<std::uint16_t, 64> weight{}, data{};
                          for (std::size_t p = 0; p < 16; ++p)
                              for (std::size_t c = 0; c < 4 && first + c < u.size(); ++c) {
                                  weight[4 * p + c] = static_cast<std::uint16_t>(u[first + c][p]);
                                  data[4 * p + c] = tiles[first + c][p];
                              }
                          numerics::Fp16Weights w;
                          numerics::Fp16Operand d;
                          numerics::unpack_fp16(weight, w);
                          numerics::unpack_fp16(data, d);
                          const auto words = numerics::winograd_fp16(w, d);
                          for (std::size_t i = 0; i < 4; ++i) sums[i] = numerics::accumulate_fp(words[i], sums[i]);
                      }
                      for (std::uint32_t i = 0; i < 4; ++i)
                          results[output_index(layer, n, k, y + i / 2, x + i % 2)] = numerics::finish_fp(sums[i]);
                  });
    return results;
}

}  // namespace dlasim
