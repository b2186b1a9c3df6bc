#include "lowering/program/lrn_tables.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "config/model/fp16.h"

namespace dlasim {
namespace {

constexpr int kLoSteps = static_cast<int>(LrnTables::kLoEntries) - 1;
constexpr int kHalfOctave = -24;  // LE of fp16 has the sums of 2^-24 to 2^40; below are those of LO's first step
constexpr int kMaxFraction = 15;  // bits behind the point of a table entry
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

template <class Entry>
void fill(LrnTables& tables, const Function& f, Entry entry)
{
    for (std::size_t i = 0; i < tables.lo.size(); ++i) tables.lo[i] = entry(f(std::ldexp(static_cast<double>(i), tables.lo_select)));
    for (std::size_t i = 0; i < tables.le.size(); ++i) tables.le[i] = entry(f(std::ldexp(1.0, static_cast<int>(i) + tables.le_offset)));
}

void convert_output(LrnTables& tables, const Lrn& lrn, int fraction, const std::string& where)
{
    const double ratio = std::ldexp(lrn.input_scale / lrn.output_scale, -fraction);
    unsigned shift = 0;
    while (std::ldexp(ratio, static_cast<int>(shift)) < kMinScale && shift < kMaxShift) ++shift;
    double scale = std::nearbyint(std::ldexp(ratio, static_cast<int>(shift)));
    if (scale > kLargestScale && shift > 0) scale = std::nearbyint(std::ldexp(ratio, static_cast<int>(--shift)));
    if (scale < 1 || scale > kLargestScale)
        throw ConfigError(where, "makes the output converter multiply by " + std::to_string(ratio) +
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
        fill(tables, f, [](double value) { return fp16_from_double(std::min(value, 65504.0)); });
        return tables;
    }
    int fraction = kMaxFraction;
    const auto entry = [&](double value) { return std::nearbyint(std::ldexp(value, fraction)); };
    while (entry(f(0)) > kLargestEntry) --fraction;
    tables.lo_select = narrow ? std::max(0, log2_up(largest_sum / kLoSteps)) : select(f, largest_sum, 0);
    fill(tables, f, [&](double value) { return static_cast<std::uint16_t>(entry(value)); });
    convert_output(tables, lrn, fraction, where);
    return tables;
}

}  // namespace dlasim
