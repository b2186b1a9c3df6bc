// What holds for all traffic: no row of the constraint table is broken, every request is answered
// once, every data-bus cycle has one owner, and skipping equals stepping.
#include <gmock/gmock.h>

#include "../unit/rounds.h"
#include "dram/check/stream.h"
#include "dram/controller.h"
#include "dram/read/reader.h"
#include "dram_traffic.h"

namespace dlasim::dram {
namespace dram_laws_test {

struct Case {
    std::string preset;
    std::map<std::string, std::string> options;
    Config config() const { return read_config(preset, options); }
};

void PrintTo(const Case& it, std::ostream* out)
{
    *out << it.preset;
    for (const auto& [key, value] : it.options) *out << ' ' << key << '=' << value;
}

std::vector<Case> all_cases()
{
    std::vector<Case> cases;
    for (const std::string& preset : preset_names())
        for (const auto& options : variants(preset, read_config(preset).organisation.rank_bytes() >> 20))
            cases.push_back({preset, options});
    for (const std::string& preset : preset_names(true)) cases.push_back({preset, {}});
    return cases;
}

class EveryDram : public testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(Laws, EveryDram, testing::ValuesIn(all_cases()), [](const auto& info) {
    std::string name = info.param.preset;
    for (const auto& [key, value] : info.param.options) name += "_" + value;
    std::replace_if(
        name.begin(), name.end(), [](char c) { return !std::isalnum(static_cast<unsigned char>(c)); }, '_');
    return name;
});

TEST_P(EveryDram, RandomTrafficBreaksNoRule)
{
    const TrafficResult run = run_traffic(GetParam().config(), 1, 200'000, kNever, false, false);
    EXPECT_EQ(run.violations, 0u) << run.first_violation;
    EXPECT_GE(run.commands, 200'000u);
}

TEST_P(EveryDram, SkipsAndSingleStepsAgree)
{
    const Config config = GetParam().config();
    for (unsigned seed = 1; seed < 4; ++seed) {
        const TrafficResult stepped = run_traffic(config, seed, UINT64_MAX, 60'000, true);
        const TrafficResult skipped = run_traffic(config, seed, UINT64_MAX, 60'000, false);
        ASSERT_EQ(skipped.pushed, stepped.pushed);
        ASSERT_EQ(skipped.completions.size(), stepped.completions.size());
        for (std::size_t i = 0; i < skipped.completions.size(); ++i) {
            ASSERT_EQ(skipped.completions[i].id, stepped.completions[i].id);
            ASSERT_EQ(skipped.completions[i].at, stepped.completions[i].at);
        }
        EXPECT_EQ(skipped.statistics.commands, stepped.statistics.commands);
        EXPECT_EQ(skipped.statistics.busy, stepped.statistics.busy);
        EXPECT_EQ(skipped.statistics.lost, stepped.statistics.lost);
        EXPECT_EQ(skipped.statistics.lost_to_row, stepped.statistics.lost_to_row);
        EXPECT_EQ(skipped.statistics.rank_cycles, stepped.statistics.rank_cycles);
        EXPECT_EQ(skipped.statistics.banks, stepped.statistics.banks);
        EXPECT_EQ(skipped.statistics.read_queue_cycles, stepped.statistics.read_queue_cycles);
    }
}

/// Plans anew after every request, whatever it leaves as it is.
class ForgetfulController : public Controller {
public:
    using Controller::Controller;
    void push(const Request& request, Cycle at) override
    {
        Controller::push(request, at);
        forget_plan();
    }
};

TEST_P(EveryDram, APlanThatIsKeptIsTheOneThatWouldBeMade)
{
    const Config config = GetParam().config();
    if (config.controller.profile != Profile::Default) return;
    for (unsigned seed = 1; seed < 4; ++seed) {
        Controller keeps{config};
        ForgetfulController forgets{config};
        const TrafficResult kept = run_traffic_on(keeps, config, seed, UINT64_MAX, 60'000, false);
        const TrafficResult made = run_traffic_on(forgets, config, seed, UINT64_MAX, 60'000, true);
        ASSERT_EQ(kept.pushed, made.pushed);
        ASSERT_EQ(kept.completions.size(), made.completions.size());
        for (std::size_t i = 0; i < kept.completions.size(); ++i) {
            ASSERT_EQ(kept.completions[i].id, made.completions[i].id);
            ASSERT_EQ(kept.completions[i].at, made.completions[i].at) << kept.completions[i].id;
        }
        EXPECT_EQ(kept.statistics.commands, made.statistics.commands);
    }
}

/// Decides everything otherwise than configured, by what it is asked about.
class Contrary final : public DramPolicy {
public:
    DramOrder order(const DramCandidate& candidate, const DramOrder& configured) const override
    {
        return {configured.tier == 0 ? 0 : 1 + (candidate.at.row + candidate.at.bank) % 3, ~candidate.arrival};
    }
    bool younger_hit_first(const DramBank& bank, bool configured) const override
    {
        return bank.columns % 2 == 0 ? configured : !configured;
    }
    bool closes_row(const DramBank& bank, bool configured) const override { return bank.open.bank % 2 == 0 ? !bank.hits : !configured; }
    bool refreshes_now(const DramRefresh& refresh) const override { return refresh.rank % 2 == 0; }
};

TEST_P(EveryDram, NoPolicyBreaksARule)
{
    const Config config = GetParam().config();
    if (config.controller.profile != Profile::Default) return;
    const Contrary contrary;
    const auto run = [&](const DramPolicy* policy, bool stepping) {
        Controller controller(config, policy);
        return run_traffic_on(controller, config, 5, UINT64_MAX, 60'000, stepping);
    };
    const TrafficResult configured = run(nullptr, false), skipped = run(&contrary, false), stepped = run(&contrary, true);
    EXPECT_EQ(skipped.violations, 0u) << skipped.first_violation;
    EXPECT_NE(skipped.statistics.commands, configured.statistics.commands);
    ASSERT_EQ(skipped.pushed, stepped.pushed);
    ASSERT_EQ(skipped.completions.size(), stepped.completions.size());
    std::vector<std::uint8_t> answers(skipped.pushed);
    for (std::size_t i = 0; i < skipped.completions.size(); ++i) {
        ASSERT_EQ(skipped.completions[i].id, stepped.completions[i].id);
        ASSERT_EQ(skipped.completions[i].at, stepped.completions[i].at);
        ASSERT_EQ(++answers[skipped.completions[i].id], 1) << skipped.completions[i].id;
    }
    EXPECT_EQ(skipped.statistics.commands, stepped.statistics.commands);
}

/// A class that overrides nothing.
TEST_P(EveryDram, APolicyThatSaysWhatIsConfiguredChangesNothing)
{
    const Config config = GetParam().config();
    if (config.controller.profile != Profile::Default) return;
    const DramPolicy as_configured;
    Controller without(config), with(config, &as_configured);
    const TrafficResult plain = run_traffic_on(without, config, 2, UINT64_MAX, 60'000, false);
    const TrafficResult asked = run_traffic_on(with, config, 2, UINT64_MAX, 60'000, false);
    ASSERT_EQ(plain.pushed, asked.pushed);
    ASSERT_EQ(plain.completions.size(), asked.completions.size());
    for (std::size_t i = 0; i < plain.completions.size(); ++i) ASSERT_EQ(plain.completions[i].at, asked.completions[i].at) << i;
    EXPECT_EQ(plain.statistics.commands, asked.statistics.commands);
    EXPECT_EQ(plain.statistics.lost_to_row, asked.statistics.lost_to_row);
}

TEST_P(EveryDram, EveryDataBusCycleHasOneOwner)
{
    const Statistics s = run_traffic(GetParam().config(), 7, UINT64_MAX, 300'000, false, false).statistics;
    Cycle sum = s.busy;
    for (Cycle lost : s.lost) sum += lost;
    for (Cycle lost : s.lost_to_row) sum += lost;
    EXPECT_EQ(sum, s.bus_cycles);
    Cycle states = 0, queue = 0;
    for (Cycle state : s.rank_cycles) states += state;
    for (Cycle at : s.read_queue_cycles) queue += at;
    EXPECT_EQ(states, 300'000u * GetParam().config().organisation.ranks());
    EXPECT_EQ(queue, 300'000u);
}

TEST_P(EveryDram, EveryRequestIsAnsweredOnceAndInBoundedTime)
{
    const Config config = GetParam().config();
    const TrafficResult run = run_traffic(config, 3, UINT64_MAX, 200'000, false);
    std::vector<std::uint8_t> answers(run.pushed);
    for (const Completion& completion : run.completions) ASSERT_EQ(++answers[completion.id], 1) << completion.id;
    // What is not answered is in the queues and on its way: less than everything that fits.
    const std::size_t missing = run.pushed - run.completions.size();
    EXPECT_LE(missing, config.controller.read_queue + std::size_t{8} * config.organisation.banks_per_channel());
    if (config.controller.profile == Profile::Default) EXPECT_LT(run.statistics.read_latency.max(), 20'000u);
}

/// Activations as dense as they may be do not put off a per-bank refresh.
TEST(DramLaws, BanksAreRefreshedInTimeUnderAnyLoad)
{
    for (const char* preset : {"lpddr4-3200", "lpddr5-6400", "hbm2"}) {
        const Config config = read_config(preset, {{"channels", "1"}, {"refresh", "per_bank"}});
        Checker checker{config};
        StreamRun run;
        run.cycles = rounds(2'000'000);
        run.observer = [&](const Issued& issued) { checker.see(issued); };
        // Bank after bank, a row each: bits of group, column, bank, row from the burst up.
        const Organisation& o = config.organisation;
        const std::uint64_t burst = o.request_bytes(), groups = o.bank_groups, columns = o.columns / o.burst_length;
        run_stream(
            config,
            [&](std::uint64_t i) {
                const std::uint64_t group = i % groups, bank = i / groups % o.banks, row = i / groups / o.banks % o.rows;
                return Access{(((row * o.banks + bank) * columns) * groups + group) * burst, false};
            },
            run);
        EXPECT_EQ(checker.count(), 0u) << checker.violations().front().what;
    }
}

TEST(DramLaws, TheTrafficUsesEveryCommand)
{
    std::array<std::uint64_t, kCommands> used{};
    for (const Case& each : all_cases()) {
        const Statistics s = run_traffic(each.config(), 1, 20'000, kNever, false, false).statistics;
        for (std::size_t c = 0; c < kCommands; ++c) used[c] += s.commands[c];
        EXPECT_GT(s.turnarounds, 0u);
    }
    for (std::size_t c = 0; c < kCommands; ++c) EXPECT_GT(used[c], 0u) << kCommandNames[c];
}

TEST(DramLaws, ATenMillionCyclePauseCostsNothing)
{
    const Config config = read_config("ddr4-2400");
    auto channel = make_channel(config);
    std::uint64_t evaluations = 0;
    for (Cycle now = 0; now < 10'000'000; now = channel->horizon(), ++evaluations) channel->advance(now);
    EXPECT_LT(evaluations, 10'000'000 / 9363 * 6u);  // refresh and power-down only
    EXPECT_EQ(channel->statistics(10'000'000).commands[index(Command::RefAll)], 10'000'000u / 9363);
}

}  // namespace dram_laws_test
}  // namespace dlasim::dram
