// The reference of LRN layers: equal to the machine's arithmetic, which was measured, and near to the formula.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "config/model/fp16.h"
#include "golden/lrn.h"
#include "lowering/program/lrn_tables.h"
#include "numerics/cdp.h"

namespace dlasim {
namespace lrn_reference_test {

/// The machine's configuration of such a layer, as the registers say it.
numerics::CdpConfig machine_config(const LrnTables& tables, Generation generation)
{
    numerics::CdpConfig c;
    c.silicon = facts::cdp::arithmetic(generation);
    c.precision = tables.precision;
    c.window = tables.window;
    c.nan_to_zero = true;
    c.out = {0, static_cast<std::int16_t>(tables.scale), tables.shift};
    c.lut.underflow_lo = c.lut.hybrid_lo = true;
    c.lut.le_index_offset = static_cast<std::uint8_t>(tables.le_offset);
    c.lut.lo_select = static_cast<std::uint8_t>(tables.lo_select);
    return c;
}

Lrn random_lrn(std::mt19937& random, Precision precision)
{
    const auto pick = [&](auto... of) {
        const double values[] = {static_cast<double>(of)...};
        return values[random() % sizeof...(of)];
    };
    Lrn lrn;
    lrn.precision = precision;
    lrn.size = 3 + 2 * (random() % 4);
    lrn.alpha = pick(0, 1e-5, 1e-4, 0.01, 1, 30);
    lrn.beta = pick(0, 0.5, 0.75, 1, 2);
    lrn.bias = pick(0.5, 1, 2, 7);
    if (precision != Precision::Fp16) {
        lrn.input_scale = pick(1.0 / 4096, 1.0 / 127, 0.05, 1.2);
        lrn.output_scale = lrn.input_scale * std::pow(lrn.bias, -lrn.beta) * pick(0.5, 1, 2);
    }
    return lrn;
}

Tensor random_pixels(std::mt19937& random, Precision precision, std::uint32_t channels, std::uint32_t pixels)
{
    Tensor cube(1, channels, 1, pixels);
    for (std::int16_t& value : cube.values)
        value = precision == Precision::Int8 ? static_cast<std::int8_t>(random()) : static_cast<std::int16_t>(random());
    return cube;
}

/// One pixel through the arithmetic of the machine.
std::vector<std::int16_t> machine_pixel(numerics::CdpLanes& lanes, const Tensor& cube, std::uint32_t x, std::uint32_t channels, bool narrow)
{
    const std::size_t bytes = narrow ? 1 : 2, atom = 32 / bytes;
    std::vector<std::uint8_t> in, out(channels * bytes);
    for (std::uint32_t c = 0; c < cube.c; ++c) {
        const std::int16_t value = cube.at(0, c, 0, x);
        for (std::size_t i = 0; i < bytes; ++i) in.push_back(static_cast<std::uint8_t>(static_cast<std::uint16_t>(value) >> 8 * i));
    }
    std::vector<std::int32_t> converted(channels + 2 * numerics::kCdpReach);
    lanes.convert(in.data(), cube.c, converted.data() + numerics::kCdpReach);
    for (std::size_t i = 0; i < channels; i += atom)
        lanes.compute(converted.data() + numerics::kCdpReach + i, atom, out.data() + i * bytes);
    std::vector<std::int16_t> values(channels);
    for (std::uint32_t c = 0; c < channels; ++c) {
        if (narrow) values[c] = static_cast<std::int8_t>(out[c]);
        else std::memcpy(&values[c], &out[2 * c], 2);
    }
    return values;
}

TEST(LrnReference, IsWhatTheMachinesArithmeticMakes)
{
    std::mt19937 random(7);
    numerics::CdpLanes lanes;
    for (unsigned trial = 0; trial < 300; ++trial) {
        const auto precision = static_cast<Precision>(trial % 3);
        const LrnTables tables = lrn_tables(random_lrn(random, precision), "trial");
        const Tensor cube = random_pixels(random, precision, 1 + random() % 70, 8);
        const std::uint32_t channels = (cube.c + 31) / 32 * 32;
        const Tensor golden = normalised(tables, cube, channels);
        const bool full = precision != Precision::Int8 || trial % 2;
        numerics::LutTables lut;
        lut.le = tables.le;
        lut.lo = tables.lo;
        lanes.start(machine_config(tables, full ? Generation::Full : Generation::Configurable), lut);
        for (std::uint32_t x = 0; x < cube.w; ++x) {
            const auto machine = machine_pixel(lanes, cube, x, channels, precision == Precision::Int8);
            for (std::uint32_t c = 0; c < channels; ++c)
                ASSERT_EQ(golden.at(0, c, 0, x), machine[c]) << "trial " << trial << " channel " << c << " of " << cube.c;
        }
    }
}

/// Tables, converters and bypasses of all kinds, as an LRN layer never has them.
struct AnyFunction {
    CdpFunction golden;
    numerics::CdpConfig machine;
    numerics::LutTables lut;
};

AnyFunction any_function(std::mt19937& random, Precision precision)
{
    const auto in = [&](int low, int high) { return low + static_cast<int>(random() % static_cast<unsigned>(high - low + 1)); };
    const bool fp = precision == Precision::Fp16;
    AnyFunction any;
    CdpFunction& g = any.golden;
    numerics::CdpConfig& m = any.machine;
    m.silicon = facts::cdp::arithmetic(Generation::Full);
    g.precision = m.precision = precision;
    g.window = m.window = static_cast<unsigned>(3 + 2 * in(0, 3));
    g.bypass_square_sum = m.sum_bypass = in(0, 3) == 0;
    g.bypass_multiplier = m.multiply_bypass = in(0, 3) == 0;
    g.flush_nan = m.nan_to_zero = in(0, 1) == 0;
    const auto converter = [&](CdpConversion& golden, numerics::CdpConverter& machine, int most) {
        golden = {in(-60, 60), in(-40, 40), static_cast<unsigned>(in(0, most))};
        machine = {static_cast<std::uint32_t>(golden.offset), static_cast<std::int16_t>(golden.scale), golden.shift};
    };
    if (!fp) converter(g.input, m.in, 8);
    if (!fp) converter(g.output, m.out, 20);
    const auto value = [&] { return static_cast<std::int16_t>(fp ? in(0x3000, 0x4800) | in(0, 1) << 15 : in(-32768, 32767)); };
    const auto slope = [&](LutSlope& golden, numerics::LutSlope& machine) {
        golden = {value(), in(-4, 15)};
        machine = {static_cast<std::int16_t>(golden.scale), static_cast<std::int8_t>(golden.shift)};
    };
    const auto bound = [&]() -> std::int64_t {
        constexpr std::uint32_t kFloats[] = {0, 0x3f800000, 0xbf800000, 0x40490fdb, 0x42c80000, 0xc1200000};
        return fp ? static_cast<std::int64_t>(kFloats[random() % std::size(kFloats)]) : in(-2000, 2000);
    };
    const auto bits = [&](std::int64_t start) { return static_cast<std::uint64_t>(start) & ((std::uint64_t{1} << 38) - 1); };
    g.le.exponential = in(0, 1) == 0;
    g.le.offset = fp ? in(-12, 12) : in(0, 12);
    g.lo.offset = fp ? in(-8, 8) : in(0, 8);
    for (CdpTable* table : {&g.le, &g.lo}) table->start = bound(), table->end = bound();
    m.lut.le_linear = !g.le.exponential;
    m.lut.le_index_offset = m.lut.le_select = static_cast<std::uint8_t>(g.le.offset);
    m.lut.lo_select = static_cast<std::uint8_t>(g.lo.offset);
    m.lut.le_start = bits(g.le.start), m.lut.le_end = bits(g.le.end), m.lut.lo_start = bits(g.lo.start), m.lut.lo_end = bits(g.lo.end);
    slope(g.le.underflow, m.lut.le_underflow);
    slope(g.le.overflow, m.lut.le_overflow);
    slope(g.lo.underflow, m.lut.lo_underflow);
    slope(g.lo.overflow, m.lut.lo_overflow);
    g.underflow_lo = m.lut.underflow_lo = in(0, 1) == 0;
    g.overflow_lo = m.lut.overflow_lo = in(0, 1) == 0;
    g.hybrid_lo = m.lut.hybrid_lo = in(0, 1) == 0;
    for (std::size_t i = 0; i < CdpFunction::kLeEntries; ++i) any.lut.le[i] = static_cast<std::uint16_t>(g.le.entries[i] = value());
    for (std::size_t i = 0; i < CdpFunction::kLoEntries; ++i) any.lut.lo[i] = static_cast<std::uint16_t>(g.lo.entries[i] = value());
    return any;
}

TEST(CdpReference, IsWhatTheMachinesArithmeticMakesOfAnyTable)
{
    std::mt19937 random(3);
    numerics::CdpLanes lanes;
    for (unsigned trial = 0; trial < 600; ++trial) {
        const auto precision = static_cast<Precision>(trial % 3);
        const AnyFunction any = any_function(random, precision);
        const Tensor cube = random_pixels(random, precision, 1 + random() % 70, 8);
        const std::uint32_t channels = (cube.c + 31) / 32 * 32;
        const Tensor golden = cdp_output(any.golden, cube, channels);
        lanes.start(any.machine, any.lut);
        for (std::uint32_t x = 0; x < cube.w; ++x) {
            const auto machine = machine_pixel(lanes, cube, x, channels, precision == Precision::Int8);
            for (std::uint32_t c = 0; c < cube.c; ++c)
                ASSERT_EQ(golden.at(0, c, 0, x), machine[c]) << "trial " << trial << " channel " << c << " of " << cube.c;
        }
    }
}

/// The formula, in doubles.
double formula(const Lrn& lrn, const std::vector<double>& x, std::size_t c)
{
    const std::size_t side = lrn.size / 2;
    double sum = 0;
    for (std::size_t i = c < side ? 0 : c - side; i < std::min(x.size(), c + side + 1); ++i) sum += x[i] * x[i];
    return x[c] / std::pow(lrn.bias + lrn.alpha / lrn.size * sum, lrn.beta);
}

struct Errors {
    double mean = 0, most = 0;
};

/// In steps of the output; of fp16, relative to the result.
Errors errors(Lrn lrn, double deviation)
{
    std::mt19937 random(1);
    std::normal_distribution<double> normal(0, deviation);
    constexpr std::uint32_t kChannels = 24, kPixels = 100;
    const bool is_float = lrn.precision == Precision::Fp16;
    const double most = lrn.precision == Precision::Int8 ? 127 : 32767;
    Tensor cube(1, kChannels, 1, kPixels);
    std::vector<std::vector<double>> x(kPixels, std::vector<double>(kChannels));
    double largest = 0;
    for (std::uint32_t p = 0; p < kPixels; ++p)
        for (std::uint32_t c = 0; c < kChannels; ++c) {
            const double value = normal(random);
            std::int16_t& element = cube.at(0, c, 0, p);
            element = is_float ? static_cast<std::int16_t>(fp16_from_double(value))
                               : static_cast<std::int16_t>(std::clamp(std::nearbyint(value), -most, most));
            x[p][c] = is_float ? double_from_fp16(static_cast<std::uint16_t>(element)) : element * lrn.input_scale;
        }
    for (const auto& pixel : x)
        for (std::size_t c = 0; c < kChannels; ++c) largest = std::max(largest, std::abs(formula(lrn, pixel, c)));
    if (!is_float) lrn.output_scale = largest / most;
    const Tensor out = normalised(lrn_tables(lrn, "errors"), cube, kChannels);
    Errors errors;
    for (std::uint32_t p = 0; p < kPixels; ++p)
        for (std::uint32_t c = 0; c < kChannels; ++c) {
            const double exact = formula(lrn, x[p], c), found = out.at(0, c, 0, p);
            const double error = is_float ? std::abs(double_from_fp16(static_cast<std::uint16_t>(out.at(0, c, 0, p))) / exact - 1)
                                          : std::abs(found - exact / lrn.output_scale);
            errors.mean += error / (kPixels * kChannels);
            errors.most = std::max(errors.most, error);
        }
    return errors;
}

Lrn layer(std::uint32_t size, double bias, double alpha, double beta, double scale, Precision precision)
{
    Lrn lrn;
    lrn.size = size;
    lrn.bias = bias;
    lrn.alpha = alpha;
    lrn.beta = beta;
    lrn.input_scale = scale;
    lrn.precision = precision;
    return lrn;
}

TEST(LrnReference, StaysNearTheFormula)
{
    // The layers of the specification's table: mean 0.25, maximum 0.5 to 0.76 output steps.
    for (const Lrn& lrn : {layer(5, 1, 1e-4, 0.75, 1.2, Precision::Int8), layer(5, 2, 1e-4, 0.75, 2.0, Precision::Int8),
                           layer(5, 1, 1e-4, 0.75, 4.0, Precision::Int8), layer(5, 1, 1, 0.75, 0.05, Precision::Int8),
                           layer(9, 2, 0.01, 0.5, 0.3, Precision::Int8)}) {
        const Errors e = errors(lrn, 40);
        EXPECT_LT(e.mean, 0.28);
        EXPECT_LT(e.most, 0.8);
    }
    for (const Lrn& lrn : {layer(5, 1, 1e-4, 0.75, 1.2 / 256, Precision::Int16), layer(9, 2, 0.01, 0.5, 0.3 / 256, Precision::Int16)}) {
        const Errors e = errors(lrn, 10000);
        EXPECT_LT(e.mean, 2.3);
        EXPECT_LT(e.most, 10);
    }
    // fp16 has 11 bits: table, interpolation and product round once each.
    const Errors e = errors(layer(5, 1, 1e-4, 0.75, 1, Precision::Fp16), 30);
    EXPECT_LT(e.mean, 1e-3);
    EXPECT_LT(e.most, 4e-3);
}

}  // namespace lrn_reference_test
}  // namespace dlasim
