// --memory SPEC: interfaces.md 1 and 4.
#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "config/machine/memory.h"
#include "dram/read/reader.h"
#include "refusal.h"

namespace dlasim {
namespace memory_config_test {

using testing::HasSubstr;

TEST(MemoryConfig, TheIdealMemoryHasTheDefaultsOfTheMeasuredCases)
{
    const MemorySpec spec = parse_memory("ideal");
    EXPECT_EQ(spec.read_latency, 32u);
    EXPECT_EQ(spec.beat_interval, 1u);
    EXPECT_EQ(spec.write_latency, 8u);
}

TEST(MemoryConfig, OptionsAreRead)
{
    const MemorySpec spec = parse_memory("ideal:latency=100,interval=4,write_latency=9,command_interval=2,write_interval=3");
    EXPECT_EQ(spec.read_latency, 100u);
    EXPECT_EQ(spec.beat_interval, 4u);
    EXPECT_EQ(spec.write_latency, 9u);
    EXPECT_EQ(spec.command_interval, 2u);
    EXPECT_EQ(spec.write_interval, 3u);
    EXPECT_EQ(memory_text(parse_memory(memory_text(spec))), memory_text(spec));
    EXPECT_EQ(parse_memory("ddr4-2400:channels=2").options.at("channels"), "2");
}

/// A file of one's own, gone behind the test.
class MemoryFile : public testing::Test {
protected:
    std::string write(const std::string& text, const std::string& name = "memory.json")
    {
        std::filesystem::create_directories(folder_);
        std::ofstream(folder_ + "/" + name) << text;
        return folder_ + "/" + name;
    }
    void TearDown() override { std::filesystem::remove_all(folder_); }
    std::string folder_ = testing::TempDir() + "dlasim_memory_test." + std::to_string(::getpid()) + ":x";
};

TEST_F(MemoryFile, OfADeviceIsReadOnce)
{
    const std::string file = write(dram::preset_text("ddr4-2400"));
    const MemorySpec spec = parse_memory(file + ":channels=2,timing.tRCD=18");
    EXPECT_EQ(spec.kind, file);
    EXPECT_EQ(memory_text(spec), file + ":channels=2,timing.tRCD=18");
    std::filesystem::remove(file);
    const dram::Config config = dram::read_config(spec);
    EXPECT_EQ(config.organisation.channels, 2u);
    EXPECT_EQ(config.timing.at("tRCD"), 18);
    EXPECT_EQ(config.timing.at("tRP"), 17);
}

TEST_F(MemoryFile, OfAnIdealMemory)
{
    EXPECT_EQ(parse_memory(write(R"({"kind": "ideal", "latency": 99, "interval": 3})")).read_latency, 99u);
    EXPECT_EQ(parse_memory(folder_ + "/memory.json:latency=7").read_latency, 7u);
    EXPECT_EQ(parse_memory(folder_ + "/memory.json:latency=7").beat_interval, 3u);
}

TEST_F(MemoryFile, OfOptionsLaidOverAPresetOrAFile)
{
    write(dram::preset_text("hbm2"), "device.json");
    const std::string over = write(R"({"kind": "device.json", "channels": 4, "timing": {"tRCDRD": 15}, "mapping": {"row": [20]}})");
    const MemorySpec spec = parse_memory(over);
    EXPECT_EQ(spec.kind, folder_ + "/device.json");
    EXPECT_EQ(spec.options.at("channels"), "4");
    EXPECT_EQ(spec.options.at("timing.tRCDRD"), "15");
    EXPECT_EQ(spec.options.at("mapping"), R"({"row":[20]})");
    EXPECT_EQ(parse_memory(write(memory_json(parse_memory("lpddr4-3200:channels=1")).dump())).options.at("channels"), "1");
}

TEST_F(MemoryFile, MistakesAreRefused)
{
    const auto refused = [&](const std::string& text) { return refusal([&] { parse_memory(write(text)); }); };
    EXPECT_THAT(refused("[]"), HasSubstr("memory.json"));
    EXPECT_THAT(refused(R"({"kind": 3})"), HasSubstr("/kind: found 3"));
    EXPECT_THAT(refused(R"({"kind": "memory.json"})"), HasSubstr("expected a preset or a device at the end"));
    EXPECT_THAT(refused(R"({"kind": "ideal", "latncy": 3})"), HasSubstr("/latncy: unknown option \"latncy\" (did you mean \"latency\"?)"));
    EXPECT_THAT(refused(R"({"op": "conv2d"})"), HasSubstr("is a layer, expected a memory: dlasim run takes it"));
    EXPECT_THAT(refusal([] { parse_memory("none.json"); }), HasSubstr("none.json: cannot be opened"));
    EXPECT_THAT(refusal([] { parse_memory("DDR4-2400"); }), HasSubstr("did you mean \"ddr4-2400\""));
    EXPECT_THAT(refusal([] { parse_memory(std::string(5000, 'x')); }), HasSubstr("found 5000 bytes"));
}

/// Whatever is embedded is a name, and no other.
TEST(MemoryConfig, PresetsAreThoseThatAreBuiltIn)
{
    std::vector<std::string> files;
    for (const auto& entry : std::filesystem::directory_iterator(DLASIM_SOURCE "/configs/dram"))
        if (entry.path().extension() == ".json") files.push_back(entry.path().stem().string());
    files.emplace_back("ideal");
    EXPECT_THAT(memory_presets(), testing::UnorderedElementsAreArray(files));
    for (const std::string& name : memory_presets()) EXPECT_NE(memory_description(name), "") << name;
}

TEST(MemoryConfig, MistakesAreRefusedWithWhatWouldDo)
{
    const auto refused = [](const std::string& text) { return refusal([&] { parse_memory(text); }); };
    EXPECT_THAT(refused("idel"), HasSubstr("did you mean \"ideal\""));
    EXPECT_THAT(refused("ideal:latncy=3"), HasSubstr("did you mean \"latency\""));
    EXPECT_THAT(refused("ideal:latency=0"), HasSubstr("found 0, expected a whole number in 1.."));
    EXPECT_THAT(refused("ideal:latency=1.5"), HasSubstr("found 1.5"));
    EXPECT_THAT(refused("ideal:latency=-3"), HasSubstr("found -3"));
    EXPECT_THAT(refused("ideal:latency=x"), HasSubstr("found \"x\""));
    EXPECT_THAT(refused("ideal:latency"), HasSubstr("expected OPTION=VALUE"));
    EXPECT_THAT(refused("ideal:"), HasSubstr("expected OPTION=VALUE"));
    EXPECT_THAT(refused("ideal:latency=3,latency=4"), HasSubstr("given twice"));
}

}  // namespace memory_config_test
}  // namespace dlasim
