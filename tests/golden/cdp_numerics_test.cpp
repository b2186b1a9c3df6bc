// CDP's arithmetic against pixels measured on the reference, bit for bit.
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "numerics/cdp.h"

namespace dlasim::numerics {
namespace cdp_numerics_test {

using nlohmann::json;

std::uint64_t number(const json& v, const char* key) { return static_cast<std::uint64_t>(v.at(key).get<std::int64_t>()); }
bool flag(const json& v, const char* key) { return number(v, key) != 0; }

LutSlope slope(const json& lut, const std::string& table, const char* end)
{
    LutSlope slope;
    slope.scale = static_cast<std::int16_t>(number(lut, (table + "_" + end + "s").c_str()));
    slope.shift = static_cast<std::int8_t>(number(lut, (table + "_" + end + "sh").c_str()) << 3) >> 3;
    return slope;
}

Generation generation_of(const json& v) { return v.at("config") == "nv_full" ? Generation::Full : Generation::Configurable; }

CdpConfig config_of(const json& v)
{
    const json &cfg = v.at("cfg"), &lut = cfg.at("lut");
    CdpConfig c;
    c.silicon = facts::cdp::arithmetic(generation_of(v));
    c.precision = static_cast<Precision>(number(cfg, "prec"));
    c.window = static_cast<unsigned>(number(cfg, "n"));
    c.sum_bypass = flag(cfg, "sqb");
    c.multiply_bypass = flag(cfg, "mulb");
    c.nan_to_zero = flag(cfg, "nan");
    const auto converter = [&](const std::string& name, unsigned shift_bits) {
        const auto field = [&](const char* what) { return number(cfg, (name + what).c_str()); };
        return CdpConverter{static_cast<std::uint32_t>(field("off")), static_cast<std::int16_t>(field("scale")),
                            static_cast<unsigned>(field("shift")) & ((1u << shift_bits) - 1)};
    };
    c.in = converter("i", 5);
    c.out = converter("o", 6);
    c.lut.le_linear = flag(lut, "le_func");
    c.lut.underflow_lo = flag(lut, "upri");
    c.lut.overflow_lo = flag(lut, "opri");
    c.lut.hybrid_lo = flag(lut, "hpri");
    c.lut.le_index_offset = static_cast<std::uint8_t>(number(lut, "le_off"));
    c.lut.le_select = static_cast<std::uint8_t>(number(lut, "le_sel"));
    c.lut.lo_select = static_cast<std::uint8_t>(number(lut, "lo_sel"));
    c.lut.le_start = number(lut, "le_start");
    c.lut.le_end = number(lut, "le_end");
    c.lut.lo_start = number(lut, "lo_start");
    c.lut.lo_end = number(lut, "lo_end");
    c.lut.le_underflow = slope(lut, "le", "u");
    c.lut.le_overflow = slope(lut, "le", "o");
    c.lut.lo_underflow = slope(lut, "lo", "u");
    c.lut.lo_overflow = slope(lut, "lo", "o");
    return c;
}

LutTables tables_of(const json& pair)
{
    LutTables tables;
    const auto entry = [&](std::size_t table, std::size_t i) {
        return static_cast<std::uint16_t>(std::stoul(pair.at(table).at(i).get<std::string>(), nullptr, 16));
    };
    for (std::size_t i = 0; i < kLeEntries; ++i) tables.le[i] = entry(0, i);
    for (std::size_t i = 0; i < kLoEntries; ++i) tables.lo[i] = entry(1, i);
    return tables;
}

/// Elements as memory has them.
std::vector<std::uint8_t> elements(const json& hexadecimal, std::size_t bytes)
{
    std::vector<std::uint8_t> all;
    for (const json& text : hexadecimal) {
        const auto value = static_cast<std::uint16_t>(std::stoul(text.get<std::string>(), nullptr, 16));
        for (std::size_t i = 0; i < bytes; ++i) all.push_back(static_cast<std::uint8_t>(value >> 8 * i));
    }
    return all;
}

TEST(CdpNumerics, PixelsAreThoseOfTheReference)
{
    std::ifstream stream(std::string(DLASIM_TEST_DATA) + "/numerics/cdp.json");
    const json file = json::parse(stream);
    ASSERT_EQ(file.at("vectors").size(), 348u);
    CdpLanes lanes;
    for (const json& v : file.at("vectors")) {
        const CdpConfig config = config_of(v);
        const std::size_t bytes = config.element_bytes();
        const std::vector<std::uint8_t> in = elements(v.at("x"), bytes), expected = elements(v.at("out"), bytes);
        lanes.start(config, tables_of(file.at("tables").at(number(v, "table"))));
        const std::size_t count = expected.size() / bytes, atom = generation_of(v) == Generation::Full ? 32 / bytes : 8;
        std::vector<std::int32_t> x(count + 2 * kCdpReach);
        lanes.convert(in.data(), in.size() / bytes, x.data() + kCdpReach);
        std::vector<std::uint8_t> out(expected.size());
        for (std::size_t i = 0; i < count; i += atom) lanes.compute(x.data() + kCdpReach + i, atom, out.data() + i * bytes);
        ASSERT_EQ(out, expected) << v.at("config") << v.at("cfg");
        std::uint64_t counted = 0;
        for (const std::uint64_t n : lanes.counts()) counted += n;
        ASSERT_EQ(counted, count);
    }
}

}  // namespace cdp_numerics_test
}  // namespace dlasim::numerics
