#include "lowering/program/lrn_tables.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "config/model/fp16.h"

namespace dlasim {
namespace {

constexpr int kLoSteps = static_cast<int>(LrnTables::kLoEntries) - 1;
constexpr int kHalfOctave = -24;  // LE of fp16 has the sums of 2^-24 to 2^40; below are those of LO's first step
constexpr int kMaxFraction = 15;  // fraction bits of a table entry
constexpr double kLargestEntry = 32767;
constexpr unsigned kMaxShift = 41;                          // from 42 on the converter of the configurable generation gives 0
constexpr double kMinScale = 16384, kLargestScale = 32767;  // 15 bits of accuracy
constexpr double kKnee = 16;                                // where S has made f this many times bias, octaves are fine enough

int log2_up(double value) { return static_cast<int>(std::ceil(std::log2(value))); }

/// f(S), and what one unit of S adds to the bias.
struct Function {
    double bias, weight, beta;
    double operator()(double sum) const { return std::pow(bias + weight * sum, -beta); }
};

/// LO reaches the end of the bend, or the largest sum.
int select(const Function& f, double largest_sum, int least)
{
    const double knee = f.weight > 0 ? kKnee * f.bias / f.weight : largest_sum;
    return std::max(least, log2_up(std::min(largest_sum, knee) / kLoSteps));
}

/// Distance of the chord over [from, from + length] in its middle: f is convex, so the chord is above.
double bulge(const Function& f, double from, double length) { return (f(from) + f(from + length)) / 2 - f(from + length / 2); }

/// An entry is below f by half of how far the nearer of the chords beside it is above, so that the error is as large at both places.
struct BalancedTables {
    const Function& f;
    double largest, largest_sum;  // element and sum

    double lo(std::size_t i, int select) const
    {
        const double step = std::ldexp(1.0, select), at = static_cast<double>(i) * step;
        if (select == 0) return f(at);  // every sum has its entry
        return lowered(at, i == 0 ? bulge(f, at, step) : bulge(f, at - step, step), bulge(f, at, step));
    }
    double le(std::size_t i, int offset = 0) const
    {
        const double at = std::ldexp(1.0, static_cast<int>(i) + offset);
        return i < 2 ? f(at) : lowered(at, bulge(f, at / 2, at / 2), bulge(f, at, at));
    }
    double lowered(double at, double left, double right) const { return std::max(0.0, f(at) - std::min(left, right) / 2); }
    /// Output steps of the largest error between two entries: an element is no larger than the root of the sum it is part of.
    double error(double from, double length, double first, double last) const
    {
        constexpr int kPlaces = 8;
        double worst = 0;
        for (int i = 0; i <= kPlaces; ++i) {
            const double part = static_cast<double>(i) / kPlaces, sum = from + part * length;
            if (sum > largest_sum) break;
            worst = std::max(worst, std::min(largest, std::sqrt(sum)) * std::abs(first + part * (last - first) - f(sum)));
        }
        return worst;
    }
    double error(int select) const
    {
        double worst = 0;
        const double step = std::ldexp(1.0, select), end = step * kLoSteps;
        for (std::size_t i = 0; i < static_cast<std::size_t>(kLoSteps); ++i)
            worst = std::max(worst, error(static_cast<double>(i) * step, step, lo(i, select), lo(i + 1, select)));
        for (std::size_t i = 0; i + 1 < LrnTables::kLeEntries && std::ldexp(1.0, static_cast<int>(i)) < largest_sum; ++i)
            if (std::ldexp(1.0, static_cast<int>(i) + 1) > end)
                worst =
                    std::max(worst, error(std::ldexp(1.0, static_cast<int>(i)), std::ldexp(1.0, static_cast<int>(i)), le(i), le(i + 1)));
        return worst;
    }
    /// Where LO ends and LE, an entry an octave, goes on: at the least error.
    int best_select() const
    {
        int best = 0;
        double least = error(0);
        for (int select = 1; select <= log2_up(largest_sum / kLoSteps); ++select)
            if (const double worst = error(select); worst < least) {
                least = worst;
                best = select;
            }
        return best;
    }
};

void convert_output(LrnTables& tables, const Lrn& lrn, int fraction, const std::string& where)
{
    const double ratio = std::ldexp(lrn.input_scale / lrn.output_scale, -fraction);
    unsigned shift = 0;
    while (std::ldexp(ratio, static_cast<int>(shift)) < kMinScale && shift < kMaxShift) ++shift;
    double scale = std::nearbyint(std::ldexp(ratio, static_cast<int>(shift)));
    if (scale > kLargestScale && shift > 0) scale = std::nearbyint(std::ldexp(ratio, static_cast<int>(--shift)));
    if (scale < 1 || scale > kLargestScale)
        throw ConfigError(where, "requires the output converter to multiply by " + std::to_string(ratio) +
                                     ", expected a factor of 2^-41 to 32767: input_scale / output_scale");
    tables.scale = static_cast<std::int32_t>(scale);
    tables.shift = shift;
}

}  // namespace

LrnTables lrn_tables(const Lrn& lrn, const std::string& where)
{
    LrnTables tables;
    tables.precision = lrn.precision;
    tables.window = lrn.size;
    const bool is_float = lrn.precision == Precision::Fp16, narrow = lrn.precision == Precision::Int8;
    const double step = is_float ? 1 : lrn.input_scale;
    const Function f{lrn.bias, lrn.alpha / lrn.size * step * step, lrn.beta};
    const double largest = is_float ? 65504 : narrow ? 128 : 32768, largest_sum = lrn.size * largest * largest;
    if (is_float) {
        tables.le_offset = kHalfOctave;
        tables.lo_select = select(f, largest_sum, -100);
        const BalancedTables balanced{f, largest, largest_sum};
        const auto half = [](double value) { return fp16_from_double(std::min(value, 65504.0)); };
        for (std::size_t i = 0; i < tables.lo.size(); ++i) tables.lo[i] = half(f(std::ldexp(static_cast<double>(i), tables.lo_select)));
        for (std::size_t i = 0; i < tables.le.size(); ++i) tables.le[i] = half(balanced.le(i, tables.le_offset));
        return tables;
    }
    int fraction = kMaxFraction;
    const auto entry = [&](double value) { return std::nearbyint(std::ldexp(value, fraction)); };
    while (entry(f(0)) > kLargestEntry) --fraction;
    const BalancedTables balanced{f, largest, largest_sum};
    tables.lo_select = balanced.best_select();
    for (std::size_t i = 0; i < tables.lo.size(); ++i) tables.lo[i] = static_cast<std::uint16_t>(entry(balanced.lo(i, tables.lo_select)));
    for (std::size_t i = 0; i < tables.le.size(); ++i) tables.le[i] = static_cast<std::uint16_t>(entry(balanced.le(i)));
    convert_output(tables, lrn, fraction, where);
    return tables;
}

}  // namespace dlasim
