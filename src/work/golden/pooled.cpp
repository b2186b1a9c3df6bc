#include "golden/pooled.h"

#include <algorithm>
#include <cmath>

#include "golden/real.h"

namespace dlasim {
namespace {

/// The real elements of a window along one direction.
struct Span {
    std::uint32_t begin, end;
    std::uint32_t count() const { return end - begin; }
};
Span span_of(const PoolAxis& axis, std::uint32_t out, std::uint32_t size)
{
    const std::int64_t start = std::int64_t{out} * axis.stride - axis.before, stop = start + axis.kernel;
    return {static_cast<std::uint32_t>(std::max<std::int64_t>(start, 0)), static_cast<std::uint32_t>(std::min<std::int64_t>(stop, size))};
}

/// The nearest fp17 of a number of its range.
std::uint32_t wide_number(double value)
{
    if (value == 0) return 0;
    const int exponent = std::ilogb(value);
    const auto mantissa = static_cast<std::uint32_t>(std::lround(std::ldexp(std::abs(value), 10 - exponent)));
    return real::kWide.pack(value < 0, 0, 0) + (static_cast<std::uint32_t>(exponent + real::kWide.bias() - 1) << 10) + mantissa;
}

/// |value| * reciprocal with 16 fraction bits, to the nearest, with the sign of the value: ties away from zero.
std::int64_t scaled(std::int64_t value, std::int64_t reciprocal)
{
    const std::int64_t magnitude = (std::abs(value) * reciprocal + (1 << 15)) / (1 << 16);
    return value < 0 ? -magnitude : magnitude;
}
/// What software writes, NVIDIA's driver too: 65536 / size, cut off.
std::int64_t reciprocal_of(std::uint32_t kernel) { return (1 << 16) / kernel; }

class Window {
public:
    Window(const Tensor& input, const Pool& pool, Precision precision, bool flush_nan)
        : in_(input), pool_(pool), precision_(precision), flush_nan_(flush_nan)
    {
    }

    std::int16_t at(std::uint32_t n, std::uint32_t c, std::uint32_t oy, std::uint32_t ox) const
    {
        const Span rows = span_of(pool_.y, oy, in_.h), columns = span_of(pool_.x, ox, in_.w);
        if (precision_ != Precision::Fp16)
            return pool_.function == PoolFunction::Average ? integer_average(n, c, rows, columns) : integer_extremum(n, c, rows, columns);
        return pool_.function == PoolFunction::Average ? fp16_average(n, c, rows, columns) : fp16_extremum(n, c, rows, columns);
    }

private:
    std::int16_t integer_extremum(std::uint32_t n, std::uint32_t c, Span rows, Span columns) const
    {
        std::int16_t best = in_.at(n, c, rows.begin, columns.begin);
        for (std::uint32_t y = rows.begin; y < rows.end; ++y)
            for (std::uint32_t x = columns.begin; x < columns.end; ++x) {
                const std::int16_t value = in_.at(n, c, y, x);
                if (pool_.function == PoolFunction::Max ? value > best : value < best) best = value;
            }
        return best;
    }
    std::int16_t integer_average(std::uint32_t n, std::uint32_t c, Span rows, Span columns) const
    {
        const std::int64_t all = std::int64_t{pool_.x.kernel} * pool_.y.kernel;
        std::int64_t sum = (all - std::int64_t{rows.count()} * columns.count()) * static_cast<std::int64_t>(pool_.pad_value);
        for (std::uint32_t y = rows.begin; y < rows.end; ++y)
            for (std::uint32_t x = columns.begin; x < columns.end; ++x) sum += in_.at(n, c, y, x);
        return static_cast<std::int16_t>(scaled(scaled(sum, reciprocal_of(pool_.x.kernel)), reciprocal_of(pool_.y.kernel)));
    }

    std::uint16_t half(std::uint32_t n, std::uint32_t c, std::uint32_t y, std::uint32_t x) const
    {
        const auto value = static_cast<std::uint16_t>(in_.at(n, c, y, x));
        return flush_nan_ && real::kFp16.nan(value) ? 0 : value;
    }
    /// The first NaN of the last row that has one wins; else the order of the numbers, -0 below +0.
    std::int16_t fp16_extremum(std::uint32_t n, std::uint32_t c, Span rows, Span columns) const
    {
        for (std::uint32_t y = rows.end; y-- > rows.begin;)
            for (std::uint32_t x = columns.begin; x < columns.end; ++x)
                if (real::kFp16.nan(half(n, c, y, x))) return static_cast<std::int16_t>(half(n, c, y, x));
        const auto order = [](std::uint16_t value) { return value >> 15 ? -std::int32_t{value & 0x7fff} - 1 : std::int32_t{value}; };
        std::uint16_t best = half(n, c, rows.begin, columns.begin);
        for (std::uint32_t y = rows.begin; y < rows.end; ++y)
            for (std::uint32_t x = columns.begin; x < columns.end; ++x) {
                const std::uint16_t value = half(n, c, y, x);
                if (pool_.function == PoolFunction::Max ? order(value) > order(best) : order(value) < order(best)) best = value;
            }
        return static_cast<std::int16_t>(best);
    }
    std::int16_t fp16_average(std::uint32_t n, std::uint32_t c, Span rows, Span columns) const
    {
        const auto add = [](std::uint32_t a, std::uint32_t b) { return real::add(real::kWide, a, b); };
        const auto multiply = [](std::uint32_t a, std::uint32_t b) { return real::multiply(real::kWide, a, b); };
        const auto padding = [&](std::uint32_t missing) { return wide_number(pool_.pad_value * missing); };
        std::uint32_t sum = 0;
        for (std::uint32_t y = rows.begin; y < rows.end; ++y) {
            std::uint32_t line = real::widen_fp16(real::kWide, half(n, c, y, columns.begin));
            for (std::uint32_t x = columns.begin + 1; x < columns.end; ++x)
                line = add(line, real::widen_fp16(real::kWide, half(n, c, y, x)));
            line = add(line, padding(pool_.x.kernel - columns.count()));
            sum = y == rows.begin ? line : add(line, sum);
        }
        sum = add(sum, multiply(padding(pool_.y.kernel - rows.count()), wide_number(pool_.x.kernel)));
        return static_cast<std::int16_t>(
            real::wide_to_half(multiply(multiply(sum, wide_number(1.0 / pool_.x.kernel)), wide_number(1.0 / pool_.y.kernel))));
    }

    const Tensor& in_;
    const Pool& pool_;
    Precision precision_;
    bool flush_nan_;
};

}  // namespace

Tensor pooled(const Tensor& input, const Pool& pool, Precision precision, bool flush_nan)
{
    const Window window(input, pool, precision, flush_nan);
    Tensor out(input.n, input.c, pool.y.outputs(input.h, pool.ceil), pool.x.outputs(input.w, pool.ceil));
    for (std::uint32_t n = 0; n < out.n; ++n)
        for (std::uint32_t c = 0; c < out.c; ++c)
            for (std::uint32_t y = 0; y < out.h; ++y)
                for (std::uint32_t x = 0; x < out.w; ++x) out.at(n, c, y, x) = window.at(n, c, y, x);
    return out;
}

}  // namespace dlasim
