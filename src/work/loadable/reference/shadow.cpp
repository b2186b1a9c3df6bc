#include "loadable/reference/shadow.h"

#include <fmt/format.h>

#include <algorithm>

namespace dlasim::loadable {
namespace {

constexpr std::uint64_t kMaxElements = 1u << 27;

std::int16_t element(const std::uint8_t* at, std::uint32_t bytes)
{
    return bytes == 1 ? static_cast<std::int8_t>(*at) : static_cast<std::int16_t>(at[0] | at[1] << 8);
}

/// Where the lines of cubes begin, in order.
std::vector<Address> lines_of(const std::vector<Features>& cubes)
{
    std::vector<Address> lines;
    for (const Features& of : cubes) {
        check_size(of.n, of.c, of.h, of.w);
        for (std::uint32_t n = 0; n < of.n; ++n)
            for (std::uint32_t first = 0; first < of.c; first += of.per_atom())
                for (std::uint32_t y = 0; y < of.h; ++y) lines.push_back(of.place.address + of.line(n, first, y));
    }
    if (!std::is_sorted(lines.begin(), lines.end())) std::sort(lines.begin(), lines.end());
    return lines;
}
std::uint64_t line_bytes(const Features& of) { return std::uint64_t{of.w} * of.atom_bytes; }

}  // namespace

std::vector<std::uint8_t> Shadow::bytes(const Place& from, std::uint64_t count) const
{
    std::vector<std::uint8_t> read_bytes(count);
    read(from, read_bytes);
    return read_bytes;
}

void check_size(std::uint64_t n, std::uint64_t c, std::uint64_t h, std::uint64_t w)
{
    // Each is a number of at most 32 bits.
    const bool fits = n * c <= kMaxElements && n * c * h <= kMaxElements && n * c * h * w <= kMaxElements;
    if (!fits) throw Unchecked{fmt::format("has {} x {} x {} x {} elements, more than the {} that are compared", n, c, h, w, kMaxElements)};
}

bool apart(const std::vector<Features>& cubes)
{
    const std::vector<Address> lines = lines_of(cubes);
    const std::uint64_t length = line_bytes(cubes.front());
    return std::adjacent_find(lines.begin(), lines.end(), [&](Address a, Address b) { return b - a < length; }) == lines.end();
}

bool meet(const std::vector<Features>& one, const Features& other)
{
    if (one.front().place.primary != other.place.primary) return false;
    const std::vector<Address> a = lines_of(one), b = lines_of({other});
    const std::uint64_t a_bytes = line_bytes(one.front()), b_bytes = line_bytes(other);
    for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
        if (a[i] + a_bytes <= b[j]) ++i;
        else if (b[j] + b_bytes <= a[i]) ++j;
        else return true;
    }
    return false;
}

Tensor features(const Features& of, const ReadLine& read)
{
    check_size(of.n, of.c, of.h, of.w);
    Tensor tensor(of.n, of.c, of.h, of.w);
    std::vector<std::uint8_t> line(std::size_t{of.w} * of.atom_bytes);
    for (std::uint32_t n = 0; n < of.n; ++n)
        for (std::uint32_t first = 0; first < of.c; first += of.per_atom())
            for (std::uint32_t y = 0; y < of.h; ++y) {
                read(of.place + of.line(n, first, y), line);
                for (std::uint32_t c = first; c < std::min(of.c, first + of.per_atom()); ++c) {
                    std::int16_t* to = &tensor.at(n, c, y, 0);
                    const std::uint8_t* from = line.data() + of.inside(c);
                    for (std::uint32_t x = 0; x < of.w; ++x) to[x] = element(from + std::size_t{x} * of.atom_bytes, of.element_bytes);
                }
            }
    return tensor;
}

void take_over(Shadow& shadow, const Features& of, const ReadLine& read)
{
    std::vector<std::uint8_t> line(std::size_t{of.w} * of.atom_bytes);
    for (std::uint32_t n = 0; n < of.n; ++n)
        for (std::uint32_t first = 0; first < of.c; first += of.per_atom())
            for (std::uint32_t y = 0; y < of.h; ++y) {
                const Place at = of.place + of.line(n, first, y);
                read(at, line);
                shadow.write(at, line);
            }
}

Tensor planes(const Shadow& shadow, const Features& of, std::uint64_t plane_stride)
{
    check_size(1, of.c, of.h, of.w);
    Tensor tensor(1, of.c, of.h, of.w);
    std::vector<std::uint8_t> line(std::size_t{of.w} * of.element_bytes);
    for (std::uint32_t c = 0; c < of.c; ++c)
        for (std::uint32_t y = 0; y < of.h; ++y) {
            shadow.read(of.place + (c * plane_stride + y * of.strides.line), line);
            for (std::uint32_t x = 0; x < of.w; ++x)
                tensor.at(0, c, y, x) = element(&line[std::size_t{x} * of.element_bytes], of.element_bytes);
        }
    return tensor;
}

Tensor pixels(const Shadow& shadow, const Pixels& of)
{
    const PixelFormat& f = *of.format;
    if (f.ten_bits()) throw Unchecked{"takes pixels of ten bits"};
    check_size(1, f.components, of.h, of.w);
    const std::array<std::uint32_t, 4> order = f.order();
    const std::uint32_t bytes = f.eight_bit ? 1 : 2, second_pixel = 2 * bytes;
    Tensor tensor(1, f.components, of.h, of.w);
    std::vector<std::uint8_t> first(std::size_t{of.w} * f.plane_pixel_bytes), second(f.planes == 2 ? std::size_t{of.w} * second_pixel : 0);
    for (std::uint32_t y = 0; y < of.h; ++y) {
        shadow.read(of.place + y * of.line_stride, first);
        if (!second.empty()) shadow.read(of.place + (of.second_plane + y * of.second_line_stride), second);
        for (std::uint32_t o = 0; o < f.components; ++o)
            for (std::uint32_t x = 0; x < of.w; ++x)
                tensor.at(0, o, y, x) = f.planes == 2 && o > 0
                                            ? element(&second[std::size_t{x} * second_pixel + (order[o] - 1) * bytes], bytes)
                                            : element(&first[std::size_t{x} * f.plane_pixel_bytes + order[o] * bytes], bytes);
    }
    return tensor;
}

Tensor weights(const Shadow& shadow, const Weights& of)
{
    check_size(of.kernels, of.channels, of.rows, of.columns);
    Tensor tensor(of.kernels, of.channels, of.rows, of.columns);
    const std::uint64_t needed = of.compressed ? (tensor.values.size() + 7) / 8 : tensor.values.size() * of.element_bytes,
                        there = of.compressed ? of.mask_bytes : of.bytes;
    if (there < needed)
        throw Unchecked{fmt::format("has {} bytes of {}, fewer than the {} of its kernels", there,
                                    of.compressed ? "a weight mask" : "weights", needed)};
    check_size(1, 1, of.element_bytes, of.bytes / of.element_bytes);
    const std::vector<std::uint8_t> stored = shadow.bytes(of.place, of.bytes),
                                    mask = of.compressed ? shadow.bytes(of.mask, needed) : std::vector<std::uint8_t>{};
    std::size_t number = 0, next = 0;
    const auto take = [&]() -> std::int16_t {
        const std::size_t i = number++;
        if (of.compressed && (mask[i / 8] >> i % 8 & 1) == 0) return 0;
        if (next + of.element_bytes > stored.size()) throw Unchecked{"has fewer weights than its mask declares"};
        next += of.element_bytes;
        return element(&stored[next - of.element_bytes], of.element_bytes);
    };
    for (std::uint32_t g = 0; g < of.kernels; g += of.group) {
        const std::uint32_t end = std::min(of.kernels, g + of.group);
        if (!of.image) {
            for (std::uint32_t c0 = 0; c0 < of.channels; c0 += of.slice)
                for (std::uint32_t r = 0; r < of.rows; ++r)
                    for (std::uint32_t s = 0; s < of.columns; ++s)
                        for (std::uint32_t k = g; k < end; ++k)
                            for (std::uint32_t c = c0; c < std::min(of.channels, c0 + of.slice); ++c) tensor.at(k, c, r, s) = take();
            continue;
        }
        const std::uint32_t row = of.columns * of.channels;
        for (std::uint32_t e0 = 0; e0 < row; e0 += of.slice)
            for (std::uint32_t r0 = 0; r0 < of.rows; r0 += of.rows_together)
                for (std::uint32_t k = g; k < end; ++k)
                    for (std::uint32_t r = r0; r < std::min(of.rows, r0 + of.rows_together); ++r)
                        for (std::uint32_t e = e0; e < std::min(row, e0 + of.slice); ++e)
                            tensor.at(k, e % of.channels, r, e / of.channels) = take();
    }
    return tensor;
}

std::array<Tensor, 2> operands(const Shadow& shadow, const Operands& of)
{
    check_size(1, of.c, of.h, of.w);
    const std::uint32_t uses = of.both ? 2 : 1, place_bytes = of.per_atom * of.width * uses;
    std::array<Tensor, 2> tensors{Tensor(1, of.c, of.h, of.w), of.both ? Tensor(1, of.c, of.h, of.w) : Tensor{}};
    const std::uint64_t surface = of.h == 1 && of.w == 1 ? place_bytes : of.strides.surface;  // one command then
    std::vector<std::uint8_t> line(std::size_t{of.w} * place_bytes);
    for (std::uint32_t c = 0; c < of.c; ++c)
        for (std::uint32_t y = 0; y < of.h; ++y) {
            shadow.read(of.place + (c / of.per_atom * surface + y * of.strides.line), line);
            for (std::uint32_t x = 0; x < of.w; ++x)
                for (std::uint32_t use = 0; use < uses; ++use)
                    tensors.at(use).at(0, c, y, x) =
                        element(&line[std::size_t{x} * place_bytes + (c % of.per_atom * uses + use) * of.width], of.width);
        }
    return tensors;
}

}  // namespace dlasim::loadable
