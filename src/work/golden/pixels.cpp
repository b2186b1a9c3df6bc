#include "golden/pixels.h"

#include <algorithm>

#include "config/model/fp16.h"

namespace dlasim {
namespace {

std::int64_t shift_away(std::int64_t value, unsigned shift)
{
    if (shift == 0) return value;
    const std::int64_t half = std::int64_t{1} << (shift - 1);
    return value >= 0 ? (value + half) >> shift : -((-value + half) >> shift);
}

std::int16_t convert(const Layer& layer, std::uint32_t component, std::int16_t pixel)
{
    const Precision stored = layer.image() && layer.format->half_float ? Precision::Fp16
                             : layer.image()                           ? Precision::Int16
                                                                       : layer.stored_precision();
    if (stored == Precision::Fp16) return layer.flush_nan && (pixel & 0x7fff) > 0x7c00 ? std::int16_t{0} : pixel;
    if (!layer.conversion.on) return pixel;
    const std::int64_t x = !layer.image() || layer.signed_pixels ? pixel : layer.format->eight_bit ? pixel & 255 : pixel & 65535;
    const std::int64_t minus = layer.conversion.per_component ? layer.conversion.mean[component] : layer.conversion.offset;
    const std::int64_t value =
        std::clamp<std::int64_t>(shift_away((x - minus) * layer.conversion.scale, layer.conversion.shift), -65536, 65535);
    if (layer.precision == Precision::Int8) return static_cast<std::int16_t>(std::clamp<std::int64_t>(value, -128, 127));
    if (layer.precision == Precision::Int16) return static_cast<std::int16_t>(std::clamp<std::int64_t>(value, -32768, 32767));
    return static_cast<std::int16_t>(fp16_from_double(static_cast<double>(std::clamp<std::int64_t>(value, -65504, 65504))));
}

}  // namespace

Tensor reference_input(const Layer& layer, const Tensor& input)
{
    Tensor converted = input;
    for (std::uint32_t n = 0; n < input.n; ++n)
        for (std::uint32_t c = 0; c < input.c; ++c)
            for (std::uint32_t y = 0; y < input.h; ++y)
                for (std::uint32_t x = 0; x < input.w; ++x) converted.at(n, c, y, x) = convert(layer, c, input.at(n, c, y, x));
    return converted;
}

Tensor reference_weights(const Tensor& weights)
{
    Tensor flushed = weights;
    for (std::int16_t& weight : flushed.values)
        if ((weight & 0x7fff) > 0x7c00) weight = 0;
    return flushed;
}

}  // namespace dlasim
