// Device files are read strictly, addresses are mapped as the strings say, broken files are refused
// with the place and what would do.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <fstream>

#include "base/error.h"
#include "dram/read/reader.h"

namespace dlasim::dram {
namespace dram_config_test {

using testing::AllOf;
using testing::HasSubstr;

std::string refusal(const std::string& name, const std::map<std::string, std::string>& options = {})
{
    try {
        read_config(name, options);
    } catch (const ConfigError& error) {
        return error.what();
    }
    return "accepted";
}

TEST(DramConfig, PresetsHaveTheBandwidthAndTheSizeOfTheirNames)
{
    const auto check = [](const char* name, double gb_per_s, std::uint64_t gib) {
        const Config config = read_config(name);
        EXPECT_NEAR(config.peak_gb_per_s(), gb_per_s, gb_per_s * 0.002) << name;
        EXPECT_EQ(config.organisation.capacity_bytes() >> 30, gib) << name;
    };
    check("ddr4-2400", 19.2, 8);  // 64 bit x 2400 MT/s
    check("ddr4-3200", 25.6, 8);
    check("lpddr4-3200", 25.6, 4);  // four x16 channels
    check("lpddr5-6400", 51.2, 8);
    check("hbm2", 256, 8);  // 1024 bit x 2000 MT/s
    check("reference-ddr4-2400", 19.28, 16);
}

TEST(DramConfig, DerivedSizesAreComputed)
{
    const Organisation o = read_config("ddr4-2400").organisation;
    EXPECT_EQ(o.devices_per_rank(), 8u);
    EXPECT_EQ(o.request_bytes(), 64u);
    EXPECT_EQ(o.burst_cycles(), 4u);
    EXPECT_EQ(o.ranks(), 1u);
    EXPECT_EQ(o.banks_per_rank(), 16u);
    EXPECT_EQ(read_config("reference-ddr4-2400").organisation.ranks(), 2u);
    EXPECT_EQ(read_config("lpddr5-6400").organisation.burst_cycles(), 2u);  // 16 transfers, 8 a cycle
}

TEST(DramConfig, OptionsAreLaidOverTheFile)
{
    EXPECT_EQ(read_config("ddr4-2400", {{"channels", "2"}}).organisation.capacity_bytes(), std::uint64_t{16} << 30);
    EXPECT_EQ(read_config("ddr4-2400", {{"timing.tRCD", "20"}}).timing.at("tRCD"), 20);
    EXPECT_EQ(read_config("lpddr4-3200", {{"refresh", "per_bank"}}).refresh.interval, 780);
    EXPECT_EQ(read_config("ddr4-2400", {{"base", "0x80000000"}}).base, 0x80000000u);
}

TEST(DramConfig, OnlyAFileThatSaysSoWraps)
{
    EXPECT_TRUE(read_config("hbm2").wrap);
    std::string text = preset_text("hbm2");
    text.erase(text.find("  \"wrap\": true,"), std::string{"  \"wrap\": true,"}.size());
    const std::string path = testing::TempDir() + "/silent_dram.json";
    std::ofstream{path} << text;
    EXPECT_FALSE(read_config(path).wrap);
}

TEST(DramConfig, SlipsOfThePenAreNamed)
{
    EXPECT_THAT(refusal("ddr4-2401"), HasSubstr("did you mean \"ddr4-2400\"?"));
    EXPECT_THAT(refusal("ddr4-2400", {{"chanels", "2"}}), HasSubstr("did you mean \"channels\"?"));
    EXPECT_THAT(refusal("ddr4-2400", {{"timing.tRCDD", "2"}}),
                AllOf(HasSubstr("configs/dram/ddr4-2400.json:/timing/tRCDD"), HasSubstr("did you mean \"tRCD\"?")));
    EXPECT_THAT(refusal("ddr4-2400", {{"controller.read_queu", "2"}}), HasSubstr("did you mean \"read_queue\"?"));
}

TEST(DramConfig, ImpossibleValuesAreRefused)
{
    EXPECT_THAT(refusal("ddr4-2400", {{"channels", "3"}}), HasSubstr("power of two"));
    EXPECT_THAT(refusal("ddr4-2400", {{"channels", "-1"}}), HasSubstr("1..64"));
    EXPECT_THAT(refusal("ddr4-2400", {{"organisation.channel_mib", "100"}}), HasSubstr("ranks of 8192 MiB"));
    EXPECT_THAT(refusal("ddr4-2400", {{"refresh", "per_bank"}}), HasSubstr("no per-bank refresh"));
    EXPECT_THAT(refusal("ddr4-2400", {{"refresh", "sometimes"}}), HasSubstr("all_bank_staggered"));
    EXPECT_THAT(refusal("ddr4-2400", {{"timing.tREFI", "100"}}), HasSubstr("no time between refreshes"));
    EXPECT_THAT(refusal("ddr4-2400", {{"timing.CL", "\"slow\""}}), HasSubstr("an integer"));
    EXPECT_THAT(refusal("ddr4-2400", {{"controller.write_low", "30"}}), HasSubstr("not below write_high"));
    EXPECT_THAT(refusal("ddr4-2400", {{"tCK_ns", "0"}}), HasSubstr("/tCK_ns"));
    EXPECT_THAT(refusal("ddr4-2400", {{"mapping", "rorababgcoco"}}), HasSubstr("appears"));
    EXPECT_THAT(refusal("ddr4-2400", {{"timing.tCK.x", "1"}}), HasSubstr("timing.tCK.x"));
    EXPECT_THAT(refusal("/nonexistent/dram.json"), HasSubstr("cannot be opened"));
}

// dram.md 4, rows 12 to 22: the gaps keep bursts apart on the data bus, or more than the peak would pass.
TEST(DramConfig, AnOrganisationWhoseBurstsWouldOverlapIsRefused)
{
    // 8 transfers, one a cycle: 8 cycles of the bus, but the table's gap is BL/2 = 4.
    EXPECT_THAT(refusal("ddr4-2400", {{"organisation.transfers_per_cycle", "1"}}),
                AllOf(HasSubstr("configs/dram/ddr4-2400.json:/organisation"), HasSubstr("takes 8 cycles of the data bus"),
                      HasSubstr("RD may follow RD to the same bank after 6 cycles, expected at least 8")));
    // The table of a device without bank groups says nothing of them, with one bank a group nothing of others.
    EXPECT_THAT(refusal("lpddr4-3200", {{"organisation.bank_groups", "2"}, {"organisation.banks", "4"}}),
                HasSubstr("RD may follow RD to another bank group after 0 cycles, expected at least 8"));
    // The write's data would come before the read's have passed.
    EXPECT_THAT(refusal("ddr4-2400", {{"organisation.transfers_per_cycle", "1"}, {"timing.tCCD_S", "8"}, {"timing.tCCD_L", "8"}}),
                HasSubstr("WR may follow RD"));
    for (const std::string& preset : preset_names()) EXPECT_EQ(refusal(preset), "accepted");
    for (const std::string& preset : preset_names(true)) EXPECT_EQ(refusal(preset), "accepted");
    EXPECT_EQ(refusal("ddr4-2400", {{"organisation.channel_mib", "16384"}}), "accepted");  // two ranks
}

TEST(DramConfig, MissingKeysAndWrongTypesAreNamed)
{
    const std::string table = "{\"standard\": \"x\"}";
    const auto parse = [&](const std::string& device) {
        try {
            parse_config("d.json", device, "t.json", table);
        } catch (const ConfigError& error) {
            return std::string{error.what()};
        }
        return std::string{"accepted"};
    };
    EXPECT_THAT(parse("{"), HasSubstr("d.json: not JSON"));
    EXPECT_THAT(parse("[]"), HasSubstr("is not a JSON object"));
    EXPECT_THAT(parse("{\"name\": 1}"), HasSubstr("d.json:/name: found 1, a string is needed"));
    EXPECT_THAT(parse("{}"), HasSubstr("d.json:/name: is missing"));
    EXPECT_THAT(parse("{\"name\": \"a\", \"name\": \"b\"}"), HasSubstr("is given twice"));
}

TEST(DramConfig, EveryTruncationOfAPresetIsRefusedNotCrashed)
{
    const std::string text = preset_text("ddr4-2400");
    for (std::size_t length = 0; length + 2 < text.size(); length += 7)
        EXPECT_THROW(parse_config("d.json", text.substr(0, length), "t.json", "{}"), ConfigError);
}

TEST(DramConfig, AFileOfOnesOwnIsRead)
{
    const std::string path = testing::TempDir() + "/own_dram.json";
    std::ofstream{path} << preset_text("ddr4-2400");
    EXPECT_EQ(read_config(path).name, "ddr4-2400");
    EXPECT_EQ(read_config(path, {{"name", "mine"}}).name, "mine");
}

// ---- mappings

/// Every address bit above the burst moves exactly the fields it should: two addresses never meet.
void expect_bijective(const Config& config)
{
    const Organisation& o = config.organisation;
    std::map<std::uint64_t, std::uint64_t> seen;
    std::uint64_t x = 1;
    for (int i = 0; i < 20'000; ++i) {
        x = x * 6364136223846793005u + 1442695040888963407u;
        const std::uint64_t address = (x >> 20) % o.capacity_bytes() / o.request_bytes() * o.request_bytes();
        const Location at = config.mapping.locate(address);
        ASSERT_LT(at.channel, o.channels);
        ASSERT_LT(at.rank, o.ranks());
        ASSERT_LT(at.group, o.bank_groups);
        ASSERT_LT(at.bank, o.banks);
        ASSERT_LT(at.row, o.rows);
        ASSERT_LT(at.column, o.columns / o.burst_length);
        std::uint64_t place = at.row;
        for (auto [value, count] : {std::pair{at.channel, o.channels},
                                    {at.rank, o.ranks()},
                                    {at.group, o.bank_groups},
                                    {at.bank, o.banks},
                                    {at.column, o.columns / o.burst_length}})
            place = place * count + value;
        const auto [found, fresh] = seen.emplace(place, address);
        ASSERT_TRUE(fresh || found->second == address);
    }
}

TEST(DramMapping, EverySchemeOnEveryPresetIsBijective)
{
    for (const std::string& preset : preset_names())
        for (const char* channels : {"1", "2", "4"}) {
            for (const auto& [name, text] : mapping_schemes())
                expect_bijective(read_config(preset, {{"mapping", name}, {"channels", channels}}));
            for (const char* text : {"RoBaRaCoCh", "ChRaBaRoCo", "chrobabgraco"})
                expect_bijective(read_config(preset, {{"mapping", text}, {"channels", channels}}));
        }
}

TEST(DramMapping, FieldsAreTakenFromTheRightEnd)
{
    // Two ranks, 4 groups, 4 banks, 128 bursts a row: co 7 bits from bit 6 on, bg 2, ba 2, ra 1, ro.
    const Config config = read_config("reference-ddr4-2400");
    EXPECT_EQ(config.mapping.locate(0x40), (Location{0, 0, 0, 0, 0, 1}));
    EXPECT_EQ(config.mapping.locate(0x2000), (Location{0, 0, 1, 0, 0, 0}));
    EXPECT_EQ(config.mapping.locate(0x8000), (Location{0, 0, 0, 1, 0, 0}));
    EXPECT_EQ(config.mapping.locate(0x20000), (Location{0, 1, 0, 0, 0, 0}));
    EXPECT_EQ(config.mapping.locate(0x40000), (Location{0, 0, 0, 0, 1, 0}));
}

TEST(DramMapping, Mop4ClXorHashesBanksWithColumns)
{
    // One channel and rank: columns 0-1 from bit 6, group bits 8-9, bank bits 10-11, columns 2-6
    // bits 12-16, row from 17. Group is XORed with columns 0-1, bank with columns 2-3.
    const Config config = read_config("ddr4-2400", {{"mapping", "page_xor"}});
    EXPECT_EQ(config.mapping.locate(1u << 6), (Location{0, 0, 1, 0, 0, 1}));
    EXPECT_EQ(config.mapping.locate(1u << 8), (Location{0, 0, 1, 0, 0, 0}));
    EXPECT_EQ(config.mapping.locate(1u << 12), (Location{0, 0, 0, 1, 0, 4}));
    EXPECT_EQ(config.mapping.locate(1u << 17), (Location{0, 0, 0, 0, 1, 0}));
}

TEST(DramMapping, BitListsMapAnyBitAndAreCheckedForOverlap)
{
    // 33 address bits above... 8 GiB: bits 6..32. A bank bit XORed with a row bit.
    std::string row;
    for (int bit = 17; bit <= 32; ++bit) row += fmt::format("{}{}", row.empty() ? "" : ",", bit);
    const auto mapping = [&](const std::string& bank) {
        return fmt::format(R"({{"group": [6, 7], "bank": [{}], "column": [8,9,10,11,12,13,14], "row": [{}]}})", bank, row);
    };
    const Config config = read_config("ddr4-2400", {{"mapping", mapping("[15, 20], 16")}});
    EXPECT_EQ(config.mapping.locate(1u << 15), (Location{0, 0, 0, 1, 0, 0}));
    EXPECT_EQ(config.mapping.locate(1u << 20), (Location{0, 0, 0, 1, 8, 0}));
    expect_bijective(config);
    EXPECT_THAT(refusal("ddr4-2400", {{"mapping", mapping("20, 16")}}), HasSubstr("depend on each other"));
    EXPECT_THAT(refusal("ddr4-2400", {{"mapping", mapping("15")}}), HasSubstr("ba has 2 bits and 1 are listed"));
    EXPECT_THAT(refusal("ddr4-2400", {{"mapping", mapping("15, 40")}}), HasSubstr("address bit 40 is not in 6..32"));
}

}  // namespace dram_config_test
}  // namespace dlasim::dram
