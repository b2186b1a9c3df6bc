#include "golden/winograd.h"

#include <algorithm>

#include "config/model/fp16.h"
#include "golden/cell.h"
#include "golden/lut.h"
#include "golden/products.h"
#include "golden/real.h"

namespace dlasim {
namespace {

constexpr std::uint32_t kPositions = 16, kTilesTogether = Products::kPlaces;
template <class T>
using Square = std::array<std::array<T, 4>, 4>;

/// A strided kernel is sx * sy kernels of 3 x 3 on the phases of the input: programming.md 5.
struct Phases {
    explicit Phases(const Layer& layer) : l(layer)
    {
        const std::uint32_t per_surface = layer.precision == Precision::Int8 ? 32 : 16;
        padded = (layer.channels + per_surface - 1) / per_surface * per_surface;
        channels = padded * layer.stride.x * layer.stride.y;
        tiles_x = layer.out_width() / 2;
        tiles = tiles_x * (layer.out_height() / 2);
    }
    std::uint32_t channel(std::uint32_t extended) const { return extended % padded; }
    std::uint32_t phase_x(std::uint32_t extended) const { return extended / padded % l.stride.x; }
    std::uint32_t phase_y(std::uint32_t extended) const { return extended / padded / l.stride.x; }

    /// Element (r, s) of the 3 x 3 kernel of an extended channel.
    std::int16_t kernel(const Tensor& weights, std::uint32_t k, std::uint32_t extended, std::uint32_t r, std::uint32_t s) const
    {
        const std::uint32_t y = phase_y(extended) + l.stride.y * r, x = phase_x(extended) + l.stride.x * s;
        const bool inside = channel(extended) < l.channels && y < l.kernel_height && x < l.kernel_width;
        return inside ? weights.at(k, channel(extended), y, x) : std::int16_t{0};
    }
    /// Element (r, s) of the 4 x 4 values under a tile of 2 x 2 outputs.
    std::int16_t input(const Tensor& data, std::uint32_t n, std::uint32_t extended, std::uint32_t tile, std::uint32_t r,
                       std::uint32_t s) const
    {
        const std::int64_t y = std::int64_t{tile / tiles_x * 2 + r} * l.stride.y + phase_y(extended) - l.pad.top;
        const std::int64_t x = std::int64_t{tile % tiles_x * 2 + s} * l.stride.x + phase_x(extended) - l.pad.left;
        const bool inside = y >= 0 && x >= 0 && y < data.h && x < data.w && channel(extended) < data.c;
        return inside ? data.at(n, channel(extended), static_cast<std::uint32_t>(y), static_cast<std::uint32_t>(x))
                      : static_cast<std::int16_t>(l.pad.value);
    }
    std::size_t output(std::uint32_t n, std::uint32_t k, std::uint32_t tile, std::uint32_t i) const
    {
        const std::uint32_t y = tile / tiles_x * 2 + i / 2, x = tile % tiles_x * 2 + i % 2;
        return ((std::size_t{n} * l.kernels + k) * l.out_height() + y) * l.out_width() + x;
    }

    const Layer& l;
    std::uint32_t padded, channels, tiles, tiles_x;
};

// Row i of C^T is the difference or the sum of two rows: first, second, sign. Floating point rounds the differences of
// the first pass, so the order is that of the description: down the columns, then along the rows.
struct Pair {
    std::size_t first, second;
    int sign;
};
constexpr Pair kInput[4] = {{0, 2, -1}, {1, 2, 1}, {2, 1, -1}, {1, 3, -1}};
constexpr std::int64_t kOutput[2][4] = {{1, 1, 1, 0}, {0, 1, -1, -1}};  // A^T
constexpr std::int64_t kTwiceG[4][3] = {{2, 0, 0}, {1, 1, 1}, {1, -1, 1}, {0, 0, 2}};

/// C^T d C; `combine(a, b, sign)` is a + b or a - b.
template <class T, class Combine>
Square<T> input_transform(const Square<T>& d, Combine combine)
{
    Square<T> down, out;
    for (std::size_t i = 0; i < 4; ++i)
        for (std::size_t x = 0; x < 4; ++x) down[i][x] = combine(d[kInput[i].first][x], d[kInput[i].second][x], kInput[i].sign);
    for (std::size_t y = 0; y < 4; ++y)
        for (std::size_t i = 0; i < 4; ++i) out[y][i] = combine(down[y][kInput[i].first], down[y][kInput[i].second], kInput[i].sign);
    return out;
}

/// V of a tile and channel, [16].
std::array<std::int16_t, kPositions> transformed_input(const Phases& phases, const Tensor& input, std::uint32_t n, std::uint32_t e,
                                                       std::uint32_t tile)
{
    std::array<std::int16_t, kPositions> v;
    const Layer& l = phases.l;
    if (l.precision == Precision::Fp16) {
        Square<std::uint32_t> d;
        for (std::uint32_t r = 0; r < 4; ++r)
            for (std::uint32_t s = 0; s < 4; ++s)
                d[r][s] = real::widen_fp16(real::kWide, static_cast<std::uint16_t>(phases.input(input, n, e, tile, r, s)));
        const auto out = input_transform(
            d, [](std::uint32_t a, std::uint32_t b, int sign) { return real::add(real::kWide, a, sign < 0 ? real::kWide.negated(b) : b); });
        for (std::size_t p = 0; p < kPositions; ++p) v[p] = static_cast<std::int16_t>(real::wide_to_half(out[p / 4][p % 4]));
        return v;
    }
    Square<std::int64_t> d;
    for (std::uint32_t r = 0; r < 4; ++r)
        for (std::uint32_t s = 0; s < 4; ++s) d[r][s] = phases.input(input, n, e, tile, r, s);
    const auto out = input_transform(d, [](std::int64_t a, std::int64_t b, int sign) { return a + sign * b; });
    for (std::size_t p = 0; p < kPositions; ++p)
        v[p] = static_cast<std::int16_t>(
            clamp_bits(round_shift(out[p / 4][p % 4], l.winograd_truncate), l.precision == Precision::Int8 ? 8 : 16));
    return v;
}

/// U of a kernel and channel: (2 G) g (2 G)^T, in fp16 a quarter of it; saturated or rounded to the precision.
std::array<std::int16_t, kPositions> transformed_kernel(const Phases& phases, const Tensor& weights, std::uint32_t k, std::uint32_t e)
{
    const bool fp = phases.l.precision == Precision::Fp16;
    std::array<std::int16_t, kPositions> u;
    double g[3][3];
    for (std::uint32_t r = 0; r < 3; ++r)
        for (std::uint32_t s = 0; s < 3; ++s) {
            const std::int16_t value = phases.kernel(weights, k, e, r, s);
            g[r][s] = fp ? double_from_fp16(static_cast<std::uint16_t>(value)) : value;
        }
    for (std::size_t p = 0; p < kPositions; ++p) {
        const std::size_t row = p / 4, column = p % 4;
        double sum = 0;  // whole multiples of 2^-24 below 2^22: exact
        for (std::size_t r = 0; r < 3; ++r)
            for (std::size_t s = 0; s < 3; ++s) sum += static_cast<double>(kTwiceG[row][r] * kTwiceG[column][s]) * g[r][s];
        u[p] = fp ? static_cast<std::int16_t>(fp16_from_double(sum / 4))
                  : static_cast<std::int16_t>(clamp_bits(static_cast<std::int64_t>(sum), phases.l.precision == Precision::Int8 ? 8 : 16));
        // CDMA sees the kernel transformed.
        if (fp && phases.l.flush_nan && (u[p] & 0x7fff) > 0x7c00) u[p] = 0;
    }
    return u;
}

}  // namespace

std::vector<std::int64_t> reference_winograd_sums(const Layer& layer, const Tensor& input, const Tensor& weights)
{
    const Phases phases(layer);
    const std::uint32_t extended = phases.channels;
    // Sixteen products of matrices, one a position: [kernels][extended] with [extended][tiles].
    std::vector<std::vector<std::int16_t>> u(kPositions, std::vector<std::int16_t>(std::size_t{layer.kernels} * extended));
    for (std::uint32_t k = 0; k < layer.kernels; ++k)
        for (std::uint32_t e = 0; e < extended; ++e) {
            const auto kernel = transformed_kernel(phases, weights, k, e);
            for (std::size_t p = 0; p < kPositions; ++p) u[p][std::size_t{k} * extended + e] = kernel[p];
        }
    const std::int32_t most = layer.precision == Precision::Int8 ? 128 : 32768;
    std::vector<Products> products;
    products.reserve(u.size());
    for (const auto& position : u) products.emplace_back(position, layer.kernels, extended, most);

    std::vector<std::int64_t> sums(std::size_t{layer.batch} * layer.kernels * layer.out_height() * layer.out_width());
    const std::size_t plane = std::size_t{layer.kernels} * kTilesTogether;
    std::vector<std::int64_t> m(kPositions * plane);
    std::vector<std::int16_t> v(std::size_t{kPositions} * extended * kTilesTogether);
    for (std::uint32_t n = 0; n < layer.batch; ++n)
        for (std::uint32_t first = 0; first < phases.tiles; first += kTilesTogether) {
            const std::uint32_t count = std::min(kTilesTogether, phases.tiles - first);
            for (std::uint32_t e = 0; e < extended; ++e)
                for (std::uint32_t i = 0; i < count; ++i) {
                    const auto tile = transformed_input(phases, input, n, e, first + i);
                    for (std::size_t p = 0; p < kPositions; ++p) v[(p * extended + e) * kTilesTogether + i] = tile[p];
                }
            for (std::size_t p = 0; p < kPositions; ++p)
                products[p].multiply(&v[p * extended * kTilesTogether], 0, layer.kernels, &m[p * plane]);
            for (std::uint32_t k = 0; k < layer.kernels; ++k)
                for (std::uint32_t i = 0; i < count; ++i)
                    for (std::uint32_t o = 0; o < 4; ++o) {  // A^T m A
                        std::int64_t sum = 0;
                        for (std::size_t p = 0; p < kPositions; ++p)
                            sum += kOutput[o / 2][p / 4] * kOutput[o % 2][p % 4] * m[p * plane + std::size_t{k} * kTilesTogether + i];
                        sums[phases.output(n, k, first + i, o)] = sum;
                    }
        }
    return sums;
}

std::vector<std::uint32_t> reference_winograd_fp16(const Layer& layer, const Tensor& input, const Tensor& weights)
{
    const Phases phases(layer);
    const std::uint32_t atoms = (phases.channels + 3) / 4;  // four channels an atom: lane 4 * position + channel
    const auto pack = [&](std::uint32_t number, auto of_channel) {
        CellAtom::Values lanes{};
        for (std::uint32_t c = 0; c < 4 && 4 * number + c < phases.channels; ++c) {
            const std::array<std::int16_t, kPositions> values = of_channel(4 * number + c);
            for (std::size_t p = 0; p < kPositions; ++p) lanes[4 * p + c] = static_cast<std::uint16_t>(values[p]);
        }
        return lanes;
    };
    std::vector<std::uint32_t> results(std::size_t{layer.batch} * layer.kernels * layer.out_height() * layer.out_width());
    for (std::uint32_t n = 0; n < layer.batch; ++n)
        for (std::uint32_t first = 0; first < phases.tiles; first += 4 * kTilesTogether) {
            const std::uint32_t count = std::min(4 * kTilesTogether, phases.tiles - first);
            std::vector<CellAtom> data;  // [tile][atom]
            for (std::uint32_t i = 0; i < count; ++i)
                for (std::uint32_t a = 0; a < atoms; ++a)
                    data.emplace_back(pack(a, [&](std::uint32_t e) { return transformed_input(phases, input, n, e, first + i); }));
            for (std::uint32_t k0 = 0; k0 < layer.kernels; k0 += CellKernels::kTogether) {
                const std::uint32_t together = std::min<std::uint32_t>(CellKernels::kTogether, layer.kernels - k0);
                std::vector<CellKernels> kernels;
                std::array<CellAtom::Values, CellKernels::kTogether> values;
                for (std::uint32_t a = 0; a < atoms; ++a) {
                    for (std::uint32_t k = 0; k < together; ++k)
                        values[k] = pack(a, [&](std::uint32_t e) { return transformed_kernel(phases, weights, k0 + k, e); });
                    kernels.emplace_back(std::span(values).first(together));
                }
                for (std::uint32_t i = 0; i < count; ++i) {
                    std::array<CellKernels::Each, 4> sums{}, words;
                    for (std::uint32_t a = 0; a < atoms; ++a) {
                        cell_tiles(kernels[a], data[std::size_t{i} * atoms + a], words);
                        for (std::size_t o = 0; o < 4; ++o)
                            for (std::uint32_t k = 0; k < together; ++k) sums[o][k] = accumulated(sums[o][k], words[o][k]);
                    }
                    for (std::uint32_t o = 0; o < 4; ++o)
                        for (std::uint32_t k = 0; k < together; ++k)
                            results[phases.output(n, k0 + k, first + i, o)] = accumulator_result(sums[o][k]);
                }
            }
        }
    return results;
}

}  // namespace dlasim
