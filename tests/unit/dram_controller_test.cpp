// The device and the controllers against hand calculations: rows of the table one by one, streams
// with a closed form, the published command sequence.
#include <gmock/gmock.h>

#include <deque>

#include "dram/check/stream.h"
#include "dram/read/reader.h"
#include "dram/report/energy.h"

namespace dlasim::dram {
namespace dram_controller_test {

Cycle after(const Config& config, const Constraint& row, Command from, Command to)
{
    DeviceState device{config};
    const std::uint32_t per_rank = config.organisation.banks_per_rank(), banks = config.organisation.banks;
    std::uint32_t second = 0;
    if (row.scope == Scope::OtherGroups) second = banks;
    if (row.scope == Scope::OtherBanks) second = 1;
    if (row.scope == Scope::OtherRanks) second = per_rank;
    for (std::uint32_t i = 0; i < row.after; ++i) device.apply(from, row.after > 1 ? i * 5 % per_rank : 0, 1000);
    if (row.after > 1) second = per_rank - 1;
    const Stamp stamp = names_bank(to) ? device.allowed(to, second) : device.allowed_rank(to, device.rank_of(second));
    return stamp.cycle();
}

class EveryDevice : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Dram, EveryDevice, testing::ValuesIn([] {
                             std::vector<std::string> names = preset_names();
                             for (const std::string& name : preset_names(true)) names.push_back(name);
                             return names;
                         }()),
                         [](const auto& info) {
                             std::string name = info.param;
                             std::replace(name.begin(), name.end(), '-', '_');
                             return name;
                         });

TEST_P(EveryDevice, TheDeviceHoldsBackTheSecondCommandOfEveryRow)
{
    const std::uint64_t mib = read_config(GetParam()).organisation.rank_bytes() >> 20;
    const Config config = read_config(GetParam(), {{"organisation.channel_mib", std::to_string(2 * mib)}});
    for (const Constraint& row : config.constraints) {
        if (row.gap <= 0 || row.at_most || (row.scope == Scope::OtherGroups && config.organisation.bank_groups == 1)) continue;
        for (Command from : row.from)
            for (Command to : row.to) EXPECT_GE(after(config, row, from, to), 1000 + static_cast<Cycle>(row.gap)) << "row " << row.rule;
    }
}

/// The distance of the commands of one kind that a stream settles to, refresh off.
Cycle settled_distance(const std::string& preset, std::map<std::string, std::string> options, Command command,
                       const std::function<Access(std::uint64_t, std::uint64_t)>& access)
{
    options["refresh"] = "none";
    options["channels"] = "1";
    const Config config = read_config(preset, options);
    std::vector<Cycle> at;
    StreamRun run;
    run.cycles = 20'000;
    run.observer = [&](const Issued& issued) {
        if (issued.command == command) at.push_back(issued.cycle);
    };
    run_stream(
        config, [&](std::uint64_t i) { return access(i, config.organisation.request_bytes()); }, run);
    EXPECT_GT(at.size(), 100u);
    const Cycle distance = at[41] - at[40];
    for (std::size_t i = 41; i < at.size(); ++i) EXPECT_EQ(at[i] - at[i - 1], distance) << i;
    return distance;
}
Access within_a_row(std::uint64_t i, std::uint64_t burst) { return {i % 64 * burst, false}; }

TEST(DramController, RowHitsOfOneBankGroupComeEveryTCcdL)
{
    EXPECT_EQ(settled_distance("ddr4-2400", {{"mapping", "bank_interleave"}}, Command::Rd, within_a_row), 6u);
    EXPECT_EQ(settled_distance("ddr4-3200", {{"mapping", "bank_interleave"}}, Command::Rd, within_a_row), 8u);
    EXPECT_EQ(settled_distance("lpddr5-6400", {{"mapping", "bank_interleave"}}, Command::Rd, within_a_row), 4u);
}

TEST(DramController, AlternatingBankGroupsFillTheDataBus)
{
    EXPECT_EQ(settled_distance("ddr4-2400", {}, Command::Rd, within_a_row), 4u);
    EXPECT_EQ(settled_distance("lpddr4-3200", {}, Command::Rd, within_a_row), 8u);
    EXPECT_EQ(settled_distance("lpddr5-6400", {}, Command::Rd, within_a_row), 2u);
    EXPECT_EQ(settled_distance("hbm2", {}, Command::Rd, within_a_row), 2u);
    // Writes: other places each time, or they would join those in the queue.
    EXPECT_EQ(settled_distance("ddr4-3200", {}, Command::Wr,
                               [](std::uint64_t i, std::uint64_t burst) {
                                   return Access{i % 256 * burst, true};
                               }),
              4u);
}

TEST(DramController, ConflictsInOneBankComeEveryTRc)
{
    // The rows of the four groups of a bank are 32 KiB here; there are four banks: every 128 KiB the
    // next row of the same bank.
    const auto next_row = [](std::uint64_t i, std::uint64_t) { return Access{i * (128 << 10), false}; };
    EXPECT_EQ(settled_distance("ddr4-2400", {}, Command::Act, next_row), 56u);
    EXPECT_EQ(settled_distance("ddr4-3200", {}, Command::Act, next_row), 74u);
}

TEST(DramController, FiveActivationsObeyTFaw)
{
    // Every request another bank: four activations in tFAW = 26 cycles.
    const Config config = read_config("ddr4-2400", {{"refresh", "none"}});
    std::vector<Cycle> activations;
    StreamRun run;
    run.cycles = 5'000;
    run.observer = [&](const Issued& issued) {
        if (issued.command == Command::Act) activations.push_back(issued.cycle);
    };
    const Pattern pattern = [](std::uint64_t i) { return Access{i % 4 * 64 + i / 4 % 4 * (32 << 10) + i / 16 * (128 << 10), false}; };
    run_stream(config, pattern, run);
    ASSERT_GT(activations.size(), 100u);
    for (std::size_t i = 4; i < activations.size(); ++i) EXPECT_GE(activations[i] - activations[i - 4], 26u);
    EXPECT_EQ(activations[80] - activations[40], 10 * 26u);
}

TEST(DramController, TheUnloadedReadLatencyIsTheSumOfItsCommands)
{
    // From a closed bank, row after row in another bank: 1 + tRCD + CL + BL/2 after acceptance.
    const Config config =
        read_config("ddr4-2400", {{"refresh", "none"}, {"page_policy", "closed_auto"}, {"controller.power_down_after", "0"}});
    StreamRun run;
    run.interval = 500;
    const Statistics s = run_stream(config, make_pattern("random", config), run).front();
    EXPECT_EQ(s.read_latency.min(), 1u + 17 + 17 + 4);
    EXPECT_EQ(s.read_latency.max(), 1u + 17 + 17 + 4);
}

TEST(DramController, StreamingIsLimitedByRefresh)
{
    // peak x (1 - (tRTP + tRP + tRFC + tRCD) / tREFI), within 2 %.
    const Config config = read_config("ddr4-2400", {{"refresh.postpone", "0"}});
    StreamRun run;
    run.cycles = 1'000'000;
    const Statistics s = run_stream(config, make_pattern("sequential", config), run).front();
    const double expected = 1 - (9.0 + 17 + 421 + 17) / 9363;
    EXPECT_NEAR(static_cast<double>(s.busy) / static_cast<double>(s.bus_cycles), expected, 0.02 * expected);
}

TEST(DramController, OneBankStridesHaveTheClosedForm)
{
    // (cycles - refreshes of that rank x (tRFC + tRP)) / tRC: 100000, eleven, 437, 56.
    const Config config = read_config("reference-ddr4-2400");
    StreamRun run;
    const Statistics s = run_stream(config, make_pattern("strided", config, 256 << 10), run).front();
    EXPECT_EQ(s.commands[index(Command::Rd)], 1700u);  // 1699.9
}

/// The micro-trace of dram.md 10.2: the requests, and cycle and name of every command.
using Trace = std::vector<std::pair<Cycle, std::string>>;
Trace micro_trace(const std::string& preset)
{
    const Config config = read_config(preset, {{"refresh", "none"}});
    auto channel = make_channel(config);
    Trace trace;
    channel->observe([&](const Issued& i) {
        std::string what{name(i.command)};
        for (std::uint32_t value : {i.at.rank, i.at.group, i.at.bank, i.at.row}) what += " " + std::to_string(value);
        if (is_column(i.command)) what += " " + std::to_string(i.at.column);
        trace.emplace_back(i.cycle, what);
    });
    std::deque<std::pair<Cycle, Access>> requests{{0, {0x0}},     {0, {0x40}},       {0, {0x2000}},   {0, {0x8000}},
                                                  {0, {0x40000}}, {0, {0x80, true}}, {200, {0x20000}}};
    for (Cycle now = 0; now < 400; ++now) {
        channel->advance(now);
        if (requests.empty() || requests.front().first > now) continue;
        const Access access = requests.front().second;
        channel->push({now, config.mapping.locate(access.address), access.write, access.address}, now);
        requests.pop_front();
    }
    return trace;
}

TEST(ReferenceController, IssuesThePublishedSequenceOnDdr42400)
{
    EXPECT_EQ(micro_trace("reference-ddr4-2400"), (Trace{{2, "ACT 0 0 0 0"},
                                                         {6, "ACT 0 1 0 0"},
                                                         {10, "ACT 0 0 1 0"},
                                                         {19, "RD 0 0 0 0 0"},
                                                         {23, "RD 0 1 0 0 0"},
                                                         {27, "RD 0 0 0 0 1"},
                                                         {33, "RD 0 0 1 0 0"},
                                                         {41, "PRE 0 0 0 0"},
                                                         {58, "ACT 0 0 0 1"},
                                                         {75, "RD 0 0 0 1 0"},
                                                         {202, "ACT 1 0 0 0"},
                                                         {219, "RD 1 0 0 0 0"}}));
}

TEST(ReferenceController, IssuesThePublishedSequenceOnDdr43200)
{
    EXPECT_EQ(micro_trace("reference-ddr4-3200"), (Trace{{2, "ACT 0 0 0 0"},
                                                         {6, "ACT 0 1 0 0"},
                                                         {10, "ACT 0 0 1 0"},
                                                         {24, "RD 0 0 0 0 0"},
                                                         {28, "RD 0 1 0 0 0"},
                                                         {32, "RD 0 0 0 0 1"},
                                                         {40, "RD 0 0 1 0 0"},
                                                         {54, "PRE 0 0 0 0"},
                                                         {76, "ACT 0 0 0 1"},
                                                         {98, "RD 0 0 0 1 0"},
                                                         {202, "ACT 1 0 0 0"},
                                                         {224, "RD 1 0 0 0 0"}}));
}

TEST(DramController, ReadsAreServedFromQueuedWrites)
{
    const Config config = read_config("ddr4-2400");
    auto channel = make_channel(config);
    channel->advance(0);
    const Location place = config.mapping.locate(0x1000);
    channel->push({1, place, true, 0x1000}, 0);
    channel->push({2, place, false, 0x1000}, 0);
    channel->push({3, place, true, 0x1000}, 0);
    const Statistics s = channel->statistics(10);
    EXPECT_EQ(s.forwarded, 1u);
    EXPECT_EQ(s.merged, 1u);
}

TEST(DramController, ReadsOfABurstThatIsQueuedShareItsCommand)
{
    // Eight reads of eight bytes: one column command, eight answers in the same cycle.
    const Config config = read_config("ddr4-2400");
    auto channel = make_channel(config);
    for (std::uint64_t i = 0; i < 8; ++i) {
        channel->advance(i);
        channel->push({i, config.mapping.locate(i * 8), false, i * 8, 8}, i);
    }
    channel->advance(100);
    const Statistics s = channel->statistics(101);
    EXPECT_EQ(s.commands[index(Command::Rd)], 1u);
    EXPECT_EQ(s.merged, 7u);
    EXPECT_EQ(s.reads_done, 8u);
    EXPECT_EQ(s.bytes_read, 64u);
    for (; !channel->completed().empty(); channel->completed().pop_front()) EXPECT_EQ(channel->completed().front().at, 1u + 17 + 17 + 4);
}

TEST(DramController, AWriteDoesNotOvertakeAnOlderReadOfItsPlace)
{
    const Config config = read_config("ddr4-2400", {{"controller.write_high", "1"}, {"controller.write_low", "0"}});
    auto channel = make_channel(config);
    std::vector<Command> columns;
    channel->observe([&](const Issued& issued) {
        if (is_column(issued.command)) columns.push_back(issued.command);
    });
    const Location place = config.mapping.locate(0x1000);
    channel->advance(0);
    channel->push({1, place, false, 0x1000}, 0);
    channel->push({2, place, true, 0x1000}, 0);
    channel->advance(500);
    EXPECT_EQ(columns, (std::vector{Command::Rd, Command::Wr}));
}

TEST(DramController, ALoneWriteIsDrainedByItsAge)
{
    const Config config = read_config("ddr4-2400");
    auto channel = make_channel(config);
    Cycle written = 0;
    channel->observe([&](const Issued& issued) {
        if (is_write(issued.command)) written = issued.cycle;
    });
    channel->advance(10);
    channel->push({1, config.mapping.locate(0), true, 0}, 10);
    channel->advance(10'000);
    EXPECT_GT(written, 10u + 4096);
    EXPECT_LT(written, 10u + 4096 + 50);
}

// ---- energy: dram.md 9.1, by hand

TEST(DramEnergy, CommandsAndBackgroundFollowTheFormulas)
{
    const Config config = read_config("ddr4-2400");
    Statistics s;
    s.cycles = 1000;
    s.commands[index(Command::Act)] = 10;
    s.commands[index(Command::Rd)] = 20;
    s.commands[index(Command::Wr)] = 30;
    s.commands[index(Command::RefAll)] = 1;
    s.rank_cycles = {100, 200, 300, 150, 250};
    const Energy e = energy_of(config, s);
    const double v = 1.2 * 8 * 0.833;  // VDD, devices, ns a cycle
    EXPECT_NEAR(e.activate, 10 * v * (48 * 56 - (43 * 39 + 34 * 17)), 1e-6);
    EXPECT_NEAR(e.read, 20 * v * (135 - 43) * 4, 1e-6);
    EXPECT_NEAR(e.write, 30 * v * (123 - 43) * 4, 1e-6);
    EXPECT_NEAR(e.refresh, v * (250 - 43) * 421, 1e-6);
    EXPECT_NEAR(e.background_total(), v * (34 * 100 + 43 * 200 + 25 * 300 + 37 * 150 + 30 * 250), 1e-6);
    EXPECT_NEAR(e.average_mw(), e.total() / 833, 1e-9);
}

TEST(DramEnergy, AnIdleMemoryDrawsPowerDownCurrentAndRefresh)
{
    const Config config = read_config("ddr4-2400");
    auto channel = make_channel(config);
    channel->advance(9'999'999);
    const Statistics s = channel->statistics(10'000'000);
    const double mw = energy_of(config, s).average_mw();
    const double idle = 1.2 * 8 * 25, refresh = 1.2 * 8 * (250 - 43) * 421 / 9363;  // IDD2P; IDD5 above IDD3N
    EXPECT_NEAR(mw, idle + refresh, 0.02 * mw);
}

TEST(DramEnergy, TheSuppliesOfLpddrAddUp)
{
    const Config config = read_config("lpddr4-3200");
    Statistics s;
    s.cycles = 1000;
    s.commands[index(Command::Rd)] = 1;
    const double expected = 0.625 * 8 * (1.8 * (2.25 - 2.25) + 1.1 * (275 - 30) + 1.1 * (150 - 0.75));
    EXPECT_NEAR(energy_of(config, s).read, expected, 1e-6);
}

}  // namespace dram_controller_test
}  // namespace dlasim::dram
