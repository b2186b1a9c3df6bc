// Hardware files, --set and the rules. Source of the sizes: hardware/README.md.
#include <gmock/gmock.h>

#include "config/machine/hardware.h"
#include "config/machine/measured.h"
#include "config/warning.h"
#include "facts/presets.h"
#include "refusal.h"

namespace dlasim {
namespace hardware_config_test {

using testing::HasSubstr;

std::string refused(const std::string& preset, const std::vector<std::string>& settings)
{
    return refusal([&] { load_hardware(preset, settings); });
}
std::string refused_file(const std::string& text)
{
    return refusal([&] { read_hardware(parse_json(text, "hw.json"), "hw.json", ""); });
}

TEST(HardwareConfig, EveryPresetObeysTheRulesAndReadsBackAsItself)
{
    for (const Hardware& hw : presets()) {
        const std::string text = hardware_json(hw).dump();
        const Hardware again = read_hardware(parse_json(text, "hw.json"), "hw.json", "");
        EXPECT_EQ(hardware_json(again).dump(), text) << hw.name;
    }
}

TEST(HardwareConfig, AFileIsLaidOverItsPreset)
{
    const Hardware hw =
        read_hardware(parse_json(R"({"preset": "nv_small", "mac": {"atomic_c": 16}, "cbuf": {"banks": 16}})", "hw.json"), "hw.json", "");
    EXPECT_EQ(hw.mac.atomic_c, 16u);
    EXPECT_EQ(hw.mac.atomic_k, 8u);
    EXPECT_EQ(hw.cbuf.banks, 16u);
    EXPECT_EQ(hw.cbuf.bank_depth, 512u);
}

TEST(HardwareConfig, AnEntryFollowsTheChannelsAndAnAtomTheKernels)
{
    const Hardware hw = load_hardware("nv_small", {"mac.atomic_c=32", "mac.atomic_k=16"});
    EXPECT_EQ(hw.cbuf.entry_bytes, 32u);
    EXPECT_EQ(hw.memory.atom_bytes, 16u);
    EXPECT_EQ(hw.memory.primary.width_bytes, 16u);
}

TEST(HardwareConfig, ReadCreditsFollowTheLatencyUnlessGiven)
{
    // max(4, ceil(latency * min(throughput, width / 32 bit) / width bytes)), sdp.md 2.8
    EXPECT_EQ(load_hardware("nv_small").fabric.read_credit[5], 16u);
    EXPECT_EQ(load_hardware("nv_small", {"memory.fifo_cover_cycles=256"}).fabric.read_credit[5], 64u);
    EXPECT_EQ(load_hardware("nv_small", {"memory.fifo_cover_cycles=256", "fabric.read_credit.sdp_bs=20"}).fabric.read_credit[5], 20u);
}

// fabric.md 1.1 to 1.3, from both sides of every limit.
TEST(HardwareConfig, CreditsThatStopAClientForEverAreRefused)
{
    const auto credit = [](const std::string& client, int value) { return "fabric.read_credit." + client + "=" + std::to_string(value); };
    for (const char* preset : {"nv_full", "nv_small"})
        for (const char* client : {"cdma_data", "cdma_weight"}) {
            EXPECT_THAT(refused(preset, {credit(client, 64)}), HasSubstr("expected 0, unlimited: CDMA returns no credits")) << client;
            EXPECT_EQ(refused(preset, {credit(client, 0)}), "nothing was refused");
        }
    // An odd start and a last chunk of eight atoms: (7 + 1) / 2 + 1 beats.
    for (const char* client : {"bdma", "sdp", "pdp", "cdp", "rubik", "sdp_bs", "sdp_bn", "sdp_ew"}) {
        EXPECT_THAT(refused("nv_full", {credit(client, 4)}), HasSubstr(" = 4, expected at least 5: ")) << client;
        EXPECT_THAT(refused("nv_full", {credit(client, 0)}), HasSubstr(" = 0, expected at least 5: ")) << client;
        EXPECT_EQ(refused("nv_full", {credit(client, 5)}), "nothing was refused") << client;
    }
    EXPECT_THAT(refused("nv_full", {credit("bdma", 246)}), HasSubstr("at most 245: the FIFO of"));
    EXPECT_THAT(refused("nv_full", {credit("rubik", 81)}), HasSubstr("at most 80: the FIFO of"));
    EXPECT_THAT(refused("nv_full", {credit("sdp_bs", 256)}), HasSubstr("at most 255: the credit counter has eight bits"));
    EXPECT_THAT(refused("nv_large", {credit("sdp_bs", 512)}), HasSubstr("at most 511: the credit counter has nine bits"));
    // A chunk of the configurable generation has the atoms of a burst, of the longer one of two ports.
    EXPECT_EQ(refused("nv_small", {credit("sdp", 1)}), "nothing was refused");
    EXPECT_THAT(refused("nv_small", {credit("sdp", 0)}), HasSubstr("at least 1"));
    EXPECT_THAT(refused("nv_medium_512", {credit("sdp_bn", 3)}), HasSubstr("at least 4"));
    EXPECT_EQ(refused("nv_medium_512", {credit("sdp_bn", 4)}), "nothing was refused");
    EXPECT_THAT(refused("nv_large", {"memory.secondary.burst_beats=4", credit("sdp_ew", 3)}), HasSubstr("at least 4"));
    // What a machine has not got has no rule.
    EXPECT_EQ(refused("nv_small", {credit("bdma", 1), credit("rubik", 1), credit("sdp_ew", 1)}), "nothing was refused");
}

TEST(HardwareConfig, AFormerNameIsReadWithAWarning)
{
    static std::vector<std::string> warnings;
    const WarningHandler before = set_warning_handler([](const std::string& text) { warnings.push_back(text); });
    const std::string old = R"({"preset": "nv_small", "memory": {"latency": 256}})";
    const Hardware hw = read_hardware(parse_json(old, "hw.json"), "hw.json", "");
    const Hardware again = load_hardware("nv_small", {"memory.latency=256"});
    set_warning_handler(before);
    EXPECT_EQ(hw.memory.fifo_cover_cycles, 256u);
    EXPECT_EQ(hw.fabric.read_credit[5], 64u);
    EXPECT_EQ(hardware_json(again), hardware_json(hw));
    EXPECT_EQ(hardware_json(hw)["memory"].count("latency"), 0u);
    ASSERT_EQ(warnings.size(), 1u);  // once, however often it is read
    EXPECT_THAT(warnings[0], HasSubstr("\"memory.latency\" of the hardware is called \"memory.fifo_cover_cycles\""));
    EXPECT_THAT(refused_file(R"({"preset": "nv_small", "memory": {"latency": 256, "fifo_cover_cycles": 64}})"),
                HasSubstr("expected only one of them"));
}

TEST(HardwareConfig, SizesBetweenThePresetsAreLegal)
{
    EXPECT_EQ(load_hardware("nv_large", {"mac.atomic_c=16", "mac.atomic_k=16", "cbuf.banks=24"}).cbuf.banks, 24u);
    EXPECT_EQ(load_hardware("nv_full", {"cbuf.banks=8"}).cbuf.banks, 8u);
    const Hardware half = load_hardware("nv_full", {"mac.atomic_c=32"});
    EXPECT_EQ(half.cbuf.entry_bytes, 64u);
    EXPECT_FALSE(half.winograd);
}

TEST(HardwareConfig, OnlyTheConfigurationsOfTheReferenceAreMeasured)
{
    for (const char* name : {"nv_full", "nv_large", "nv_medium_512", "nv_small_256", "nv_small"}) {
        EXPECT_TRUE(is_measured(load_hardware(name), true)) << name;
        EXPECT_TRUE(is_measured(load_hardware(name, {"clock_mhz=500"}), true)) << name;
        EXPECT_FALSE(is_measured(load_hardware(name, {"cbuf.banks=8"}), false)) << name;
    }
    EXPECT_FALSE(is_measured(load_hardware("nv_full", {"mac.atomic_c=32"}), false));
    EXPECT_FALSE(is_measured(load_hardware("nv_medium_1024_full"), false));  // no case of it
    EXPECT_FALSE(is_measured(load_hardware("nv_small_256_full"), false));
}

// open_points.md E8.
TEST(HardwareConfig, TwoMachinesBeyondThePresetsAreMeasured)
{
    const Hardware wide = load_hardware("nv_large", {"mac.atomic_c=128"});
    EXPECT_EQ(wide.cbuf.entry_bytes, 128u);
    EXPECT_TRUE(is_measured(wide, false));
    EXPECT_FALSE(is_measured(wide, true));  // a stripe of 128 in a field of seven bits
    EXPECT_TRUE(is_measured(load_hardware("nv_small", {"cbuf.banks=16", "cbuf.bank_depth=128"}), true));
    EXPECT_FALSE(is_measured(load_hardware("nv_small", {"cbuf.banks=16"}), false));
    for (const char* cells : {"mac.atomic_c=64", "mac.atomic_c=128"})
        EXPECT_FALSE(is_measured(load_hardware("nv_large", {cells, "mac.atomic_k=64"}), false)) << cells;
}

TEST(HardwareConfig, ARuleThatIsBrokenIsNamed)
{
    EXPECT_THAT(refused("nv_small", {"cbuf.entry_bytes=16"}), HasSubstr("entry_bytes = atomic_c"));
    EXPECT_THAT(refused("nv_large", {"mac.atomic_c=64", "mac.atomic_k=8"}), HasSubstr("atomic_c / atomic_k of 1, 2 or 4"));
    EXPECT_THAT(refused("nv_small", {"mac.atomic_c=12"}), HasSubstr("a power of two in 8..128"));
    EXPECT_EQ(load_hardware("nv_large", {"mac.atomic_c=64", "mac.atomic_k=64"}).memory.primary.width_bytes, 64u);
    EXPECT_THAT(refused("nv_large", {"mac.atomic_c=128", "mac.atomic_k=128"}), HasSubstr("a power of two in 8..64"));
    EXPECT_EQ(load_hardware("nv_large", {"mac.atomic_c=128"}).cbuf.entry_bytes, 128u);
    EXPECT_THAT(refused("nv_small", {"memory.atom_bytes=16"}), HasSubstr("atom_bytes = atomic_k"));
    EXPECT_THAT(refused("nv_small", {"memory.primary.width_bytes=16"}), HasSubstr("a data beat is one atom"));
    EXPECT_THAT(refused("nv_small", {"memory.primary.burst_beats=3"}), HasSubstr("a power of two in 1..4"));
    EXPECT_THAT(refused("nv_small", {"cbuf.bank_depth=500"}), HasSubstr("a power of two"));
    EXPECT_THAT(refused("nv_small", {"cbuf.bank_depth=2048"}), HasSubstr("at most 32768 entries"));
    EXPECT_THAT(refused("nv_large", {"sdp.bs_throughput=3"}), HasSubstr("divides atomic_k"));
    EXPECT_THAT(refused("nv_small", {"winograd=true"}), HasSubstr("only nv_full has it"));
    EXPECT_THAT(refused("nv_small", {"sdp.has_lut=true"}), HasSubstr("the tables are in the EW unit"));
    EXPECT_THAT(refused("nv_full", {"mac.atomic_k=32"}), HasSubstr("nv_full's data path is built for it"));
    EXPECT_THAT(refused("nv_full", {"mac.atomic_c=128"}), HasSubstr("a power of two in 32..64"));
    EXPECT_THAT(refused("nv_full", {"cbuf.entry_bytes=64"}), HasSubstr("entry_bytes = 2 * atomic_c"));
    EXPECT_THAT(refused("nv_full", {"mac.atomic_c=32", "winograd=true"}), HasSubstr("all 64 lanes"));
    EXPECT_THAT(refused("nv_full", {"memory.has_secondary=false"}), HasSubstr("it has a port to either memory"));
    EXPECT_THAT(refused("nv_full", {"memory.has_secondary=false", "bdma=false"}), HasSubstr("it has a port to either memory"));
    EXPECT_EQ(refused("nv_full", {"memory.has_secondary=false", "bdma=false", "rubik=false"}), "nothing was refused");
    EXPECT_THAT(refused("nv_full", {"cbuf.banks=24"}), HasSubstr("four bits"));
}

TEST(HardwareConfig, ASlipOfThePenIsAnErrorWithTheNearestName)
{
    EXPECT_THAT(refused_file(R"({"preset": "nv_smal"})"), HasSubstr("did you mean \"nv_small\""));
    EXPECT_THAT(refused_file(R"({"preset": "nv_small", "cbuf": {"bank": 16}})"),
                HasSubstr("hw.json: /cbuf/bank: unknown key (did you mean \"banks\"?)"));
    EXPECT_THAT(refused("nv_small", {"cbuf.bank=16"}), HasSubstr("did you mean \"cbuf.banks\""));
    EXPECT_THAT(refused("nv_small", {"cbuf.banks"}), HasSubstr("expected PATH=VALUE"));
}

TEST(HardwareConfig, WrongTypesAndRangesAreRefusedWithPlaceFoundAndExpected)
{
    EXPECT_THAT(refused_file(R"({"preset": "nv_small", "cbuf": {"banks": "16"}})"),
                HasSubstr("hw.json: /cbuf/banks: found \"16\", expected a whole number in 2..32"));
    EXPECT_THAT(refused_file(R"({"preset": "nv_small", "cbuf": {"banks": 33}})"), HasSubstr("found 33"));
    EXPECT_THAT(refused_file(R"({"preset": "nv_small", "cbuf": 16})"), HasSubstr("/cbuf: found 16, expected an object"));
    EXPECT_THAT(refused_file(R"({"cbuf": {"banks": 16}})"), HasSubstr("/preset: is missing"));
    EXPECT_THAT(refused_file(R"({"preset": "nv_small", "winograd": 1})"), HasSubstr("expected true or false"));
    EXPECT_THAT(refused_file(R"({"preset": "nv_small", "generation": "full"})"), HasSubstr("expected \"configurable\""));
    EXPECT_THAT(refused("nv_small", {"cbuf.banks=-1"}), HasSubstr("found -1"));
    EXPECT_THAT(refused("no_such_file.json", {}), HasSubstr("cannot be opened"));
}

}  // namespace hardware_config_test
}  // namespace dlasim
