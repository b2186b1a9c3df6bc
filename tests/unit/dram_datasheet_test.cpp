// What the checker allows, against figures from outside: how far apart the standards and data sheets have two commands, typed here in
// nanoseconds and clocks. Controller and checker read one table of constraints; a row of it that is wrong is seen here alone.
//
// Sources  DDR4    Micron MT40A (4Gb: x4, x8, x16 DDR4 SDRAM), tables 152 and 157 (speed bins, AC timing) and the figures of READ to WRITE;
//                  Alliance AS4C256M16D4, tables 43 and 92; JESD79-4 for 8 Gb: tRFC1 350 ns
//          LPDDR4  JESD209-4: core timing, timing between commands; the figures for 3200 MT/s as NXP's DDR tool lists them
//                  (RL 28, WL 14, nWR 30, nRTP 12, tRPpb 18 ns, tRPab 21 ns, tRAS 42 ns, tXP 7.5 ns); 8 Gb a channel: tRFCab 280 ns
//          LPDDR5  JESD209-5: core timing in bank-group mode, 16 Gb
// HBM2     has none: its figures are each vendor's.
#include <gtest/gtest.h>

#include <cmath>

#include "dram/check/checker.h"
#include "dram/read/reader.h"

namespace dlasim::dram {
namespace dram_datasheet_test {

constexpr Cycle kStart = 1'000'000;  // far from the beginning, where nothing constrains yet

enum class Where { Bank, Group, OtherGroup };  // of the second command, seen from the first
using enum Command;

struct Distance {
    const char* what;
    std::vector<Command> from, to;
    std::vector<Where> where;
    Cycle least;
};

/// A device as its data sheet has it.
struct Sheet {
    const char* preset;
    double clock_ns;
    std::vector<Distance> distances;
    Cycle activation_window;               // from an activation to the fourth after it
    double refresh_ns;                     // at most, on average
    std::vector<const char*> not_covered;  // rows of the table that no source here has
};

/// Clocks of a time: JEDEC's rounding, which forgives 2.6 % of a clock.
Cycle clocks(double ns, double clock_ns) { return static_cast<Cycle>(std::floor(ns / clock_ns + 0.974)); }

std::vector<Distance> ddr4(double clock, Cycle rl, Cycle wl, double rcd_ns)
{
    const auto ck = [clock](double ns, Cycle least = 0) { return std::max(clocks(ns, clock), least); };
    const Cycle rcd = ck(rcd_ns), rp = rcd, ras = ck(32), rc = ras + rp, wr = ck(15), rtp = ck(7.5, 4), burst = 4, rfc = ck(350),
                cke = ck(5, 3);
    const std::vector<Where> bank{Where::Bank}, group{Where::Group}, other{Where::OtherGroup},
        rank{Where::Bank, Where::Group, Where::OtherGroup};
    const std::vector<Command> reads{Rd, Rda}, writes{Wr, Wra};
    return {{"tRCD", {Act}, {Rd, Rda, Wr, Wra}, bank, rcd},
            {"tRAS", {Act}, {Pre}, bank, ras},
            {"tRAS, all banks", {Act}, {PreAll}, rank, ras},
            {"tRC", {Act}, {Act}, bank, rc},
            {"tRC to a refresh", {Act}, {RefAll, SrefEnter}, rank, rc},
            {"tRRD_L, a page of 1 KB", {Act}, {Act}, group, ck(4.9, 4)},
            {"tRRD_S, a page of 1 KB", {Act}, {Act}, other, ck(clock > 0.7 ? 3.3 : 2.5, 4)},
            {"tRP", {Pre}, {Act}, bank, rp},
            {"tRP, all banks", {PreAll}, {Act}, rank, rp},
            {"tRP to a refresh", {Pre, PreAll}, {RefAll, SrefEnter}, rank, rp},
            {"tCCD_L", reads, reads, {Where::Bank, Where::Group}, ck(5, 4)},
            {"tCCD_L", writes, writes, {Where::Bank, Where::Group}, ck(5, 4)},
            {"tCCD_S", reads, reads, other, 4},
            {"tCCD_S", writes, writes, other, 4},
            {"RL + BL/2 - WL + 2 tCK", reads, writes, rank, rl + burst - wl + 2},
            {"WL + BL/2 + tWTR_L", writes, reads, {Where::Bank, Where::Group}, wl + burst + ck(7.5, 4)},
            {"WL + BL/2 + tWTR_S", writes, reads, other, wl + burst + ck(2.5, 2)},
            {"tRTP", {Rd}, {Pre}, bank, rtp},
            {"tRTP, all banks", {Rd}, {PreAll}, rank, rtp},
            {"WL + BL/2 + tWR", {Wr}, {Pre}, bank, wl + burst + wr},
            {"WL + BL/2 + tWR, all banks", {Wr}, {PreAll}, rank, wl + burst + wr},
            {"RTP + tRP", {Rda}, {Act}, bank, rtp + rp},
            {"RTP + tRP to a refresh", {Rda}, {RefAll}, rank, rtp + rp},
            {"WL + BL/2 + WR + tRP", {Wra}, {Act}, bank, wl + burst + wr + rp},
            {"WL + BL/2 + WR + tRP to a refresh", {Wra}, {RefAll}, rank, wl + burst + wr + rp},
            {"tRFC1", {RefAll}, {Act, RefAll, SrefEnter, PreAll}, rank, rfc},
            {"tRDPDEN: RL + 4 + 1", reads, {PdEnter}, rank, rl + 4 + 1},
            {"tWRPDEN: WL + 4 + tWR", {Wr}, {PdEnter}, rank, wl + 4 + wr},
            {"tWRAPDEN: WL + 4 + WR + 1", {Wra}, {PdEnter}, rank, wl + 4 + wr + 1},
            {"tCKE, low", {PdEnter}, {PdExit}, rank, cke},
            {"tCKE, high", {PdExit}, {PdEnter}, rank, cke},
            {"tXP", {PdExit}, {Act, Pre, PreAll, Rd, Rda, Wr, Wra, RefAll}, rank, ck(6, 4)},
            {"tCKESR: tCKE + 1", {SrefEnter}, {SrefExit}, rank, cke + 1},
            {"tXS: tRFC + 10 ns", {SrefExit}, {Act, RefAll}, rank, ck(360)}};
}

/// Times count from the last clock of a command; ACT, RD and WR take four, PRE and REF two.
std::vector<Distance> lpddr4()
{
    const Cycle long_short = 2, rl = 28, wl = 14, burst = 8, rcd = 29, rp = 29, rp_all = 34, ras = 68, wr = 29, nwr = 30, rtp = 12,
                dqsck = 6, wpre = 2, rfc = 448, rfc_bank = 224;
    const std::vector<Where> bank{Where::Bank}, other{Where::Group}, rank{Where::Bank, Where::Group};
    const std::vector<Command> reads{Rd, Rda}, writes{Wr, Wra};
    return {{"tRCD 18 ns", {Act}, {Rd, Rda, Wr, Wra}, bank, rcd},
            {"tRAS 42 ns", {Act}, {Pre}, bank, ras + long_short},
            {"tRAS, all banks", {Act}, {PreAll}, rank, ras + long_short},
            {"tRCpb: tRAS + tRPpb", {Act}, {Act}, bank, ras + rp},
            {"tRCpb to a refresh", {Act}, {RefAll, SrefEnter}, rank, ras + rp + long_short},
            {"tRCpb to a refresh of the bank", {Act}, {RefBank}, bank, ras + rp + long_short},
            {"tRRD 10 ns", {Act}, {Act}, other, 16},
            {"tRRD to a refresh of another bank", {Act}, {RefBank}, other, 16 + long_short},
            {"tRPpb 18 ns", {Pre}, {Act}, bank, rp - long_short},
            {"tRPab 21 ns", {PreAll}, {Act}, rank, rp_all - long_short},
            {"tRPpb to a refresh", {Pre}, {RefAll, SrefEnter}, rank, rp},
            {"tRPpb to a refresh of the bank", {Pre}, {RefBank}, bank, rp},
            {"tRPab to a refresh", {PreAll}, {RefAll, SrefEnter, RefBank}, rank, rp_all},
            {"tPPD", {Pre, PreAll}, {Pre, PreAll}, rank, 4},
            {"tCCD", reads, reads, rank, burst},
            {"tCCD", writes, writes, rank, burst},
            {"RL + tDQSCK + BL/2 - WL + tWPRE", reads, writes, rank, rl + dqsck + burst - wl + wpre},
            {"WL + 1 + BL/2 + tWTR 10 ns", writes, reads, rank, wl + 1 + burst + 16},
            {"BL/2 + tRTP - 8", {Rd}, {Pre}, bank, burst + rtp - 8 + long_short},
            {"BL/2 + tRTP - 8, all banks", {Rd}, {PreAll}, rank, burst + rtp - 8 + long_short},
            {"WL + 1 + BL/2 + tWR", {Wr}, {Pre}, bank, wl + 1 + burst + wr + long_short},
            {"WL + 1 + BL/2 + tWR, all banks", {Wr}, {PreAll}, rank, wl + 1 + burst + wr + long_short},
            {"BL/2 + nRTP - 8 + tRPpb", {Rda}, {Act}, bank, burst + rtp - 8 + rp},
            {"BL/2 + nRTP - 8 + tRPpb to a refresh", {Rda}, {RefAll}, rank, burst + rtp - 8 + rp + long_short},
            {"BL/2 + nRTP - 8 + tRPpb to a refresh of the bank", {Rda}, {RefBank}, bank, burst + rtp - 8 + rp + long_short},
            {"WL + 1 + BL/2 + nWR + tRPpb", {Wra}, {Act}, bank, wl + 1 + burst + nwr + rp},
            {"WL + 1 + BL/2 + nWR + tRPpb to a refresh", {Wra}, {RefAll}, rank, wl + 1 + burst + nwr + rp + long_short},
            {"WL + 1 + BL/2 + nWR + tRPpb to a refresh of the bank", {Wra}, {RefBank}, bank, wl + 1 + burst + nwr + rp + long_short},
            {"tRFCab 280 ns", {RefAll}, {Act}, rank, rfc - long_short},
            {"tRFCab 280 ns", {RefAll}, {RefAll, SrefEnter, RefBank, PreAll}, rank, rfc},
            {"tRFCpb 140 ns", {RefBank}, {Act}, bank, rfc_bank - long_short},
            {"tRRD behind a refresh of another bank", {RefBank}, {Act}, other, 16},
            {"tRFCpb 140 ns", {RefBank}, {RefBank, RefAll, SrefEnter, PreAll}, rank, rfc_bank},
            {"tCKE 7.5 ns", {PdEnter}, {PdExit}, rank, 12},
            {"tCKE 7.5 ns", {PdExit}, {PdEnter}, rank, 12},
            {"tXP 7.5 ns", {PdExit}, {Act, Pre, PreAll, Rd, Rda, Wr, Wra, RefAll, RefBank}, rank, 12},
            {"tSR 15 ns", {SrefEnter}, {SrefExit}, rank, 24},
            {"tXSR: tRFCab + 7.5 ns", {SrefExit}, {Act, RefAll, RefBank}, rank, 460}};
}

std::vector<Distance> lpddr5()
{
    const auto ck = [](double ns, Cycle least = 0) { return std::max(static_cast<Cycle>(std::ceil(ns / 1.25)), least); };
    const Cycle rcd = ck(18), rp = ck(18), rp_all = ck(21), ras = ck(42), wr = ck(34), wl = 9, shortest = 2, longest = 4;
    const std::vector<Where> bank{Where::Bank}, group{Where::Bank, Where::Group}, other{Where::OtherGroup},
        rank{Where::Bank, Where::Group, Where::OtherGroup};
    const std::vector<Command> reads{Rd, Rda}, writes{Wr, Wra};
    return {{"tRCD 18 ns, from the second part", {Act2}, {Rd, Rda, Wr, Wra}, bank, rcd},
            {"tRAS 42 ns, from the second part", {Act2}, {Pre}, bank, ras},
            {"tRAS, all banks", {Act2}, {PreAll}, rank, ras},
            {"tRC: tRAS + tRPpb", {Act}, {Act}, bank, ras + rp},
            {"tRRD 5 ns", {Act}, {Act}, {Where::Group, Where::OtherGroup}, ck(5, 2)},
            {"tRPpb 18 ns", {Pre}, {Act}, bank, rp},
            {"tRPab 21 ns", {PreAll}, {Act}, rank, rp_all},
            {"tRPpb to a refresh", {Pre}, {RefAll}, rank, rp},
            {"tRPpb to a refresh of the bank", {Pre}, {RefBank}, bank, rp},
            {"tRPab to a refresh", {PreAll}, {RefAll, RefBank}, rank, rp_all},
            {"tPPD", {Pre, PreAll}, {Pre, PreAll}, rank, 2},
            {"BL/n_max", reads, reads, group, longest},
            {"BL/n_max", writes, writes, group, longest},
            {"BL/n_min", reads, reads, other, shortest},
            {"BL/n_min", writes, writes, other, shortest},
            {"WL + BL/n_max + tWTR_L 12 ns", writes, reads, group, wl + longest + ck(12, 4)},
            {"WL + BL/n_min + tWTR_S 6.25 ns", writes, reads, other, wl + shortest + ck(6.25, 4)},
            {"WL + BL/n_min + 1 + tWR 34 ns", {Wr}, {Pre}, bank, wl + shortest + 1 + wr},
            {"WL + BL/n_min + 1 + tWR, all banks", {Wr}, {PreAll}, rank, wl + shortest + 1 + wr},
            {"WL + BL/n_min + 1 + nWR + tRPpb", {Wra}, {Act}, bank, wl + shortest + 1 + wr + rp},
            {"WL + BL/n_min + 1 + nWR + tRPpb to a refresh", {Wra}, {RefAll}, rank, wl + shortest + 1 + wr + rp},
            {"WL + BL/n_min + 1 + nWR + tRPpb to a refresh of the bank", {Wra}, {RefBank}, bank, wl + shortest + 1 + wr + rp},
            {"tRFCab 280 ns", {RefAll}, {Act, RefAll, RefBank}, rank, ck(280)},
            {"tRFCpb 140 ns", {RefBank}, {Act, RefBank}, bank, ck(140)},
            {"tRFCpb 140 ns", {RefBank}, {RefAll}, rank, ck(140)},
            {"tpbR2pbR 90 ns", {RefBank}, {RefBank}, {Where::Group, Where::OtherGroup}, ck(90)},
            {"tpbR2act 7.5 ns", {RefBank}, {Act}, {Where::Group, Where::OtherGroup}, ck(7.5)},
            {"tXP 7 ns", {PdExit}, {Act, Pre, PreAll, Rd, Rda, Wr, Wra, RefAll, RefBank}, rank, ck(7, 3)},
            {"tXSR: tRFCab + 7.5 ns", {SrefExit}, {Act, RefAll, RefBank}, rank, ck(287.5)}};
}

const std::vector<Sheet>& sheets()
{
    // 37b: self-refresh is entered from precharged banks, long after a read. LPDDR4: how soon CKE may fall behind a column command. LPDDR5:
    // the read recovery of dram.md is longer than the standard's; RD to WR depends on tWCKDQO; refresh behind an activation stands for tRC
    // there.
    static const std::vector<Sheet> list{
        {"ddr4-2400", 0.833, ddr4(0.833, 17, 12, 14.16), 26, 7800, {}},
        {"ddr4-3200", 0.625, ddr4(0.625, 22, 16, 13.75), 34, 7800, {}},
        {"lpddr4-3200", 0.625, lpddr4(), 64, 3904, {"37b", "39b", "39c"}},
        {"lpddr5-6400",
         1.25,
         lpddr5(),
         16,
         3906.25,
         {"A1", "C1", "8", "18", "23", "23b", "25", "27", "27b", "31", "36", "36b", "37", "37b", "39", "39b", "39c", "40b"}},
    };
    return list;
}

Location place(Where where, const Config& config)
{
    if (where == Where::Bank) return {};
    // Without groups every other bank is of the same one.
    if (where == Where::OtherGroup && config.organisation.bank_groups > 1) return {0, 0, 1, 0, 0, 0};
    return {0, 0, 0, 1, 0, 0};
}

/// No row of the table is broken; states and buses are tested elsewhere.
bool allows(const Config& config, const std::vector<std::pair<Command, Location>>& log, Cycle gap)
{
    Checker checker{config};
    Cycle at = kStart;
    for (const auto& [command, where] : log) {
        const bool last = &where == &log.back().second;
        checker.see({last ? kStart + gap : at++, command, where, 0});
    }
    return std::none_of(config.constraints.begin(), config.constraints.end(),
                        [&](const Constraint& row) { return !row.at_most && checker.violated(row.rule); });
}

/// The pairs that are nearer or further than the sheet says.
std::vector<std::string> wrong_distances(const Config& config, const Sheet& sheet)
{
    std::vector<std::string> wrong;
    for (const Distance& distance : sheet.distances)
        for (const Command from : distance.from)
            for (const Command to : distance.to)
                for (const Where where : distance.where) {
                    const std::vector<std::pair<Command, Location>> log{{from, {}}, {to, place(where, config)}};
                    const bool early = allows(config, log, distance.least - 1), late = !allows(config, log, distance.least);
                    if (early || late)
                        wrong.push_back(std::string(distance.what) + ": " + std::string(name(from)) + " to " + std::string(name(to)) +
                                        (early ? " sooner than " : " later than ") + std::to_string(distance.least));
                }
    return wrong;
}

/// The fifth activation; the others come so soon that nothing but the window holds it.
bool window_is_right(Config config, const Sheet& sheet)
{
    std::erase_if(config.constraints, [](const Constraint& row) { return row.after == 1; });
    std::vector<std::pair<Command, Location>> log;
    for (std::uint32_t i = 0; i < 5; ++i)
        log.push_back({Act, {0, 0, i % config.organisation.bank_groups, i / config.organisation.bank_groups, 0, 0}});
    return !allows(config, log, sheet.activation_window - 1) && allows(config, log, sheet.activation_window);
}

class Datasheet : public testing::TestWithParam<Sheet> {};
INSTANTIATE_TEST_SUITE_P(Dram, Datasheet, testing::ValuesIn(sheets()), [](const auto& info) {
    std::string name = info.param.preset;
    std::replace(name.begin(), name.end(), '-', '_');
    return name;
});

TEST_P(Datasheet, CommandsAreAsFarApartAsItSays)
{
    const Config config = read_config(GetParam().preset);
    for (const std::string& wrong : wrong_distances(config, GetParam())) ADD_FAILURE() << wrong;
    EXPECT_TRUE(window_is_right(config, GetParam()));
    EXPECT_DOUBLE_EQ(config.tck_ns, GetParam().clock_ns);
    const Config all_banks = read_config(GetParam().preset, {{"refresh.policy", "all_bank_simultaneous"}});
    EXPECT_EQ(all_banks.refresh.interval, static_cast<std::int64_t>(GetParam().refresh_ns / GetParam().clock_ns));
}

/// A row of the table that is off by a clock is seen, but for those that are named.
TEST_P(Datasheet, NoRowCanBeWrong)
{
    const Config config = read_config(GetParam().preset);
    const auto& named = GetParam().not_covered;
    for (std::size_t i = 0; i < config.constraints.size(); ++i) {
        const Constraint& row = config.constraints[i];
        if (row.scope == Scope::OtherRanks || row.at_most) continue;  // between ranks the controller decides, not the device
        const bool covered = std::find(named.begin(), named.end(), row.rule) == named.end();
        for (const int by : {-1, 1}) {
            Config changed = config;
            changed.constraints[i].gap += by;
            const bool seen = !wrong_distances(changed, GetParam()).empty() || !window_is_right(changed, GetParam());
            EXPECT_EQ(seen, covered) << "row " << row.rule << (by < 0 ? ", a clock less" : ", a clock more");
        }
    }
}

}  // namespace dram_datasheet_test
}  // namespace dlasim::dram
