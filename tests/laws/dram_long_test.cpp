// A hundred million commands of random traffic on every preset, each preset in all its variants.
#include <gmock/gmock.h>

#include "dram/read/reader.h"
#include "dram_traffic.h"

namespace dlasim::dram {
namespace {

class EveryPreset : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(DramLong, EveryPreset, testing::ValuesIn(preset_names()), [](const auto& info) {
    std::string name = info.param;
    std::replace(name.begin(), name.end(), '-', '_');
    return name;
});

TEST_P(EveryPreset, AHundredMillionCommandsBreakNoRule)
{
    const auto options = variants(GetParam(), read_config(GetParam()).organisation.rank_bytes() >> 20);
    const std::uint64_t each = 100'000'000 / options.size() + 1;
    std::uint64_t commands = 0;
    for (const auto& option : options) {
        const TrafficResult run = run_traffic(read_config(GetParam(), option), 11, each, kNever, false, false);
        ASSERT_EQ(run.violations, 0u) << run.first_violation;
        commands += run.commands;
    }
    EXPECT_GE(commands, 100'000'000u);
}

}  // namespace
}  // namespace dlasim::dram
