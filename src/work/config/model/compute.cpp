#include "config/model/compute.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace dlasim {
namespace {

using Reals = std::vector<double>;

constexpr std::array kNames{"matmul", "divide", "maximum", "minimum", "normalise", "mean", "resample", "argmax"};

Reals product_of_matrices(const Compute& c, const Reals& a, const Reals& b)
{
    Reals out(c.outer * c.rows * c.columns);
    for (std::size_t o = 0; o < c.outer; ++o)
        for (std::size_t y = 0; y < c.rows; ++y)
            for (std::size_t i = 0; i < c.count; ++i) {
                const double factor = a[(o * c.rows + y) * c.count + i];
                const double* from = &b[(o * c.count + i) * c.columns];
                double* to = &out[(o * c.rows + y) * c.columns];
                for (std::size_t x = 0; x < c.columns; ++x) to[x] += factor * from[x];
            }
    return out;
}

template <class Function>
Reals pairwise(const Reals& a, const Reals& b, Function function)
{
    Reals out(a.size());
    for (std::size_t i = 0; i < a.size(); ++i) out[i] = function(a[i], b[i]);
    return out;
}

/// Calls `line(first, step)` for every line along the middle dimension of [outer][count][inner].
template <class Line>
void lines(const Compute& c, Line line)
{
    for (std::size_t o = 0; o < c.outer; ++o)
        for (std::size_t i = 0; i < c.inner; ++i) line(o * c.count * c.inner + i, o * c.inner + i);
}

double mean_of(const Compute& c, const Reals& in, std::size_t first)
{
    double sum = 0;
    for (std::size_t n = 0; n < c.count; ++n) sum += in[first + n * c.inner];
    return sum / static_cast<double>(c.count);
}

Reals normalised_lines(const Compute& c, const Reals& in)
{
    Reals out(in.size());
    lines(c, [&](std::size_t first, std::size_t) {
        const double mean = mean_of(c, in, first);
        double squares = 0;
        for (std::size_t n = 0; n < c.count; ++n) squares += (in[first + n * c.inner] - mean) * (in[first + n * c.inner] - mean);
        const double by = 1 / std::sqrt(squares / static_cast<double>(c.count) + c.epsilon);
        for (std::size_t n = 0; n < c.count; ++n) out[first + n * c.inner] = (in[first + n * c.inner] - mean) * by;
    });
    return out;
}

Reals means(const Compute& c, const Reals& in)
{
    Reals out(c.outer * c.inner);
    lines(c, [&](std::size_t first, std::size_t to) { out[to] = mean_of(c, in, first); });
    return out;
}

Reals largest_indices(const Compute& c, const Reals& in)
{
    Reals out(c.outer * c.inner);
    lines(c, [&](std::size_t first, std::size_t to) {
        std::size_t best = 0;
        for (std::size_t n = 1; n < c.count; ++n) {
            const double now = in[first + n * c.inner], before = in[first + best * c.inner];
            if (now > before || (c.last && now == before)) best = n;
        }
        out[to] = static_cast<double>(best);
    });
    return out;
}

/// One dimension after the other; where a dimension has no taps for an output, the output is outside.
Reals resampled(const Compute& c, Reals values)
{
    std::size_t inner = 1;
    for (const ResampledAxis& axis : c.axes) inner *= axis.size;
    std::size_t outer = 1;
    std::vector<bool> outside(values.size());
    for (const ResampledAxis& axis : c.axes) {
        inner /= axis.size;
        Reals next(outer * axis.outputs.size() * inner);
        std::vector<bool> next_outside(next.size());
        for (std::size_t o = 0; o < outer; ++o)
            for (std::size_t n = 0; n < axis.outputs.size(); ++n)
                for (std::size_t i = 0; i < inner; ++i) {
                    const std::size_t to = (o * axis.outputs.size() + n) * inner + i;
                    next_outside[to] = axis.outputs[n].empty();
                    for (const ResampledAxis::Tap& tap : axis.outputs[n]) {
                        const std::size_t from = (o * axis.size + tap.from) * inner + i;
                        next[to] += tap.weight * values[from];
                        if (outside[from]) next_outside[to] = true;
                    }
                }
        values = std::move(next);
        outside = std::move(next_outside);
        outer *= axis.outputs.size();
    }
    for (std::size_t i = 0; i < values.size(); ++i)
        if (outside[i]) values[i] = c.outside;
    return values;
}

}  // namespace

std::vector<double> Compute::operator()(const std::vector<std::vector<double>>& in) const
{
    switch (kind) {
        case Kind::MatMul:
            return product_of_matrices(*this, in[0], in[1]);
        case Kind::Divide:
            return pairwise(in[0], in[1], [](double a, double b) { return a / b; });
        case Kind::Maximum:
            return pairwise(in[0], in[1], [](double a, double b) { return std::max(a, b); });
        case Kind::Minimum:
            return pairwise(in[0], in[1], [](double a, double b) { return std::min(a, b); });
        case Kind::Normalise:
            return normalised_lines(*this, in[0]);
        case Kind::Mean:
            return means(*this, in[0]);
        case Kind::Resample:
            return resampled(*this, in[0]);
        case Kind::ArgMax:
            return largest_indices(*this, in[0]);
    }
    return {};
}

const char* compute_name(Compute::Kind kind) { return kNames[static_cast<std::size_t>(kind)]; }

}  // namespace dlasim
