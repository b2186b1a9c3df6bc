// Readers under broken input: whatever a file holds, a reader takes it or refuses it with a
// ConfigError. Mutations of good files, seeded.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <random>

#include "config/hardware.h"
#include "config/layer_reader.h"
#include "config/npy.h"
#include "config/sweep.h"
#include "config/transfer_reader.h"
#include "facts/presets.h"
#include "lowering/plan.h"
#include "lowering/transfer_plan.h"

namespace dlasim {
namespace {

constexpr const char* kLayer =
    R"({ "name": "l", "op": "conv2d", "input": {"width": 28, "height": 28, "channels": 8, "batch": 1, "format": "feature"},
  "kernel": {"width": 3, "height": 3, "count": 16}, "stride": {"x": 1, "y": 1}, "dilation": {"x": 1, "y": 1}, "groups": 1,
  "pad": {"left": 1, "right": 1, "top": 1, "bottom": 1, "value": 0}, "precision": "int8", "mode": "auto",
  "post": {"bias": true, "activation": "relu", "output": {"precision": "int8", "offset": 0, "scale": 1, "shift": 8}}, "data": {"seed": 1},
  "partition": {"rows": 9, "kernels": 8, "data_banks": 12, "weight_banks": 2, "reuse_data": true, "reuse_weights": true} })";

constexpr const char* kPost =
    R"({ "op": "conv2d", "input": {"width": 9, "height": 7, "channels": 8, "conversion": {"offset": 3, "scale": 5, "shift": 2}},
  "kernel": {"width": 1, "height": 1, "count": 16}, "precision": "int8", "placement": {"input": {"memory": "cvsram", "address": 0}, "bn": 3221225472},
  "post": {"bias": {"shift": 3}, "bn": {"alu": {"op": "max", "per": "element", "shift": 4}, "mul": {"per": "element", "prelu": true}, "shift": 7, "operand_bytes": 1},
           "ew": {"mul": {"per": "layer", "value": 12}, "shift": 3, "alu": {"per": "kernel", "conversion": {"offset": 1, "scale": 2, "truncate": 3}},
                  "lut": {"function": "tanh", "input_scale": 0.01, "output_scale": 0.001}}} })";
constexpr const char* kSdp =
    R"({ "op": "sdp", "input": {"width": 9, "height": 7, "channels": 32, "precision": "int16"}, "post": {"bs": {"mul": {"per": "layer", "value": 3},
  "shift": 2, "relu": true}, "ew": {"alu": {"op": "equal", "per": "element"}}, "output": {"shift": 8}} })";

constexpr const char* kCopy = R"({ "op": "bdma", "blocks": [
  {"group": 0, "source": {"memory": "dbb", "address": 4096, "line_stride": 64, "surface_stride": 256}, "destination": 65536, "line_bytes": 32, "lines": 2, "surfaces": 2},
  {"wait": true, "source": 65536, "destination": {"memory": "cvsram", "address": 0}, "line_bytes": 64}], "data": {"seed": 1} })";
constexpr const char* kReshape =
    R"({ "op": "rubik", "rubik": {"mode": "contract", "stride": {"x": 2, "y": 2}}, "input": {"width": 7, "height": 3, "channels": 8},
  "precision": "int8", "placement": {"input": 4096, "output": {"memory": "cvsram", "address": 0}}, "data": {"seed": 1} })";

class Mutator {
public:
    explicit Mutator(std::uint32_t seed) : random_(seed) {}

    std::string operator()(std::string text)
    {
        static const char* const kPieces[] = {"-1",        "0",
                                              "1e400",     "99999999999999999999",
                                              "1.5",       "null",
                                              "true",      "[",
                                              "]",         "{",
                                              "}",         "\"",
                                              "\\u0000",   "\xff",
                                              "8192",      "8193",
                                              "\"fp16\"",  "\"deconv2d\"",
                                              "\"T_R8\"",  "\"winograd\"",
                                              ",",         ":",
                                              "32",        "31",
                                              "4294967296"};
        for (std::uint32_t times = 1 + random_() % 3; times-- > 0;) {
            const std::size_t at = random_() % (text.size() + 1), length = random_() % 6;
            switch (random_() % 4) {
                case 0:
                    text.erase(std::min(at, text.size()), length);
                    break;
                case 1:
                    text.insert(at, kPieces[random_() % std::size(kPieces)]);
                    break;
                case 2:
                    number(text);
                    break;
                default:
                    if (at < text.size()) text[at] = static_cast<char>(random_());
                    break;
            }
        }
        return text;
    }

private:
    /// Replaces one of the numbers or words of the file.
    void number(std::string& text)
    {
        static const char* const kValues[] = {"0",   "1",    "2",    "7",  "31",  "32",        "33", "63",
                                              "255", "1000", "8192", "-3", "0.5", "\"int16\"", "1e9"};
        std::size_t at = random_() % text.size();
        at = text.find_first_of("0123456789", at);
        if (at == std::string::npos) return;
        const std::size_t end = text.find_first_not_of("0123456789", at);
        text.replace(at, end - at, kValues[random_() % std::size(kValues)]);
    }
    std::mt19937 random_;
};

/// Counts what was taken and what was refused; anything else ends the test.
template <class Action>
void attempt(Action action, int& taken, int& refused)
{
    try {
        action();
        ++taken;
    } catch (const ConfigError& error) {
        ASSERT_NE(std::string(error.what()), "");
        ++refused;
    }
}

TEST(ReaderFuzz, LayersAreTakenOrRefusedAndPlannedOrRefused)
{
    Mutator mutate(1);
    for (const char* good : {kLayer, kPost, kSdp}) {
        int taken = 0, refused = 0;
        for (int trial = 0; trial < 10000; ++trial) {
            const std::string text = mutate(good);
            SCOPED_TRACE(text);
            attempt(
                [&] {
                    const Layer layer = layer_from_json(parse_json(text, "l.json"), "l.json", "", "");
                    plan_shape(layer, *find_preset("nv_full"));
                    if (good == kLayer) plan_shape(layer, *find_preset("nv_small"));
                },
                taken, refused);
        }
        EXPECT_GT(taken, 250);
        EXPECT_GT(refused, 5000);
    }
}

TEST(ReaderFuzz, TransfersAreTakenOrRefusedAndPlannedOrRefused)
{
    Mutator mutate(5);
    for (const char* good : {kCopy, kReshape}) {
        int taken = 0, refused = 0;
        for (int trial = 0; trial < 10000; ++trial) {
            const std::string text = mutate(good);
            SCOPED_TRACE(text);
            attempt(
                [&] {
                    const Json json = parse_json(text, "t.json");
                    if (!is_transfer(json)) throw ConfigError("t.json", "another operation");
                    plan_transfer(transfer_from_json(json, "t.json", "", ""), *find_preset("nv_full"));
                },
                taken, refused);
        }
        EXPECT_GT(taken, 250);
        EXPECT_GT(refused, 5000);
    }
}

TEST(ReaderFuzz, HardwareIsTakenOrRefused)
{
    Mutator mutate(2);
    int taken = 0, refused = 0;
    const std::string good = hardware_json(*find_preset("nv_small")).dump();
    for (int trial = 0; trial < 20000; ++trial) {
        const std::string text = mutate(good);
        SCOPED_TRACE(text);
        attempt([&] { read_hardware(parse_json(text, "hw.json"), "hw.json", ""); }, taken, refused);
    }
    EXPECT_GT(taken, 100);
    EXPECT_GT(refused, 5000);
}

TEST(ReaderFuzz, MemoriesAndSettingsAreTakenOrRefused)
{
    Mutator mutate(3);
    int taken = 0, refused = 0;
    for (int trial = 0; trial < 20000; ++trial) {
        attempt([&] { parse_memory(mutate("ideal:latency=32,interval=1,write_latency=8")); }, taken, refused);
        attempt([&] { load_hardware("nv_large", {mutate("cbuf.banks=16")}); }, taken, refused);
    }
    EXPECT_GT(refused, 5000);
}

TEST(ReaderFuzz, NumpyFilesAreTakenOrRefused)
{
    Mutator mutate(4);
    int taken = 0, refused = 0;
    const std::string path = testing::TempDir() + "dlasim_fuzz." + std::to_string(::getpid()) + ".npy";
    const std::string good = npy_bytes("|i1", {2, 3}, {1, 2, 3, 4, 5, 6});
    for (int trial = 0; trial < 2000; ++trial) {
        std::ofstream(path, std::ios::binary) << mutate(good);
        attempt([&] { read_npy(path, {"|i1", "<i2"}, {2, 3}, "/data/input"); }, taken, refused);
    }
    std::filesystem::remove(path);
    EXPECT_GT(refused, 200);
}

}  // namespace
}  // namespace dlasim
