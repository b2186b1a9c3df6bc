#include "loadable/tensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>

#include "base/error.h"
#include "base/files/input.h"
#include "config/model/fp16.h"
#include "config/npy.h"

namespace dlasim::loadable {
namespace {

enum Type : unsigned { kFloat32 = 1, kFp16, kInt16, kInt8, kUint8, kUint16 };
constexpr unsigned kFeatures32 = 36, kFeatures8 = 37;  // pixel formats of features
constexpr unsigned kLastSingle = 5;                    // pixel formats up to here have one component

bool pixels(const TensorEntry& t) { return t.pixel_format < kFeatures32; }

std::uint64_t elements_of_image(const TensorEntry& t) { return std::uint64_t{t.channels()} * t.h * t.w; }

/// The position of an element in the memory; c: its place.
std::uint64_t offset(const TensorEntry& t, std::uint64_t n, std::uint64_t c, std::uint64_t h, std::uint64_t w, unsigned bytes)
{
    const std::uint64_t start = n * (t.size / t.n) + h * t.line_stride;
    if (pixels(t)) return start + (w * (t.pixel_format <= kLastSingle ? 1 : 4) + c) * bytes;
    const std::uint64_t atom = t.pixel_format == kFeatures8 ? 8 : 32, per_atom = atom / bytes;
    return start + c / per_atom * t.surface_stride + w * atom + c % per_atom * bytes;
}

/// Every element in natural order with its place in memory.
void each_element(const TensorEntry& t, unsigned bytes, const std::function<void(std::uint64_t index, std::uint64_t offset)>& visit)
{
    std::uint64_t i = 0;
    for (std::uint32_t n = 0; n < t.n; ++n)
        for (std::uint32_t c = 0; c < t.channels(); ++c)
            for (std::uint32_t h = 0; h < t.h; ++h)
                for (std::uint32_t w = 0; w < t.w; ++w) visit(i++, offset(t, n, t.place_of(c), h, w, bytes));
}

/// A number as an element of the tensor.
std::uint32_t element(const TensorEntry& t, std::int32_t value, const std::string& where)
{
    const auto within = [&](std::int32_t low, std::int32_t high) {
        if (value < low || value > high)
            throw ConfigError(where, fmt::format("holds {}, expected {} to {}: tensor {}", value, low, high, t.name));
        return static_cast<std::uint32_t>(value);
    };
    switch (t.type) {
        case kFp16:
            return fp16_from_double(value);
        case kInt16:
            return within(-32768, 32767);
        case kUint16:
            return within(0, 65535);
        case kUint8:
            return within(0, 255);
        default:
            return within(-128, 127);
    }
}

/// Values of [images][channels][h][w], laid into memory; others are 0.
class Packer {
public:
    Packer(const TensorEntry& t, std::uint64_t bytes, const std::string& where)
        : t_(t), where_(where), element_bytes_(loadable::element_bytes(t, where)), memory_(bytes)
    {
    }
    void put(std::uint64_t n, std::uint64_t index, std::uint32_t value)
    {
        const std::uint64_t plane = std::uint64_t{t_.h} * t_.w;
        const std::uint64_t at = offset(t_, n, t_.place_of(index / plane), index % plane / t_.w, index % t_.w, element_bytes_);
        for (unsigned b = 0; b < element_bytes_; ++b) memory_[at + b] = static_cast<std::uint8_t>(value >> (8 * b));
    }
    void put_number(std::uint64_t n, std::uint64_t index, std::int32_t value) { put(n, index, element(t_, value, where_)); }
    std::vector<std::uint8_t> take() { return std::move(memory_); }

private:
    const TensorEntry& t_;
    const std::string& where_;
    unsigned element_bytes_;
    std::vector<std::uint8_t> memory_;
};

std::string expected_shape(const TensorEntry& t)
{
    return fmt::format("{}, {}{}, {}, {}", t.n, pixels(t) ? "1 to " : "", t.channels(), t.h, t.w);
}

std::vector<std::uint8_t> from_npy(const TensorEntry& t, std::uint64_t bytes, const std::string& file)
{
    NpyArray array = read_npy_array(file, "--input");
    if (array.shape.size() == 3) array.shape.insert(array.shape.begin(), 1);
    const auto& shape = array.shape;
    const std::uint64_t least = pixels(t) ? 1 : t.channels(), most = t.channels();
    if (shape.size() != 4 || shape[0] != t.n || shape[1] < least || shape[1] > most || shape[2] != t.h || shape[3] != t.w)
        throw ConfigError(file, fmt::format("has shape ({}), expected ({}){}", fmt::join(shape, ", "), expected_shape(t),
                                            t.pieces.empty() && shape[1] < t.c ? ", or --manifest if channels are in pieces" : ""));
    Packer packer(t, bytes, file);
    const std::uint64_t image = shape[1] * t.h * t.w;
    for (std::uint64_t i = 0; i < array.values.size(); ++i) {
        const double value = array.values[i];
        if (t.type == kFp16) packer.put(i / image, i % image, fp16_from_double(value));
        else if (value == std::nearbyint(value) && std::abs(value) < 1e6)
            packer.put_number(i / image, i % image, static_cast<std::int32_t>(value));
        else throw ConfigError(file, fmt::format("holds {}, expected whole numbers: tensor {}", value, t.name));
    }
    return packer.take();
}

/// Images of `channels` channels in the file, 0 if its length does not fit.
std::uint64_t images(const TensorEntry& t, std::uint64_t length, std::uint64_t& channels)
{
    const std::uint64_t plane = std::uint64_t{t.h} * t.w;
    for (const std::uint64_t n : {std::uint64_t{1}, std::uint64_t{t.n}}) {
        if (length % (n * plane) != 0) continue;
        channels = length / (n * plane);
        if (channels == t.channels() || (pixels(t) && channels >= 1 && channels <= t.c)) return n;
    }
    return 0;
}

std::vector<std::uint8_t> from_bytes(const TensorEntry& t, std::uint64_t bytes, const std::string& file, const std::string& text)
{
    std::uint64_t channels = 0;
    const std::uint64_t count = images(t, text.size(), channels), image = channels * t.h * t.w;
    if (count == 0) throw ConfigError(file, fmt::format("holds {} bytes, expected those of ({})", text.size(), expected_shape(t)));
    Packer packer(t, bytes, file);
    for (std::uint64_t n = 0; n < t.n; ++n)
        for (std::uint64_t i = 0; i < image; ++i)
            packer.put_number(n, i, static_cast<std::uint8_t>(text[count == t.n ? n * image + i : (n + i) % image]));
    return packer.take();
}

}  // namespace

std::uint32_t TensorEntry::place_of(std::uint64_t channel) const
{
    const auto number = static_cast<std::uint32_t>(channel);
    for (const ChannelPiece& piece : pieces)
        if (number < piece.first + piece.count) return piece.at + number - piece.first;
    return number;
}

unsigned element_bytes(const TensorEntry& tensor, const std::string& where)
{
    switch (tensor.type) {
        case kFp16:
        case kInt16:
        case kUint16:
            return 2;
        case kInt8:
        case kUint8:
            return 1;
        default:
            throw ConfigError(where, fmt::format("has elements of type {}, expected 2 (fp16), 3 (int16), 4 (int8), 5 (uint8) or 6 (uint16)",
                                                 tensor.type));
    }
}

const char* npy_type_of(const TensorEntry& tensor)
{
    constexpr const char* kTypes[] = {"", "<f4", "<f2", "<i2", "|i1", "|u1", "<u2"};
    return kTypes[tensor.type];
}

void check_tensor(const TensorEntry& t, std::uint64_t bytes, const std::string& where)
{
    const unsigned element = element_bytes(t, where);
    const std::uint64_t most = t.line_stride | t.surface_stride | t.size;
    // Dimensions are 20 bits and strides 32: no sum below overflows if the size is no larger than the memory.
    const std::uint64_t last = t.size > bytes ? most : offset(t, t.n - 1, t.c - 1, t.h - 1, t.w - 1, element) + element;
    if (t.size > bytes || last > bytes || t.n * elements_of_image(t) > bytes)
        throw ConfigError(where, fmt::format("has {} elements up to byte {}, expected them within the {} bytes of its memory",
                                             t.n * elements_of_image(t), last, bytes));
}

std::vector<std::uint8_t> read_input(const TensorEntry& t, std::uint64_t bytes, const std::string& file, InputForm form)
{
    if (file.ends_with(".npy")) return from_npy(t, bytes, file);
    const std::string text = read_text(file, std::max(bytes, t.n * elements_of_image(t) * 2));
    const unsigned element = element_bytes(t, file);
    const std::uint64_t elements = t.n * elements_of_image(t);
    std::uint64_t channels = 0;
    if (form == InputForm::Auto)
        form = images(t, text.size(), channels) != 0 ? InputForm::Bytes : text.size() == bytes ? InputForm::Surface : InputForm::Elements;
    if (form == InputForm::Bytes) return from_bytes(t, bytes, file, text);
    const std::uint64_t expected = form == InputForm::Surface ? bytes : elements * element;
    if (text.size() != expected)
        throw ConfigError(file, fmt::format("holds {} bytes, expected {} of elements, {} of the memory, or the bytes of ({})", text.size(),
                                            elements * element, bytes, expected_shape(t)));
    if (form == InputForm::Surface) return {text.begin(), text.end()};
    std::vector<std::uint8_t> memory(bytes);
    each_element(t, element, [&](std::uint64_t i, std::uint64_t at) { std::memcpy(&memory[at], &text[i * element], element); });
    return memory;
}

std::vector<std::uint8_t> seeded_input(const TensorEntry& t, std::uint64_t bytes, std::uint32_t seed, const std::string& where)
{
    std::uint32_t x = seed * 2654435761u + 12345u;
    Packer packer(t, bytes, where);
    for (std::uint64_t n = 0; n < t.n; ++n)
        for (std::uint64_t i = 0; i < elements_of_image(t); ++i) {
            x ^= x << 13;
            x ^= x >> 17;
            x ^= x << 5;
            const std::int32_t byte = static_cast<std::uint8_t>(x >> 11);
            if (t.type == kFp16) packer.put(n, i, fp16_from_double((byte - 128) / 64.0));
            else if (t.type == kInt16) packer.put_number(n, i, byte - 128);
            else if (pixels(t) || t.type == kUint8 || t.type == kUint16) packer.put_number(n, i, byte >> 1);
            else packer.put_number(n, i, (byte - 128) >> 1);
        }
    return packer.take();
}

std::vector<std::uint8_t> unpacked(const TensorEntry& t, const std::vector<std::uint8_t>& memory, const std::string& where)
{
    const unsigned element = element_bytes(t, where);
    std::vector<std::uint8_t> elements(t.n * elements_of_image(t) * element);
    each_element(t, element, [&](std::uint64_t i, std::uint64_t at) { std::memcpy(&elements[i * element], &memory[at], element); });
    return elements;
}

std::string npy_text(const TensorEntry& t, const std::vector<std::uint8_t>& elements)
{
    const unsigned bytes = element_bytes(t, t.name);
    std::vector<std::int32_t> values(elements.size() / bytes);
    for (std::size_t i = 0; i < values.size(); ++i)
        for (unsigned b = 0; b < bytes; ++b) values[i] |= elements[i * bytes + b] << (8 * b);
    return npy_bytes(npy_type_of(t), {t.n, t.channels(), t.h, t.w}, values);
}

}  // namespace dlasim::loadable
