// The checker finds every seeded violation: for each row of each constraint table, and each pair of
// commands it joins, the second one cycle too early is reported under that row, and on time is not.
#include <gmock/gmock.h>

#include "dram/check/checker.h"
#include "dram/read/reader.h"

namespace dlasim::dram {
namespace dram_checker_test {

constexpr Cycle kStart = 1'000'000;  // far from the beginning, where nothing constrains yet

std::vector<std::string> all_devices()
{
    std::vector<std::string> names = preset_names();
    for (const std::string& name : preset_names(true)) names.push_back(name);
    return names;
}

/// The same device with two ranks: rows between ranks need them.
Config with_two_ranks(const std::string& name)
{
    const Config one = read_config(name);
    return read_config(name, {{"organisation.channel_mib", std::to_string(2 * (one.organisation.rank_bytes() >> 20))}});
}

/// A place that stands to the first bank as the scope says.
Location related(Scope scope)
{
    switch (scope) {
        case Scope::Bank:
        case Scope::Group:
        case Scope::Rank:
            return {};
        case Scope::OtherGroups:
            return {0, 0, 1, 0, 0, 0};
        case Scope::OtherBanks:
            return {0, 0, 0, 1, 0, 0};
        case Scope::OtherRanks:
            return {0, 1, 0, 0, 0, 0};
    }
    return {};
}

bool reports(const Config& config, const Constraint& row, Command from, Command to, Cycle gap)
{
    Checker checker{config};
    const Location first{}, second = related(row.scope);
    Cycle at = kStart;
    for (std::uint32_t i = 0; i < row.after; ++i) {
        Location bank = first;  // a window: each in a bank of its own, all in the first cycle's distance
        if (row.after > 1) bank = {0, 0, i % config.organisation.bank_groups, i / config.organisation.bank_groups, 0, 0};
        checker.see({at, from, bank, 0});
    }
    Location last = second;
    if (row.after > 1) last = {0, 0, row.after % config.organisation.bank_groups, row.after / config.organisation.bank_groups, 0, 0};
    checker.see({at + gap, to, last, 0});
    return checker.violated(row.rule);
}

class CheckedDevice : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Dram, CheckedDevice, testing::ValuesIn(all_devices()), [](const auto& info) {
    std::string name = info.param;
    std::replace(name.begin(), name.end(), '-', '_');
    return name;
});

TEST_P(CheckedDevice, EveryRowIsFoundOneCycleEarlyAndNotOnTime)
{
    const Config config = with_two_ranks(GetParam());
    std::size_t seeded = 0;
    for (const Constraint& row : config.constraints) {
        if (row.gap <= 0) continue;  // holds by itself
        if (row.scope == Scope::OtherGroups && config.organisation.bank_groups == 1) continue;
        for (Command from : row.from)
            for (Command to : row.to) {
                const auto gap = static_cast<Cycle>(row.gap);
                const Cycle wrong = row.at_most ? gap + 1 : gap - 1;
                EXPECT_TRUE(reports(config, row, from, to, wrong))
                    << "row " << row.rule << ": " << name(from) << " to " << name(to) << " in " << wrong;
                EXPECT_FALSE(reports(config, row, from, to, gap))
                    << "row " << row.rule << ": " << name(from) << " to " << name(to) << " in " << gap;
                ++seeded;
            }
    }
    EXPECT_GT(seeded, 40u);
}

/// A log of commands, and what the checker says of it.
struct Log {
    Config config = read_config("ddr4-2400");
    Checker checker{config};
    Cycle at = kStart / 100;  // within the first refresh interval

    Log& see(Cycle after, Command command, Location where = {})
    {
        at += after;
        checker.see({at, command, where, 0});
        return *this;
    }
};

TEST(DramChecker, ALegalLogIsFoundLegal)
{
    Log log;
    log.at = 100;
    log.see(0, Command::Act).see(17, Command::Rd).see(6, Command::Rd).see(33, Command::Pre).see(17, Command::RefAll);
    log.checker.finish(log.at);
    EXPECT_EQ(log.checker.count(), 0u) << log.checker.violations().front().what;
    EXPECT_EQ(log.checker.commands(), 5u);
}

TEST(DramChecker, ColumnCommandsNeedTheirRow)
{
    Log closed, other;
    closed.see(0, Command::Rd);
    EXPECT_TRUE(closed.checker.violated("state"));
    other.see(0, Command::Act).see(17, Command::Rd, {0, 0, 0, 0, 1, 0});
    EXPECT_TRUE(other.checker.violated("state"));
}

TEST(DramChecker, AnOpenBankIsNeitherOpenedNorRefreshed)
{
    Log opened, refreshed, slept;
    opened.see(0, Command::Act).see(100, Command::Act);
    EXPECT_TRUE(opened.checker.violated("state"));
    refreshed.see(0, Command::Act).see(100, Command::RefAll);
    EXPECT_TRUE(refreshed.checker.violated("state"));
    slept.see(0, Command::Act).see(100, Command::SrefEnter);
    EXPECT_TRUE(slept.checker.violated("state"));
}

TEST(DramChecker, ARankInPowerDownTakesNoCommand)
{
    Log log;
    log.see(0, Command::PdEnter).see(100, Command::Act);
    EXPECT_TRUE(log.checker.violated("state"));
    Log awake;
    awake.see(0, Command::PdExit);
    EXPECT_TRUE(awake.checker.violated("state"));
}

TEST(DramChecker, TwoCommandsDoNotShareACycleOfTheBus)
{
    Log log;
    log.see(0, Command::Act).see(0, Command::Pre, {0, 0, 1, 0, 0, 0});
    EXPECT_TRUE(log.checker.violated("command_bus"));

    // HBM2 has a bus for rows and one for columns; ACT takes two cycles of the first.
    const Config hbm = read_config("hbm2");
    Checker row_and_column{hbm}, two_rows{hbm};
    row_and_column.see({500, Command::Act, {}, 0});
    row_and_column.see({500, Command::Rd, {0, 0, 1, 0, 0, 0}, 0});
    EXPECT_FALSE(row_and_column.violated("command_bus"));
    two_rows.see({500, Command::Act, {}, 0});
    two_rows.see({501, Command::Pre, {0, 0, 1, 0, 0, 0}, 0});
    EXPECT_TRUE(two_rows.violated("command_bus"));
}

TEST(DramChecker, BurstsDoNotOverlapOnTheDataBus)
{
    // Whatever the table says: WL 12 after RL 17, the write's data meet the read's.
    Log log;
    log.see(0, Command::Rd).see(5, Command::Wr);
    EXPECT_TRUE(log.checker.violated("data_bus"));
    Log apart;
    apart.see(0, Command::Rd).see(9, Command::Wr);
    EXPECT_FALSE(apart.checker.violated("data_bus"));
}

TEST(DramChecker, TheWriteClockMustRun)
{
    const Config config = read_config("lpddr5-6400");
    Checker without{config}, with{config}, late{config};
    without.see({500, Command::Rd, {}, 0});
    EXPECT_TRUE(without.violated("write_clock"));
    with.see({499, Command::Cas, {}, 0});
    with.see({500, Command::Rd, {}, 0});
    with.see({522, Command::Rd, {}, 0});  // RL 17 + BL/n 4 + tWCKPST 1 after the first
    EXPECT_FALSE(with.violated("write_clock"));
    late.see({499, Command::Cas, {}, 0});
    late.see({500, Command::Rd, {}, 0});
    late.see({523, Command::Rd, {}, 0});
    EXPECT_TRUE(late.violated("write_clock"));
}

TEST(DramChecker, TheSecondPartOfAnActivationComesWithinEightCycles)
{
    const Config config = read_config("lpddr5-6400");
    Checker missing{config};
    missing.see({500, Command::Act, {}, 0});
    missing.finish(509);
    EXPECT_TRUE(missing.violated("A2"));
}

TEST(DramChecker, RefreshesThatStayAwayAreMissed)
{
    const Config config = read_config("ddr4-2400");  // tREFI 9363, eight may be postponed
    Checker in_time{config}, late{config}, never{config};
    in_time.see({9363 * 10, Command::RefAll, {}, 0});
    EXPECT_FALSE(in_time.violated("refresh"));
    late.see({9363 * 10 + 1, Command::RefAll, {}, 0});
    EXPECT_TRUE(late.violated("refresh"));
    never.finish(9363 * 10 + 1);
    EXPECT_TRUE(never.violated("refresh"));
}

TEST(DramChecker, PlacesOutsideTheOrganisationAreFound)
{
    Log log;
    log.see(0, Command::Act, {0, 0, 4, 0, 0, 0});
    EXPECT_TRUE(log.checker.violated("place"));
}

}  // namespace dram_checker_test
}  // namespace dlasim::dram
