// The arithmetic of every unit against vectors measured on the reference, bit for bit.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "facts/pdp.h"
#include "facts/presets.h"
#include "numerics/cacc.h"
#include "numerics/cmac.h"
#include "numerics/pdp.h"
#include "numerics/pra.h"
#include "numerics/rounding.h"
#include "numerics/sdp_cvt.h"
#include "numerics/sdp_x.h"
#include "numerics/sdp_y.h"

namespace dlasim::numerics {
namespace numerics_test {

using nlohmann::json;

std::uint64_t hex(const json& text) { return std::stoull(text.get<std::string>(), nullptr, 16); }
std::uint64_t number(const json& v, const char* key) { return v.at(key).get<std::uint64_t>(); }
bool flag(const json& v, const char* key) { return number(v, key) != 0; }

template <class T>
T low(std::uint64_t bits)
{
    return static_cast<T>(bits);
}

/// Bytes of a hexadecimal number, least significant first.
std::vector<std::uint8_t> bytes(const json& text)
{
    const std::string digits = text.get<std::string>();
    std::vector<std::uint8_t> out(digits.size() / 2);
    for (std::size_t i = 0; i < out.size(); ++i)
        out[i] = low<std::uint8_t>(std::stoul(digits.substr(digits.size() - 2 * i - 2, 2), nullptr, 16));
    return out;
}
template <class T>
std::vector<T> elements(const std::vector<std::uint8_t>& raw)
{
    std::vector<T> out(raw.size() / sizeof(T));
    std::memcpy(out.data(), raw.data(), raw.size());
    return out;
}

class Numerics : public testing::Test {
protected:
    /// The vectors of that unit.
    static json read(const std::string& unit)
    {
        std::ifstream file(std::string(DLASIM_TEST_DATA) + "/numerics/" + unit + ".json");
        return json::parse(file);
    }
};

#define READ(name, unit)          \
    const json name = read(unit); \
    ASSERT_FALSE(name.at("vectors").empty())

// ---- CMAC

/// Lanes whose mask bit is 0 are zero: that is what the mask says.
std::vector<std::uint8_t> masked(const json& data, const json& mask)
{
    std::vector<std::uint8_t> out = bytes(data);
    const std::vector<std::uint8_t> present = bytes(mask);
    for (std::size_t i = 0; i < out.size(); ++i)
        if (!(present[i / 8] >> i % 8 & 1)) out[i] = 0;
    return out;
}

/// The 176 bits of the cell as four words of 44.
std::array<std::uint64_t, 4> cell_words(const json& text)
{
    const std::vector<std::uint8_t> raw = bytes("0" + std::string(text.get<std::string>().size() % 2 ? "" : "0") + text.get<std::string>());
    std::array<std::uint64_t, 4> words{};
    for (std::size_t bit = 0; bit < 176 && bit / 8 < raw.size(); ++bit)
        words[bit / 44] |= std::uint64_t{raw[bit / 8] >> bit % 8 & 1u} << bit % 44;
    return words;
}

constexpr std::uint64_t kMask38 = (std::uint64_t{1} << 38) - 1, kMask22 = (1u << 22) - 1;

TEST_F(Numerics, MacCellsFormTheWordsOfTheReference)
{
    READ(file, "cmac");
    for (const json& v : file.at("vectors")) {
        const std::vector<std::uint8_t> data = masked(v.at("dat"), v.at("dmask")), weights = masked(v.at("wt"), v.at("wmask"));
        const auto expected = cell_words(v.at("out"));
        const bool winograd = flag(v, "wg");
        std::array<std::uint64_t, 4> words{};
        switch (number(v, "prec")) {
            case 0: {
                const auto d = elements<std::int8_t>(data), w = elements<std::int8_t>(weights);
                const auto half = [](const auto& x, std::size_t k) { return std::span<const std::int8_t>(x).subspan(64 * k, 64); };
                std::array<std::array<std::int32_t, 4>, 2> sums{};
                for (std::size_t k = 0; k < 2; ++k)
                    sums[k] =
                        winograd ? winograd_int8(half(w, k), half(d, k)) : std::array<std::int32_t, 4>{dot_int8(half(w, k), half(d, k))};
                for (std::size_t i = 0; i < 4; ++i)
                    words[i] = (low<std::uint64_t>(sums[0][i]) & kMask22) | (low<std::uint64_t>(sums[1][i]) & kMask22) << 22;
                break;
            }
            case 1: {
                const auto d = elements<std::int16_t>(data), w = elements<std::int16_t>(weights);
                const std::array<std::int64_t, 4> sums = winograd ? winograd_int16(w, d) : std::array<std::int64_t, 4>{dot_int16(w, d)};
                for (std::size_t i = 0; i < 4; ++i) words[i] = low<std::uint64_t>(sums[i]) & kMask38;
                break;
            }
            default: {
                const auto d = elements<std::uint16_t>(data), w = elements<std::uint16_t>(weights);
                Fp16Operand operand;
                Fp16Weights kernel;
                unpack_fp16(d, operand);
                unpack_fp16(w, kernel);
                words = winograd ? winograd_fp16(kernel, operand) : std::array<CmacWord, 4>{dot_fp16(kernel, operand)};
            }
        }
        for (std::size_t i = 0; i < (winograd ? 4 : 1); ++i) ASSERT_EQ(words[i], expected[i]) << "word " << i << " of " << v;
    }
}

// ---- CACC

struct AdderResult {
    std::uint64_t value;
    bool saturated;
};
AdderResult integer_adder(const json& v, unsigned width, unsigned partial_width)
{
    const std::int64_t old = flag(v, "opv") ? sign_extend(hex(v.at("op")), width) : 0;
    const std::int64_t sum = accumulate_int(sign_extend(hex(v.at("data")), partial_width), old, width);
    if (!flag(v, "final")) return {low<std::uint64_t>(sum) & ((std::uint64_t{1} << width) - 1), false};
    const IntResult result = finish_int(sum, low<unsigned>(number(v, "trunc")));
    return {low<std::uint32_t>(result.value), result.saturated};
}

TEST_F(Numerics, AccumulatorsAddAndFinishAsTheReference)
{
    READ(file, "cacc");
    for (const json& v : file.at("vectors")) {
        const std::string unit = v.at("unit");
        AdderResult result{};
        if (unit == "fp") {
            const FpSum sum = accumulate_fp(hex(v.at("data")), flag(v, "opv") ? hex(v.at("op")) : 0);
            result = {flag(v, "final") ? finish_fp(sum) : sum, false};
        } else {
            result = unit == "wide" ? integer_adder(v, kWideSum, 38) : integer_adder(v, kNarrowSum, 22);
        }
        ASSERT_EQ(result.value, hex(v.at("out"))) << v;
        ASSERT_EQ(result.saturated, flag(v, "sat")) << v;
    }
}

// ---- CSC

TEST_F(Numerics, WinogradTilesAreTransformedAsInTheReference)
{
    READ(file, "pra");
    for (const json& v : file.at("vectors")) {
        const auto in = elements<std::uint16_t>(bytes(v.at("in"))), expected = elements<std::uint16_t>(bytes(v.at("out")));
        std::vector<std::uint16_t> out(16);
        transform_tile(static_cast<Precision>(number(v, "prec")), low<unsigned>(number(v, "trunc")), std::span<const std::uint16_t, 16>(in),
                       std::span<std::uint16_t, 16>(out));
        ASSERT_EQ(out, expected) << v;
    }
}

// ---- PDP

/// A channel plane through the steps of the unit, one lane wide.
std::vector<std::vector<std::uint32_t>> pooled(const PoolConfig& c, const json& v)
{
    const json &layer = v.at("layer"), &in = v.at("in");
    const auto size = [&](const char* key) { return low<std::int64_t>(number(layer, key)); };
    struct Window {
        std::int64_t begin, end;
        std::uint32_t real() const { return low<std::uint32_t>(end - begin); }
    };
    const auto window = [](std::int64_t o, std::int64_t stride, std::int64_t pad, std::int64_t kernel, std::int64_t length) {
        const std::int64_t begin = o * stride - pad;
        return Window{std::max<std::int64_t>(begin, 0), std::min(begin + kernel, length)};
    };
    const auto element = [&](std::int64_t y, std::int64_t x) {
        const auto bits = in[low<std::size_t>(y)][low<std::size_t>(x)].get<std::uint32_t>();
        const std::array<std::uint8_t, 2> raw{low<std::uint8_t>(bits), low<std::uint8_t>(bits >> 8)};
        std::int32_t lane = 0;
        pool_read(c, raw.data(), &lane, 1);
        return lane;
    };
    const auto height = low<std::int64_t>(in.size()), width = low<std::int64_t>(in[0].size());
    std::vector<std::vector<std::uint32_t>> out;
    for (std::int64_t oy = 0; oy < size("oh"); ++oy) {
        out.emplace_back();
        const Window rows = window(oy, size("sy"), size("pt"), size("kh"), height);
        for (std::int64_t ox = 0; ox < size("ow"); ++ox) {
            const Window columns = window(ox, size("sx"), size("pl"), size("kw"), width);
            std::int32_t sum = 0;
            for (std::int64_t y = rows.begin; y < rows.end; ++y) {
                std::int32_t line = element(y, columns.begin);
                for (std::int64_t x = columns.begin + 1; x < columns.end; ++x) {
                    const std::int32_t next = element(y, x);
                    pool_along_line(c, &line, &next, 1);
                }
                pool_end_line(c, &line, columns.real(), 1);
                if (y == rows.begin) sum = line;
                else pool_across_lines(c, &sum, &line, 1);
            }
            std::array<std::uint8_t, 2> raw{};
            pool_write(c, &sum, rows.real(), raw.data(), 1);
            out.back().push_back(raw[0] | raw[1] << 8);
        }
    }
    return out;
}

TEST_F(Numerics, PlanesArePooledAsInTheReference)
{
    READ(file, "pdp");
    const auto choice = [](const json& name, std::initializer_list<const char*> names) {
        const auto found = std::find(names.begin(), names.end(), name.get<std::string>());
        EXPECT_NE(found, names.end()) << name;
        return found - names.begin();
    };
    for (const json& v : file.at("vectors")) {
        const json& layer = v.at("layer");
        PoolConfig c;
        c.padded_bits = facts::pdp::of(*find_preset(choice(v.at("gen"), {"full", "cfg"}) == 0 ? "nv_full" : "nv_small")).padded_bits;
        c.precision = static_cast<Precision>(choice(v.at("prec"), {"int8", "int16", "fp16"}));
        c.method = static_cast<PoolMethod>(choice(layer.at("method"), {"avg", "max", "min"}));
        c.nan_to_zero = flag(layer, "nan_to_zero");
        c.kernel_width = low<std::uint32_t>(number(layer, "kw"));
        c.kernel_height = low<std::uint32_t>(number(layer, "kh"));
        for (std::size_t n = 1; n < 8; ++n) c.pad[n] = layer.at("pad")[n - 1].get<std::uint32_t>();
        c.recip_width = low<std::uint32_t>(number(layer, "recip_w"));
        c.recip_height = low<std::uint32_t>(number(layer, "recip_h"));
        ASSERT_EQ(pooled(c, v), v.at("out").get<std::vector<std::vector<std::uint32_t>>>()) << v;
    }
}

// ---- SDP

SdpXConfig x_config(const json& v, Generation generation)
{
    SdpXConfig c;
    c.silicon = facts::sdp::arithmetic(generation);
    c.fp = v.value("prec", 0) == 2;
    c.nan_to_zero = v.value("nan_to_zero", 0) != 0;
    c.alu_bypass = flag(v, "alu_bypass");
    c.mul_bypass = flag(v, "mul_bypass");
    c.relu_bypass = flag(v, "relu_bypass");
    c.prelu = flag(v, "prelu");
    c.alu = static_cast<SdpAlu>(number(v, "alu_algo"));
    c.alu_shift = low<unsigned>(number(v, "alu_shift")) & 63;
    c.mul_shift = low<unsigned>(number(v, "mul_shift")) & 63;
    c.alu_operand = low<std::int16_t>(number(v, "alu_op"));
    c.mul_operand = low<std::int16_t>(number(v, "mul_op"));
    return c;
}

/// One lane, alone and as a beat of five.
void expect_x(const SdpXConfig& c, std::int32_t x, const std::int16_t* alu, const std::int16_t* mul, std::int32_t expected, const json& v)
{
    ASSERT_EQ(sdp_x_lane(c, x, alu ? *alu : c.alu_operand, mul ? *mul : c.mul_operand), expected) << v;
    std::array<std::int32_t, 5> beat;
    std::array<std::int16_t, 5> alus, muls;
    beat.fill(x);
    if (alu) alus.fill(*alu);
    if (mul) muls.fill(*mul);
    sdp_x(c, beat.data(), alu ? alus.data() : nullptr, mul ? muls.data() : nullptr, beat.size());
    for (std::int32_t lane : beat) ASSERT_EQ(lane, expected) << v;
}

TEST_F(Numerics, BiasAndBatchNormalisationLanesAreThoseOfTheReference)
{
    READ(file, "sdp_x");
    for (const json& v : file.at("vectors")) {
        const auto alu = low<std::int16_t>(hex(v.at("aop"))), mul = low<std::int16_t>(hex(v.at("mop")));
        expect_x(x_config(v, Generation::Full), low<std::int32_t>(hex(v.at("x"))), flag(v, "alu_src") ? &alu : nullptr,
                 flag(v, "mul_src") ? &mul : nullptr, low<std::int32_t>(hex(v.at("out"))), v);
    }
}

SdpYConfig y_config(const json& v, Generation generation)
{
    SdpYConfig c;
    c.silicon = facts::sdp::arithmetic(generation);
    c.fp = number(v, "prec") == 2;
    c.nan_to_zero = flag(v, "nan_to_zero");
    c.alu_bypass = flag(v, "alu_bypass");
    c.mul_bypass = flag(v, "mul_bypass");
    c.prelu = flag(v, "prelu");
    c.alu = static_cast<SdpAlu>(number(v, "alu_algo"));
    c.truncate = low<unsigned>(number(v, "trunc")) & 1023;
    c.alu_operand = low<std::int32_t>(number(v, "alu_op"));
    c.mul_operand = low<std::int32_t>(number(v, "mul_op"));
    const auto converter = [&](const std::string& which) {
        return OperandConverter{flag(v, (which + "_cvt_bypass").c_str()), low<std::int32_t>(number(v, (which + "_cvt_offset").c_str())),
                                low<std::int16_t>(number(v, (which + "_cvt_scale").c_str())),
                                low<unsigned>(number(v, (which + "_cvt_trunc").c_str())) & 63};
    };
    c.alu_converter = converter("alu");
    c.mul_converter = converter("mul");
    const json& l = v.at("lut");
    const auto slope = [&](const char* scale, const char* shift) {
        return LutSlope{low<std::int16_t>(number(l, scale)), low<std::int8_t>(sign_extend(number(l, shift), 5))};
    };
    c.lut.bypass = flag(v, "lut_bypass");
    c.lut.le_linear = flag(l, "le_func");
    c.lut.le_index_offset = low<std::int8_t>(number(l, "le_off"));
    c.lut.le_index_select = low<std::int8_t>(number(l, "le_sel"));
    c.lut.lo_index_select = low<std::int8_t>(number(l, "lo_sel"));
    c.lut.le_start = low<std::int32_t>(number(l, "le_start"));
    c.lut.le_end = low<std::int32_t>(number(l, "le_end"));
    c.lut.lo_start = low<std::int32_t>(number(l, "lo_start"));
    c.lut.lo_end = low<std::int32_t>(number(l, "lo_end"));
    c.lut.le_underflow = slope("le_us", "le_ush");
    c.lut.le_overflow = slope("le_os", "le_osh");
    c.lut.lo_underflow = slope("lo_us", "lo_ush");
    c.lut.lo_overflow = slope("lo_os", "lo_osh");
    c.lut.underflow_lo = flag(l, "upri");
    c.lut.overflow_lo = flag(l, "opri");
    c.lut.hybrid_lo = flag(l, "hpri");
    return c;
}

void expect_y(const json& file, Generation generation)
{
    std::vector<LutTables> tables;
    for (const json& pair : file.at("tables")) {
        LutTables& t = tables.emplace_back();
        for (std::size_t i = 0; i < kLeEntries; ++i) t.le[i] = low<std::uint16_t>(hex(pair[0][i]));
        for (std::size_t i = 0; i < kLoEntries; ++i) t.lo[i] = low<std::uint16_t>(hex(pair[1][i]));
    }
    for (const json& v : file.at("vectors")) {
        const json& registers = v.at("cfg");
        const SdpYConfig c = y_config(registers, generation);
        const std::size_t count = v.at("x").size();
        std::vector<std::int32_t> lanes;
        std::vector<std::int16_t> alu, mul;
        for (std::size_t i = 0; i < count; ++i) {
            lanes.push_back(low<std::int32_t>(hex(v.at("x")[i])));
            alu.push_back(low<std::int16_t>(hex(v.at("aop")[i])));
            mul.push_back(low<std::int16_t>(hex(v.at("mop")[i])));
        }
        sdp_y(c, lanes.data(), flag(registers, "alu_src") ? alu.data() : nullptr, flag(registers, "mul_src") ? mul.data() : nullptr, count);
        for (std::size_t i = 0; i < count; ++i) {
            if (!c.lut.bypass) lanes[i] = lut_value(c, tables[number(v, "table")], lanes[i], lut_index(c, lanes[i]));
            ASSERT_EQ(lanes[i], low<std::int32_t>(hex(v.at("out")[i]))) << "lane " << i << " of " << v;
        }
    }
}

TEST_F(Numerics, ElementwiseLanesAndTablesAreThoseOfTheReference)
{
    READ(file, "sdp_y");
    expect_y(file, Generation::Full);
}

TEST_F(Numerics, ElementwiseLanesAndTablesOfTheConfigurableGenerationAreThoseOfTheReference)
{
    READ(file, "cfg_sdp_y");
    expect_y(file, Generation::Configurable);
}

void expect_converted(const SdpCvtConfig& c, const json& v)
{
    const auto x = low<std::int32_t>(hex(v.at("x")));
    const CvtLane expected{low<std::uint16_t>(hex(v.at("out"))), flag(v, "sat")};
    ASSERT_EQ(sdp_cvt_lane(c, x), expected) << v;
    std::uint16_t out = 0;
    const unsigned counted = sdp_cvt(c, &x, &out, 1);
    ASSERT_EQ(out, expected.value) << v;
    const bool fp_out = c.silicon.fp16_results && c.out == Precision::Fp16;
    ASSERT_EQ(counted, fp_out ? (out & 0x7fff) == 0x7bff : expected.saturated) << v;
}

SdpCvtConfig cvt_config(const json& v, Generation generation)
{
    return {facts::sdp::arithmetic(generation),
            v.value("proc", 0) == 2,
            static_cast<Precision>(number(v, "out_prec")),
            flag(v, "eql"),
            low<std::int32_t>(hex(v.at("offset"))),
            low<std::int16_t>(hex(v.at("scale"))),
            low<unsigned>(number(v, "trunc")) & 63};
}

TEST_F(Numerics, OutputsAreConvertedAsInTheReference)
{
    READ(file, "sdp_c");
    for (const json& v : file.at("vectors")) expect_converted(cvt_config(v, Generation::Full), v);
}

// The cells of CDMA's converter in this file are tested with CDMA.
TEST_F(Numerics, LanesOfTheConfigurableGenerationAreThoseOfTheReference)
{
    READ(file, "cfg");
    for (const json& v : file.at("vectors")) {
        const std::string unit = v.at("unit");
        if (unit == "x") {
            expect_x(x_config(v, Generation::Configurable), low<std::int32_t>(hex(v.at("x"))), nullptr, nullptr,
                     low<std::int32_t>(hex(v.at("out"))), v);
        } else if (unit == "c") {
            expect_converted(cvt_config(v, Generation::Configurable), v);
        } else if (unit == "cacc") {
            const AdderResult result = integer_adder(v, kNarrowSum, 22);
            ASSERT_EQ(result.value, hex(v.at("out"))) << v;
            ASSERT_EQ(result.saturated, flag(v, "sat")) << v;
        }
    }
}

}  // namespace numerics_test
}  // namespace dlasim::numerics
