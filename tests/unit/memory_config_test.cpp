// --memory SPEC: interfaces.md 1 and 4.
#include <gmock/gmock.h>

#include "config/memory.h"
#include "refusal.h"

namespace dlasim {
namespace {

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

}  // namespace
}  // namespace dlasim
