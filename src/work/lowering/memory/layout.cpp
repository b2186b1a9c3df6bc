#include "lowering/memory/layout.h"

#include <algorithm>

#include "base/expects.h"

namespace dlasim {
namespace {

void store(Bytes& bytes, std::uint64_t place, std::int16_t value, std::uint32_t element_bytes)
{
    bytes[place] = static_cast<std::uint8_t>(value);
    if (element_bytes == 2) bytes[place + 1] = static_cast<std::uint8_t>(static_cast<std::uint16_t>(value) >> 8);
}

/// 10-bit colours, 2-bit alpha in one word: the fields are left aligned in the 16-bit components.
std::uint32_t pack_ten_bits(const PixelFormat& format, const std::array<std::uint16_t, 4>& component)
{
    const std::array<std::uint32_t, 4> order = format.order();
    const std::uint32_t code = format.code;
    const bool alpha_low = code == 0x16 || code == 0x17 || code == 0x19;
    std::uint32_t word = 0;
    for (std::uint32_t o = 0; o < 4; ++o) {
        const std::uint32_t field = order[o];
        if (o == 3) word |= static_cast<std::uint32_t>(component[3] >> 14) << (alpha_low ? 0 : 30);
        else word |= static_cast<std::uint32_t>(component[o] >> 6) << (alpha_low ? 2 + 10 * (field - 1) : 10 * field);
    }
    return word;
}

}  // namespace

Bytes feature_bytes(const Tensor& input, const Channels& channels, const Cube& cube, std::uint64_t bytes)
{
    Bytes memory(bytes);
    for (std::uint32_t n = 0; n < input.n; ++n)
        for (std::uint32_t c = 0; c < channels.count; ++c)
            for (std::uint32_t y = 0; y < input.h; ++y) {
                const std::uint64_t line = cube.offset(n, c, y, 0);
                const std::int16_t* from = &input.values[input.index(n, channels.first + c, y, 0)];
                if (cube.element_bytes == 1)
                    for (std::uint32_t x = 0; x < input.w; ++x)
                        memory[line + std::uint64_t{x} * cube.atom_bytes] = static_cast<std::uint8_t>(from[x]);
                else
                    for (std::uint32_t x = 0; x < input.w; ++x) store(memory, line + std::uint64_t{x} * cube.atom_bytes, from[x], 2);
            }
    return memory;
}

void read_feature(const Bytes& bytes, const Cube& cube, Tensor& output, const Channels& channels)
{
    for (std::uint32_t n = 0; n < output.n; ++n)
        for (std::uint32_t c = 0; c < channels.count; ++c)
            for (std::uint32_t y = 0; y < output.h; ++y) {
                const std::uint64_t line = cube.offset(n, c, y, 0);
                std::int16_t* to = &output.at(n, channels.first + c, y, 0);
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
    const std::array<std::uint32_t, 4> order = f.order();
    const std::uint32_t component_bytes = f.eight_bit ? 1 : 2;
    Bytes memory(f.planes == 2 ? uv_offset + geometry.in_strides.uv_line * input.h : geometry.in_strides.line * input.h);
    for (std::uint32_t y = 0; y < input.h; ++y)
        for (std::uint32_t x = 0; x < input.w; ++x) {
            const std::uint64_t column = std::uint64_t{x} + layer.x_offset,
                                place = y * geometry.in_strides.line + column * f.plane_pixel_bytes;
            if (f.ten_bits()) {
                std::array<std::uint16_t, 4> component{};
                for (std::uint32_t o = 0; o < 4; ++o) component[o] = static_cast<std::uint16_t>(input.at(0, o, y, x));
                const std::uint32_t word = pack_ten_bits(f, component);
                for (std::uint32_t b = 0; b < 4; ++b) memory[place + b] = static_cast<std::uint8_t>(word >> (8 * b));
                continue;
            }
            for (std::uint32_t o = 0; o < f.components; ++o) {
                const bool second = f.planes == 2 && o > 0;
                const std::uint64_t at = second ? uv_offset + y * geometry.in_strides.uv_line + column * 2 * f.plane_pixel_bytes +
                                                      (order[o] - 1) * component_bytes
                                                : place + order[o] * component_bytes;
                store(memory, at, input.at(0, o, y, x), component_bytes);
            }
        }
    return memory;
}

Bytes to_bytes(const std::vector<std::int16_t>& values, std::uint32_t element_bytes, std::uint64_t bytes)
{
    DLASIM_EXPECTS(values.size() * element_bytes <= bytes);
    Bytes all(bytes);
    if (element_bytes == 1)
        std::transform(values.begin(), values.end(), all.begin(), [](std::int16_t v) { return static_cast<std::uint8_t>(v); });
    else
        for (std::size_t i = 0; i < values.size(); ++i) store(all, i * 2, values[i], 2);
    return all;
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
                    const std::uint64_t surface = o.strides.surface != 0 ? o.strides.surface : o.atoms * atom_bytes;
                    const std::uint64_t place = k / elements * surface + y * o.strides.line + x * o.atoms * atom_bytes;
                    const std::uint32_t number = both ? 2 * (k % elements) + (mul ? 1 : 0) : k % elements;
                    const auto value = static_cast<std::uint16_t>(at(mul, k, y, x));
                    for (std::uint32_t b = 0; b < width; ++b)
                        bytes[place + number * width + b] = static_cast<std::uint8_t>(value >> (8 * b));
                }
    return bytes;
}

}  // namespace dlasim
