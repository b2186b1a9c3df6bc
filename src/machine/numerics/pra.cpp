#include "numerics/pra.h"

#include <array>

#include "numerics/fp.h"
#include "numerics/rounding.h"

namespace dlasim::numerics {

namespace {

using Tile = std::array<std::uint32_t, 16>;

/// Both passes over a tile, in place; `add` and `subtract` are those of the number format.
template <class Value, class Add, class Subtract>
void transform(std::array<Value, 16>& tile, Add add, Subtract subtract)
{
    const auto pass = [&](std::size_t first, std::size_t step) {
        const Value a = tile[first], b = tile[first + step], c = tile[first + 2 * step], d = tile[first + 3 * step];
        tile[first] = subtract(a, c);
        tile[first + step] = add(b, c);
        tile[first + 2 * step] = subtract(c, b);
        tile[first + 3 * step] = subtract(b, d);
    };
    for (std::size_t column = 0; column < 4; ++column) pass(column, 4);
    for (std::size_t row = 0; row < 4; ++row) pass(4 * row, 1);
}

}  // namespace

void transform_tile(Precision precision, unsigned truncate, std::span<const std::uint16_t, 16> in, std::span<std::uint16_t, 16> out)
{
    if (precision == Precision::Fp16) {
        Tile tile;
        for (std::size_t i = 0; i < 16; ++i) tile[i] = fp16_to_fp17(in[i]);
        transform(
            tile, [](std::uint32_t a, std::uint32_t b) { return fp_add<Fp17>(a, b); },
            [](std::uint32_t a, std::uint32_t b) { return fp_add<Fp17>(a, b ^ Fp17::sign_mask); });
        for (std::size_t i = 0; i < 16; ++i) out[i] = fp17_to_fp16(tile[i]);
        return;
    }
    std::array<std::int32_t, 16> tile;
    for (std::size_t i = 0; i < 16; ++i) tile[i] = static_cast<std::int16_t>(in[i]);
    transform(
        tile, [](std::int32_t a, std::int32_t b) { return a + b; }, [](std::int32_t a, std::int32_t b) { return a - b; });
    const unsigned width = precision == Precision::Int8 ? 8 : 16;
    for (std::size_t i = 0; i < 16; ++i) out[i] = static_cast<std::uint16_t>(shift_right(tile[i], truncate, width));
}

}  // namespace dlasim::numerics
