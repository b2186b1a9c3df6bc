// Weights in memory: programming.md 5 and 8.
#include <algorithm>

#include "base/expects.h"
#include "config/model/fp16.h"
#include "lowering/memory/layout.h"

namespace dlasim {
namespace {

/// U = G g G^T of one kernel and channel, [16] row major, as stored in memory: fp16 as patterns, integers times four, saturated.
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
                    sum += kRows[r][i] * kRows[s][j] * (precision == Precision::Fp16 ? double_from_fp16(static_cast<std::uint16_t>(g)) : g);
                }
            if (precision == Precision::Fp16) u[4 * r + s] = static_cast<std::int16_t>(fp16_from_double(sum / 4));
            else if (precision == Precision::Int8) u[4 * r + s] = static_cast<std::int16_t>(std::clamp(sum, -128.0, 127.0));
            else u[4 * r + s] = static_cast<std::int16_t>(std::clamp(sum, -32768.0, 32767.0));
        }
    return u;
}

}  // namespace

std::vector<std::int16_t> weight_stream(const Pass& pass, const Geometry& geometry, const Hardware& hardware, const Tensor& weights)
{
    const std::uint32_t group = hardware.kernel_group(pass.precision), slice = hardware.mac.atomic_c;
    std::vector<std::int16_t> stream;
    stream.reserve(geometry.kernel_bytes / pass.element_bytes() * weights.n);
    for (std::uint32_t g0 = 0; g0 < weights.n; g0 += group) {
        const std::uint32_t end = std::min(weights.n, g0 + group);
        if (pass.mode == PassMode::Direct) {
            for (std::uint32_t c0 = 0; c0 < weights.c; c0 += slice)
                for (std::uint32_t r = 0; r < weights.h; ++r)
                    for (std::uint32_t s = 0; s < weights.w; ++s) {
                        const std::uint32_t channels = std::min(weights.c - c0, slice);
                        const std::size_t taps = std::size_t{weights.h} * weights.w;
                        stream.resize(stream.size() + std::size_t{end - g0} * channels);
                        std::int16_t* to = stream.data() + stream.size() - std::size_t{end - g0} * channels;
                        for (std::uint32_t k = g0; k < end; ++k) {
                            const std::int16_t* from = &weights.values[weights.index(k, c0, r, s)];
                            for (std::uint32_t c = 0; c < channels; ++c) *to++ = from[c * taps];
                        }
                    }
        } else if (pass.mode == PassMode::Image) {
            const std::uint32_t row = weights.w * weights.c, step = 1u << pass.y_extension;
            for (std::uint32_t e0 = 0; e0 < row; e0 += slice)
                for (std::uint32_t r0 = 0; r0 < weights.h; r0 += step)
                    for (std::uint32_t k = g0; k < end; ++k)
                        for (std::uint32_t r = r0; r < std::min(weights.h, r0 + step); ++r)
                            for (std::uint32_t e = e0; e < std::min(row, e0 + slice); ++e)
                                stream.push_back(weights.at(k, e % weights.c, r, e / weights.c));
        } else {
            const std::uint32_t padded = geometry.channels_ext / (pass.stride.x * pass.stride.y);
            const auto transformed = [&](std::uint32_t k, std::uint32_t e) {
                std::array<std::int16_t, 9> kernel{};
                const std::uint32_t c = e % padded, px = e / padded % pass.stride.x, py = e / padded / pass.stride.x;
                for (std::uint32_t i = 0; i < 9 && c < weights.c; ++i) {
                    const std::uint32_t y = py + pass.stride.y * (i / 3), x = px + pass.stride.x * (i % 3);
                    if (y < weights.h && x < weights.w) kernel[i] = weights.at(k, c, y, x);
                }
                return winograd_weights(pass.precision, kernel);
            };
            for (std::uint32_t c0 = 0; c0 < geometry.channels_ext; c0 += 4)
                for (std::uint32_t k = g0; k < end; ++k) {
                    const std::array<std::array<std::int16_t, 16>, 4> u{transformed(k, c0), transformed(k, c0 + 1), transformed(k, c0 + 2),
                                                                        transformed(k, c0 + 3)};
                    for (std::size_t p = 0; p < 16; ++p)
                        for (const auto& channel : u) stream.push_back(channel[p]);
                }
        }
    }
    DLASIM_EXPECTS(stream.size() * pass.element_bytes() == geometry.kernel_bytes * weights.n);
    return stream;
}

CompressedWeights compress(const Pass& pass, const Geometry& geometry, const Hardware& hardware, const std::vector<std::int16_t>& stream)
{
    CompressedWeights out;
    const std::uint32_t es = pass.element_bytes();
    const std::size_t per_group = hardware.kernel_group(pass.precision) * geometry.kernel_bytes / es;
    out.mask.resize((stream.size() + 7) / 8);
    // CDMA fetches one unit at least. CSC must read it too, or it looks for the weights of the next pass in the wrong place:
    // of weights that are all zero the first one is stored.
    const bool nothing = std::all_of(stream.begin(), stream.end(), [](std::int16_t value) { return value == 0; });
    std::size_t last = 0;
    for (std::size_t i = 0; i < stream.size(); ++i) {
        if (stream[i] != 0 || (nothing && i == 0)) {
            out.mask[i / 8] = static_cast<std::uint8_t>(out.mask[i / 8] | 1u << (i % 8));
            for (std::uint32_t b = 0; b < es; ++b)
                out.weights.push_back(static_cast<std::uint8_t>(static_cast<std::uint16_t>(stream[i]) >> (8 * b)));
        }
        if ((i + 1) % per_group == 0 || i + 1 == stream.size()) {
            const std::size_t size = out.weights.size() - last;
            for (std::uint32_t b = 0; b < 4; ++b) out.group_sizes.push_back(static_cast<std::uint8_t>(size >> (8 * b)));
            last = out.weights.size();
            out.group_ends.push_back(last);
        }
    }
    const auto pad = [](Bytes& bytes, std::size_t to) { bytes.resize((bytes.size() + to - 1) / to * to); };
    pad(out.weights, hardware.cbuf.entry_bytes);
    pad(out.mask, hardware.cbuf.entry_bytes);
    pad(out.group_sizes, 32);
    return out;
}

}  // namespace dlasim
