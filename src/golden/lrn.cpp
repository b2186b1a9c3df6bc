#include "golden/lrn.h"

#include <algorithm>
#include <cmath>

#include "golden/lut.h"
#include "golden/real.h"

namespace dlasim {
namespace {

constexpr int kFractionBits = 16;

/// What is looked up: entry and the fraction to the next one, 16 bits.
struct Place {
    bool lo = true;
    std::size_t entry = 0;
    std::int64_t fraction = 0;
};

/// pre: sum is 0 or more
Place place_of(const LrnTables& tables, double sum)
{
    if (sum == 0) return {};
    const double step = std::ldexp(sum, -tables.lo_select);
    if (step < LrnTables::kLoEntries - 1) {
        const double entry = std::floor(step);
        return {true, static_cast<std::size_t>(entry), static_cast<std::int64_t>(std::ldexp(step - entry, kFractionBits))};
    }
    const int octave = std::ilogb(sum), entry = octave - tables.le_offset;
    const auto last = static_cast<int>(LrnTables::kLeEntries) - 1;
    if (entry >= last) return {false, LrnTables::kLeEntries - 1, 0};
    return {false, static_cast<std::size_t>(entry), static_cast<std::int64_t>(std::ldexp(std::ldexp(sum, -octave) - 1, kFractionBits))};
}

const std::uint16_t* table_of(const LrnTables& tables, const Place& place) { return place.lo ? tables.lo.data() : tables.le.data(); }
bool at_end(const Place& place) { return !place.lo && place.entry == LrnTables::kLeEntries - 1; }

// ---- integers

std::int64_t looked_up(const LrnTables& tables, std::int64_t sum)
{
    const Place place = place_of(tables, static_cast<double>(sum));  // below 2^53: exact
    const std::uint16_t* entries = table_of(tables, place) + place.entry;
    const std::int64_t y0 = static_cast<std::int16_t>(entries[0]);
    if (at_end(place)) return y0;
    return clamp_bits(y0 + round_shift((static_cast<std::int16_t>(entries[1]) - y0) * place.fraction, kFractionBits), 16);
}

// ---- fp16, as patterns: x in fp17, squares and sums in fp32

/// NaN is 0.
std::uint32_t read_half(std::int16_t pattern)
{
    const auto half = static_cast<std::uint16_t>(pattern);
    return real::kHalf.nan(half) ? 0 : real::widen_half(real::kWide, half);
}

std::uint32_t looked_up_float(const LrnTables& tables, std::uint32_t sum)
{
    const Place place = place_of(tables, real::number(real::kSingle, sum));
    const std::uint16_t* entries = table_of(tables, place) + place.entry;
    const std::uint32_t y0 = real::widen_half(real::kWide, entries[0]);
    if (at_end(place)) return y0;
    const std::uint32_t difference = real::add(real::kSingle, real::widen_half(real::kSingle, entries[1]),
                                               real::kSingle.negated(real::widen_half(real::kSingle, entries[0])));
    const std::uint32_t fraction = real::fraction_to_wide(static_cast<std::uint64_t>(place.fraction) << (35 - kFractionBits));
    return real::add(real::kWide, real::multiply(real::kWide, real::single_to_wide(difference), fraction), y0);
}

/// The adders take the neighbours and the middle first, then pair by pair.
template <class Square>
std::uint32_t float_sum(Square square, std::int64_t c, std::int64_t side)
{
    const auto plus = [](std::uint32_t a, std::uint32_t b) { return real::add(real::kSingle, a, b); };
    std::uint32_t sum = plus(plus(square(c - 1), square(c + 1)), square(c));
    for (std::int64_t k = 2; k <= side; ++k) sum = plus(sum, plus(square(c - k), square(c + k)));
    return sum;
}

/// One pixel, its channels and what they become.
void normalise_floats(const LrnTables& tables, const std::vector<std::int16_t>& in, std::vector<std::int16_t>& out)
{
    const auto value = [&](std::int64_t c) {
        return c < 0 || c >= static_cast<std::int64_t>(in.size()) ? 0 : read_half(in[static_cast<std::size_t>(c)]);
    };
    const auto square = [&](std::int64_t c) {
        const std::uint32_t wide = real::wide_to_single(value(c));
        return real::multiply(real::kSingle, wide, wide);
    };
    for (std::size_t c = 0; c < out.size(); ++c) {
        const auto here = static_cast<std::int64_t>(c);
        const std::uint32_t factor = looked_up_float(tables, float_sum(square, here, tables.window / 2));
        out[c] = static_cast<std::int16_t>(real::wide_to_half(real::multiply(real::kWide, value(here), factor)));
    }
}

void normalise_integers(const LrnTables& tables, const std::vector<std::int16_t>& in, std::vector<std::int16_t>& out)
{
    const int width = tables.precision == Precision::Int8 ? 8 : 16;
    const std::int64_t side = tables.window / 2, channels = static_cast<std::int64_t>(in.size());
    for (std::size_t c = 0; c < out.size(); ++c) {
        const auto here = static_cast<std::int64_t>(c);
        std::int64_t sum = 0;
        for (std::int64_t i = std::max<std::int64_t>(0, here - side); i <= std::min(channels - 1, here + side); ++i)
            sum += std::int64_t{in[static_cast<std::size_t>(i)]} * in[static_cast<std::size_t>(i)];
        const std::int64_t x = here < channels ? in[c] : 0;
        out[c] = static_cast<std::int16_t>(clamp_bits(round_shift(looked_up(tables, sum) * x * tables.scale, tables.shift), width));
    }
}

}  // namespace

Tensor normalised(const LrnTables& tables, const Tensor& cube, std::uint32_t channels)
{
    Tensor out(1, channels, cube.h, cube.w);
    std::vector<std::int16_t> before(cube.c), after(channels);
    for (std::uint32_t y = 0; y < cube.h; ++y)
        for (std::uint32_t x = 0; x < cube.w; ++x) {
            for (std::uint32_t c = 0; c < cube.c; ++c) before[c] = cube.at(0, c, y, x);
            if (tables.precision == Precision::Fp16) normalise_floats(tables, before, after);
            else normalise_integers(tables, before, after);
            for (std::uint32_t c = 0; c < channels; ++c) out.at(0, c, y, x) = after[c];
        }
    return out;
}

}  // namespace dlasim
