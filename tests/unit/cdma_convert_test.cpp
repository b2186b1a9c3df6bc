// The converter against the golden vectors of the reference: single beats of nv_full with masks,
// padding and packing, and the converter cell of the configurable generation.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "numerics/fp.h"
#include "units/cdma/data/convert.h"

namespace dlasim::cdma {
namespace cdma_convert_test {

nlohmann::json read(const std::string& path)
{
    std::ifstream file(path);
    return file ? nlohmann::json::parse(file) : nlohmann::json();
}

std::uint64_t hex(const std::string& text) { return std::stoull(text, nullptr, 16); }

/// Bytes of a hex number, least significant first.
std::vector<std::uint8_t> bytes(const std::string& text)
{
    std::vector<std::uint8_t> b;
    for (std::size_t i = text.size(); i >= 2; i -= 2) b.push_back(static_cast<std::uint8_t>(hex(text.substr(i - 2, 2))));
    return b;
}

TEST(CdmaConvert, BeatsOfTheFullGenerationAreBitExact)
{
    const auto vectors = read(DLASIM_TEST_DATA "/numerics/cdma_cvt.json");
    ASSERT_FALSE(vectors.is_null());
    unsigned checked = 0, skipped = 0;
    for (const auto& group : vectors["vectors"]) {
        const auto& cfg = group["cfg"];
        Converter c;
        c.words = true;
        c.input = cfg["in_prec"];
        c.precision = cfg["proc"];
        c.enabled = cfg["cvt_en"] == 1;
        c.nan_to_zero = cfg["nan_to_zero"] == 1;
        c.offset = static_cast<std::int16_t>(cfg["offset"].get<int>());
        c.scale = static_cast<std::int16_t>(cfg["scale"].get<int>());
        c.truncate = cfg["trunc"];
        c.pad = cfg["pad"];
        BeatConverter converter;
        converter.start(c);
        for (const auto& b : group["beats"]) {
            if (b["interleave"] == 1 || b["sub"] != 0) {
                ++skipped;  // only direct convolution with 16-bit input for int8 processing makes these
                continue;
            }
            const auto data = bytes(b["data"]);
            const auto mean_bytes = bytes(b["mean_data"]), mask_bytes = bytes(b["padmask"]);
            std::int16_t mean[64];
            for (unsigned k = 0; k < 64; ++k) mean[k] = static_cast<std::int16_t>(mean_bytes[2 * k] | mean_bytes[2 * k + 1] << 8);
            std::uint8_t mask[128];
            for (unsigned k = 0; k < 128; ++k) mask[k] = mask_bytes[k / 8] >> (k % 8) & 1;
            ConverterBeat in;
            in.data = data.data();
            in.mean = b["mean"] == 1 ? mean : nullptr;
            in.pad_mask = mask;
            in.atoms = b["mask"];
            in.is_unsigned = b["uint"] == 1;
            in.fill64 = b["ext64"] == 1;
            in.fill128 = b["ext128"] == 1;
            in.high = b["half"] == 1;
            in.entry = static_cast<std::uint32_t>(hex(b["addr"]));
            ConverterWrite out;
            std::uint32_t nans = 0, infs = 0;
            converter.beat(in, out, nans, infs);
            ++checked;
            EXPECT_EQ(nans, b["nan"].get<std::uint32_t>());
            EXPECT_EQ(infs, b["inf"].get<std::uint32_t>());
            if (b["out"].is_null()) {
                EXPECT_EQ(out.halves, 0u) << cfg << b;
                continue;
            }
            ASSERT_EQ(out.halves, b["out_half"].get<std::uint32_t>()) << cfg << b;
            EXPECT_EQ(out.entry, hex(b["out_addr"]));
            const auto expected = bytes(b["out"]);
            for (unsigned k = 0; k < 128; ++k)
                if (out.halves >> (k / 64) & 1) ASSERT_EQ(out.data[k], expected[k]) << "byte " << k << " of " << cfg << b;
        }
    }
    EXPECT_GT(checked, 50u);
    RecordProperty("checked", static_cast<int>(checked));
    RecordProperty("skipped", static_cast<int>(skipped));
}

TEST(CdmaConvert, TheCellOfTheConfigurableGenerationIsBitExact)
{
    const auto vectors = read(DLASIM_TEST_DATA "/numerics/cfg.json");
    ASSERT_FALSE(vectors.is_null());
    unsigned checked = 0;
    for (const auto& v : vectors["vectors"]) {
        if (v["unit"] != "cvt") continue;
        Converter c;
        c.precision = v["proc"];
        c.enabled = true;
        c.scale = static_cast<std::int16_t>(hex(v["scale"]));
        c.truncate = v["trunc"];
        // The cell's input is 17 bits wide; an int8 element reaches it sign- or zero-extended.
        const auto x = static_cast<std::int32_t>(hex(v["x"]) << 15) >> 15;
        ++checked;
        EXPECT_EQ(c.cell(x, static_cast<std::int16_t>(hex(v["alu"]))), hex(v["out"])) << v;
    }
    EXPECT_GT(checked, 100u);
}

TEST(CdmaConvert, IntegersBecomeTheNearestHalfFloat)
{
    EXPECT_EQ(numerics::int17_to_fp16(0), 0x0000);
    EXPECT_EQ(numerics::int17_to_fp16(1), 0x3c00);
    EXPECT_EQ(numerics::int17_to_fp16(-2), 0xc000);
    EXPECT_EQ(numerics::int17_to_fp16(2049), 0x6800);  // tie, to even
    EXPECT_EQ(numerics::int17_to_fp16(2051), 0x6802);  // tie, to even
    EXPECT_EQ(numerics::int17_to_fp16(65519), 0x7bff);
    EXPECT_EQ(numerics::int17_to_fp16(65520), 0x7bff);  // never infinite
    EXPECT_EQ(numerics::int17_to_fp16(-65536), 0xfbff);
}

}  // namespace cdma_convert_test
}  // namespace dlasim::cdma
