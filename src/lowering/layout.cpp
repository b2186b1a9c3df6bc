#include "lowering/layout.h"

#include <algorithm>

#include "base/expects.h"
#include "config/half.h"

namespace dlasim {
namespace {

void store(Bytes& bytes, std::uint64_t place, std::int16_t value, std::uint32_t element_bytes)
{
    bytes[place] = static_cast<std::uint8_t>(value);
    if (element_bytes == 2) bytes[place + 1] = static_cast<std::uint8_t>(static_cast<std::uint16_t>(value) >> 8);
}

/// Component of memory that becomes component o: [spec] cdma.md 5.1, column "reorder".
std::array<std::uint32_t, 4> component_order(std::uint32_t code)
{
    switch (code) {
        case 0x09:
        case 0x0b:
        case 0x0d:
        case 0x11:
        case 0x1a:
        case 0x15:
        case 0x18:
            return {2, 1, 0, 3};
        case 0x0a:
        case 0x0e:
        case 0x12:
        case 0x1b:
        case 0x16:
        case 0x19:
            return {1, 2, 3, 0};
        case 0x0f:
        case 0x13:
        case 0x17:
            return {3, 2, 1, 0};
        case 0x1c:
        case 0x1e:
        case 0x20:
        case 0x22:
            return {0, 2, 1, 3};  // plane 1 swapped
        default:
            return {0, 1, 2, 3};
    }
}

/// 10-bit colours, 2-bit alpha in one word: the fields stand left aligned in the 16-bit components.
std::uint32_t pack_ten_bits(std::uint32_t code, const std::array<std::uint16_t, 4>& component)
{
    const std::array<std::uint32_t, 4> order = component_order(code);
    const bool alpha_low = code == 0x16 || code == 0x17 || code == 0x19;
    std::uint32_t word = 0;
    for (std::uint32_t o = 0; o < 4; ++o) {
        const std::uint32_t field = order[o];
        if (o == 3) word |= static_cast<std::uint32_t>(component[3] >> 14) << (alpha_low ? 0 : 30);
        else word |= static_cast<std::uint32_t>(component[o] >> 6) << (alpha_low ? 2 + 10 * (field - 1) : 10 * field);
    }
    return word;
}

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
                    sum += kRows[r][i] * kRows[s][j] * (precision == Precision::Fp16 ? double_from_half(static_cast<std::uint16_t>(g)) : g);
                }
            if (precision == Precision::Fp16) u[4 * r + s] = static_cast<std::int16_t>(half_from_double(sum / 4));
            else if (precision == Precision::Int8) u[4 * r + s] = static_cast<std::int16_t>(std::clamp(sum, -128.0, 127.0));
            else u[4 * r + s] = static_cast<std::int16_t>(std::clamp(sum, -32768.0, 32767.0));
        }
    return u;
}

}  // namespace

Bytes feature_bytes(const Tensor& input, std::uint32_t first, std::uint32_t count, const Cube& cube, std::uint64_t bytes)
{
    Bytes memory(bytes);
    for (std::uint32_t n = 0; n < input.n; ++n)
        for (std::uint32_t c = 0; c < count; ++c)
            for (std::uint32_t y = 0; y < input.h; ++y) {
                const std::uint64_t line = cube.offset(n, c, y, 0);
                const std::int16_t* from = &input.values[input.index(n, first + c, y, 0)];
                if (cube.element_bytes == 1)
                    for (std::uint32_t x = 0; x < input.w; ++x)
                        memory[line + std::uint64_t{x} * cube.atom_bytes] = static_cast<std::uint8_t>(from[x]);
                else
                    for (std::uint32_t x = 0; x < input.w; ++x) store(memory, line + std::uint64_t{x} * cube.atom_bytes, from[x], 2);
            }
    return memory;
}

void read_feature(const Bytes& bytes, const Cube& cube, Tensor& output, std::uint32_t first_channel, std::uint32_t channels)
{
    for (std::uint32_t n = 0; n < output.n; ++n)
        for (std::uint32_t c = 0; c < channels; ++c)
            for (std::uint32_t y = 0; y < output.h; ++y) {
                const std::uint64_t line = cube.offset(n, c, y, 0);
                std::int16_t* to = &output.at(n, first_channel + c, y, 0);
                for (std::uint32_t x = 0; x < output.w; ++x) {
                    const std::uint64_t place = line + std::uint64_t{x} * cube.atom_bytes;
                    to[x] = cube.element_bytes == 1 ? static_cast<std::int8_t>(bytes[place])
                                                    : static_cast<std::int16_t>(bytes[place] | bytes[place + 1] << 8);
                }
            }
}

Bytes pixel_bytes(const Layer& layer, const Tensor& input, const Geometry& geometry, std::uint64_t uv_offset)
{
    const PixelFormat& f = *layer.format;
    const std::array<std::uint32_t, 4> order = component_order(f.code);
    const std::uint32_t component_bytes = f.eight_bit ? 1 : 2;
    Bytes memory(f.planes == 2 ? uv_offset + geometry.uv_line_stride * input.h : geometry.line_stride * input.h);
    for (std::uint32_t y = 0; y < input.h; ++y)
        for (std::uint32_t x = 0; x < input.w; ++x) {
            const std::uint64_t column = std::uint64_t{x} + layer.x_offset, place = y * geometry.line_stride + column * f.plane_pixel_bytes;
            if (f.ten_bits()) {
                std::array<std::uint16_t, 4> component{};
                for (std::uint32_t o = 0; o < 4; ++o) component[o] = static_cast<std::uint16_t>(input.at(0, o, y, x));
                const std::uint32_t word = pack_ten_bits(f.code, component);
                for (std::uint32_t b = 0; b < 4; ++b) memory[place + b] = static_cast<std::uint8_t>(word >> (8 * b));
                continue;
            }
            for (std::uint32_t o = 0; o < f.components; ++o) {
                const bool second = f.planes == 2 && o > 0;
                const std::uint64_t at =
                    second ? uv_offset + y * geometry.uv_line_stride + column * 2 * f.plane_pixel_bytes + (order[o] - 1) * component_bytes
                           : place + order[o] * component_bytes;
                store(memory, at, input.at(0, o, y, x), component_bytes);
            }
        }
    return memory;
}

Bytes to_bytes(const std::vector<std::int16_t>& values, std::uint32_t element_bytes)
{
    Bytes bytes(values.size() * element_bytes);
    if (element_bytes == 1)
        for (std::size_t i = 0; i < values.size(); ++i) bytes[i] = static_cast<std::uint8_t>(values[i]);
    else
        for (std::size_t i = 0; i < values.size(); ++i) store(bytes, i * 2, values[i], 2);
    return bytes;
}

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

// [spec] sdp.md 1.6.2.
Bytes operand_bytes(const Pass& pass, const Geometry& geometry, std::size_t engine, std::uint32_t atom_bytes, const OperandAt& at)
{
    const PointEngine& e = pass.post.engines[engine];
    const OperandGeometry& o = geometry.operands[engine];
    const std::uint32_t elements = atom_bytes / pass.element_bytes(), width = pass.element_bytes() == 1 ? e.operand_bytes : 2;
    const bool both = e.alu.streamed() && e.mul.streamed(), element = e.per() == OperandPer::Element;
    Bytes bytes(o.bytes);
    for (std::uint32_t k = 0; k < pass.kernels; ++k)
        for (std::uint32_t y = 0; y < (element ? geometry.out_height : 1); ++y)
            for (std::uint32_t x = 0; x < (element ? geometry.out_width : 1); ++x)
                for (const bool mul : {false, true}) {
                    if (!(mul ? e.mul : e.alu).streamed()) continue;
                    const std::uint64_t surface = o.surface_stride != 0 ? o.surface_stride : o.atoms * atom_bytes;
                    const std::uint64_t place = k / elements * surface + y * o.line_stride + x * o.atoms * atom_bytes;
                    const std::uint32_t number = both ? 2 * (k % elements) + (mul ? 1 : 0) : k % elements;
                    const auto value = static_cast<std::uint16_t>(at(mul, k, y, x));
                    for (std::uint32_t b = 0; b < width; ++b)
                        bytes[place + number * width + b] = static_cast<std::uint8_t>(value >> (8 * b));
                }
    return bytes;
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
    pad(out.weights, 128);
    pad(out.mask, 128);
    pad(out.group_sizes, 32);
    return out;
}

}  // namespace dlasim
