// Pixels of 10 bits on their way from tensors to memory: cdma.md 5.1. Words by hand.
#include "golden/pixels.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "config/layer/layer_reader.h"
#include "config/npy.h"
#include "facts/presets.h"
#include "lowering/memory/layout.h"
#include "lowering/plan.h"
#include "refusal.h"

namespace dlasim {
namespace pixels_test {

using testing::HasSubstr;

Layer pixels_of(const char* format, std::uint32_t width, const char* precision = "int16", const char* data = "")
{
    const std::string text =
        std::string(R"({"input": {"width": )") + std::to_string(width) + R"(, "height": 1, "format": ")" + format +
        R"(", "conversion": {"scale": 3, "shift": 4}}, "kernel": {"width": 1, "height": 1, "count": 1}, "precision": ")" + precision +
        "\"" + data + "}";
    return layer_from_json(parse_json(text, "l.json"), "l.json", "", "");
}

/// The word in memory of one pixel with these components.
std::uint32_t word_of(const char* format, std::array<std::uint16_t, 4> component)
{
    const Layer layer = pixels_of(format, 1);
    Tensor input(1, 4, 1, 1);
    for (std::size_t c = 0; c < 4; ++c) input.values[c] = static_cast<std::int16_t>(component[c]);
    Geometry geometry;
    geometry.in_strides.line = 32;
    const Bytes memory = pixel_bytes(layer, input, geometry, 0);
    return memory[0] | memory[1] << 8 | memory[2] << 16 | static_cast<std::uint32_t>(memory[3]) << 24;
}

TEST(Pixels, TenBitComponentsStandInTheirFields)
{
    // Components 1, 2, 3 of 10 bits and alpha 2 of 2 bits, left aligned.
    const std::array<std::uint16_t, 4> c{1 << 6, 2 << 6, 3 << 6, 2 << 14};
    EXPECT_EQ(word_of("T_A2B10G10R10", c), 2u << 30 | 3u << 20 | 2u << 10 | 1u);
    EXPECT_EQ(word_of("T_A2R10G10B10", c), 2u << 30 | 1u << 20 | 2u << 10 | 3u);
    EXPECT_EQ(word_of("T_B10G10R10A2", c), 3u << 22 | 2u << 12 | 1u << 2 | 2u);
    EXPECT_EQ(word_of("T_R10G10B10A2", c), 1u << 22 | 2u << 12 | 3u << 2 | 2u);
}

TEST(Pixels, RandomOnesHaveOnlyTheBitsOfTheirFormat)
{
    const LayerTensors ten = load_tensors(pixels_of("T_A2Y10U10V10", 500)), sixteen = load_tensors(pixels_of("T_A16B16G16R16", 500));
    std::uint32_t bits[4] = {}, all = 0;
    for (std::uint32_t c = 0; c < 4; ++c)
        for (std::uint32_t x = 0; x < 500; ++x) {
            bits[c] |= static_cast<std::uint16_t>(ten.input.at(0, c, 0, x));
            all |= static_cast<std::uint16_t>(sixteen.input.at(0, c, 0, x));
        }
    EXPECT_THAT(bits, testing::ElementsAre(0xffc0, 0xffc0, 0xffc0, 0xc000));
    EXPECT_EQ(all, 0xffffu);
}

TEST(Pixels, OnesFromAFileWithMoreBitsThanTheFormatAreRefused)
{
    const std::filesystem::path file = std::filesystem::temp_directory_path() / "dlasim_pixels_test.npy";
    const auto load = [&](std::vector<std::int32_t> values) {
        std::ofstream(file, std::ios::binary) << npy_bytes("<i2", {1, 4, 1, 1}, values);
        load_tensors(pixels_of("T_B10G10R10A2", 1, "int16", (R"(, "data": {"input": ")" + file.string() + "\"}").c_str()));
    };
    EXPECT_THAT(refusal([&] {
                    load({64, 65, 0, 0});
                }),
                HasSubstr("found 65 at index 1, expected a multiple of 64: T_B10G10R10A2 holds the upper bits of 16"));
    EXPECT_THAT(refusal([&] { load({64, -64, 0, 64}); }), HasSubstr("found 64 at index 3, expected a multiple of 16384"));
    EXPECT_EQ(refusal([&] { load({64, -64, 32704, -32768}); }), "nothing was refused");
    std::filesystem::remove(file);
}

TEST(Pixels, IntegersBecomeFp16RoundedToTheNearestEvenAndNeverInfinite)
{
    // (x * 3) / 16 to the nearest, ties away; then fp16: 2049 is a tie to 2048, 2051 to 2052.
    Layer layer = pixels_of("T_R16", 4, "fp16");
    Tensor input(1, 1, 1, 4);
    input.values = {10928, 10939, -8, 24};  // 2049, 2051.06, -1.5, 4.5
    const auto halves = reference_input(layer, input).values;
    EXPECT_THAT(halves, testing::ElementsAre(0x6800, 0x6802, static_cast<std::int16_t>(0xc000), 0x4500));
    layer.conversion.scale = 100;
    layer.conversion.shift = 0;
    input.values = {32767, -32768, 655, 656};  // 65535 and -65536 after saturation to 17 bits, 65500, 65535
    EXPECT_THAT(reference_input(layer, input).values, testing::ElementsAre(0x7bff, static_cast<std::int16_t>(0xfbff), 0x7bff, 0x7bff));
}

}  // namespace pixels_test
}  // namespace dlasim
