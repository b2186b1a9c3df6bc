// Random legal parameters under random traffic: no rule is broken, nothing waits for ever, what goes
// in comes out (V7 of dram.md 10.1).
#include <gmock/gmock.h>

#include "../unit/rounds.h"
#include "base/error.h"
#include "dram/read/reader.h"
#include "dram_traffic.h"

namespace dlasim::dram {
namespace dram_fuzz_test {

/// A preset with every number it may have changed, some to the edge of what is read.
std::map<std::string, std::string> random_options(const Config& preset, std::mt19937_64& random)
{
    const auto pick = [&](std::uint64_t low, std::uint64_t high) { return std::to_string(low + random() % (high - low + 1)); };
    const auto one_of = [&](std::vector<std::string> values) { return values[random() % values.size()]; };
    std::map<std::string, std::string> options{{"channels", "1"}};
    const std::uint64_t write_queue = 1 + random() % 64, high = 1 + random() % write_queue;
    options["controller.read_queue"] = pick(1, 64);
    options["controller.write_queue"] = std::to_string(write_queue);
    options["controller.write_high"] = std::to_string(high);
    options["controller.write_low"] = pick(0, high - 1);
    options["controller.write_age"] = pick(1, 5000);
    options["controller.read_age"] = pick(1, 5000);
    options["controller.hit_cap"] = pick(0, 20);
    options["controller.power_down_after"] = one_of({"0", "1", "7", "64", "1000"});
    options["controller.self_refresh_after"] = one_of({"0", "0", "1", "100", "3000"});
    options["controller.page_limit"] = pick(1, 200);
    options["page_policy"] = one_of({"open", "closed_auto", "closed_cap", "open_adaptive", "closed_adaptive", "timeout"});
    std::vector<std::string> policies{"all_bank_staggered", "all_bank_simultaneous", "none"};
    if (preset.trfcpb != 0) policies.push_back("per_bank");
    options["refresh"] = one_of(policies);
    options["refresh.postpone"] = pick(0, 8);
    if (random() % 2) options["organisation.channel_mib"] = std::to_string(2 * (preset.organisation.rank_bytes() >> 20));
    for (const auto& [name, value] : preset.timing)
        if (value > 0 && random() % 3 == 0 && !name.starts_with("tREFI") && !name.starts_with("tRFC") && name != "AL" &&
            !name.starts_with("BLn") && name != "tAAD")
            options["timing." + name] = pick(value / 2 + 1, value * 2);
    return options;
}

class Fuzz : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(DramFuzz, Fuzz, testing::Range(0, 10));

void try_seed(unsigned seed)
{
    std::mt19937_64 random{seed + 100};
    const std::vector<std::string> presets = preset_names();
    const std::string preset = presets[random() % presets.size()];
    const auto options = random_options(read_config(preset), random);
    std::string said = preset;
    for (const auto& [key, value] : options) said += " " + key + "=" + value;
    SCOPED_TRACE(said);
    const Config config = read_config(preset, options);

    const TrafficResult run = run_traffic(config, seed, UINT64_MAX, 150'000, false);
    EXPECT_EQ(run.violations, 0u) << run.first_violation;
    EXPECT_GT(run.pushed, 100u);
    EXPECT_LT(run.statistics.read_latency.max(), 40'000u);

    // What went in comes out once the traffic has stopped.
    auto channel = make_channel(config);
    std::uint64_t pushed = 0, answered = 0;
    for (Cycle now = 0; now < 60'000; ++now) {
        channel->advance(now);
        for (; !channel->completed().empty(); channel->completed().pop_front()) ++answered;
        if (now < 3'000 && random() % 2 == 0) {
            const Organisation& o = config.organisation;
            const Location at{0,
                              static_cast<std::uint32_t>(random() % o.ranks()),
                              static_cast<std::uint32_t>(random() % o.bank_groups),
                              static_cast<std::uint32_t>(random() % o.banks),
                              static_cast<std::uint32_t>(random() % 4),
                              static_cast<std::uint32_t>(random() % 16)};
            const bool write = random() % 3 == 0;
            if (channel->can_accept(write)) channel->push({pushed++, at, write, 0}, now);
        }
    }
    EXPECT_EQ(answered, pushed);
    EXPECT_FALSE(channel->working());
}

TEST_P(Fuzz, LegalParametersGiveLegalCommandsAndEveryAnswer)
{
    for (unsigned i = 0; i < rounds(60); ++i) try_seed(static_cast<unsigned>(GetParam()) * 60 + i);
}

}  // namespace dram_fuzz_test
}  // namespace dlasim::dram
