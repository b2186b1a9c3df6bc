// Walks through notes made by hand, and what is left of logs that were summed up.
#include "causes/critical_path.h"

#include <gtest/gtest.h>

#include <functional>
#include <random>

namespace dlasim {
namespace critical_path_test {

constexpr Cycle kDone = 1000;

/// SDP waits for CACC until it sets the pace; so does CACC for software. Looks are taken `every` so many cycles; 0: none.
Causes walked(Cycle every)
{
    CriticalPath path;
    path.compact_every(every == 0 ? kNever : every);
    WaitLogs& logs = path.logs;
    const std::vector<std::pair<Cycle, std::function<void()>>> notes{
        {0, [&] { logs[WaitPoint::Software].works(0, Cause::Programming); }},
        {51, [&] { logs[WaitPoint::Cacc].works(51, Cause::AccumulatorFull); }},
        {101, [&] { logs[WaitPoint::Sdp].waits(101, WaitPoint::Cacc, Cause::SdpPace); }},
        {401, [&] { logs[WaitPoint::Sdp].works(401, Cause::SdpPace); }},
        {500, [&] { path.cut(500); }},
        {998, [&] { logs[WaitPoint::SdpDone].event(998, WaitPoint::Sdp, Cause::Interrupt, 1); }},
        {kDone, [&] { logs[WaitPoint::Pin].event(kDone, WaitPoint::SdpDone, Cause::Interrupt, 2); }},
    };
    const auto run_to = [&](Cycle cycle) {
        while (path.next() <= cycle) {
            if (path.should_compact()) path.compact();
        }
    };
    for (const auto& [cycle, note] : notes) {
        run_to(cycle);
        note();
    }
    path.interrupt(kDone);
    run_to(kDone + 500);  // software may do more
    Causes causes = path.causes(0, kDone, true);
    EXPECT_EQ(path.unforeseen(), 0u) << every;
    return causes;
}

Cycle cycles_of(const std::vector<CauseCycles>& causes, Cause cause)
{
    for (const CauseCycles& each : causes)
        if (each.cause.cause == cause) return each.cycles;
    return 0;
}

TEST(CriticalPath, GivesEveryCycleToWhatWasWaitedFor)
{
    for (const Cycle every : {0, 7, 100, 400, 401, 999, 1000, 1001}) {
        const std::vector<CauseCycles> causes = walked(every).total();
        EXPECT_EQ(cycles_of(causes, Cause::Interrupt), 3u) << every;          // 1000 to 998, 998 to 997
        EXPECT_EQ(cycles_of(causes, Cause::SdpPace), 597u) << every;          // to 400
        EXPECT_EQ(cycles_of(causes, Cause::AccumulatorFull), 350u) << every;  // to 50
        EXPECT_EQ(cycles_of(causes, Cause::Programming), 50u) << every;
        EXPECT_EQ(sum_of(causes), kDone) << every;
    }
}

/// Slices are 64 cycles long here; one ends where it is told to, also when its first cycles have been summed up before.
TEST(CriticalPath, SlicesEndAtCuts)
{
    for (const Cycle every : {0, 7, 30, 100}) {
        const Causes causes = walked(every);
        Cycle begin = 0;
        bool ends = false;
        for (const CauseSlice& slice : causes.slices) {
            EXPECT_EQ(sum_of(slice.spent), slice.end - begin) << every;
            begin = slice.end;
            ends |= slice.end == 500;
        }
        EXPECT_EQ(begin, kDone) << every;
        EXPECT_TRUE(ends) << every;
        EXPECT_EQ(causes, walked(0)) << every;
    }
    const Causes causes = walked(0);
    EXPECT_EQ(sum_of(causes.between(0, 500)), 500u);
    EXPECT_EQ(cycles_of(causes.between(500, kDone), Cause::SdpPace), 497u);
}

/// SDP and CACC wait for each other in the same cycle: the lower place is charged, after a few hops a cycle.
TEST(CauseWalk, LeavesLoopsEarly)
{
    WaitLogs logs;
    const std::array<BurstLogs, 2> ports;
    logs[WaitPoint::Cacc].waits(1, WaitPoint::Sdp, Cause::AccumulatorFull);
    logs[WaitPoint::Sdp].waits(1, WaitPoint::Cacc, Cause::SdpPace);
    CauseWalk rules(logs, ports);
    rules.go_to({.place = WaitPoint::Sdp, .at = kDone});
    unsigned steps = 0;
    for (; rules.point().at > 1; ++steps) rules.step();
    EXPECT_LE(steps, 12 * kDone);
    ASSERT_EQ(rules.runs().size(), kDone - 1);
    for (const PathRun& run : rules.runs()) EXPECT_EQ(run.cause.cause, Cause::AccumulatorFull);
}

/// Nodes that all points have in common become one, and nothing of them is lost.
TEST(CauseTree, KeepsWhatIsNeeded)
{
    CauseTree tree;
    CauseTree::Node one = tree.add(CauseTree::kRoot);
    tree.grow(one, 10, {Cause::Programming});
    CauseTree::Node two = tree.add(one), three = tree.add(one), lost = tree.add(two);
    tree.grow(two, 30, {Cause::Computing});
    tree.grow(three, 20, {Cause::Drain});
    tree.grow(lost, 90, {Cause::Polling});
    tree.compress({&two, &three});
    EXPECT_EQ(tree.time(two), 30u);
    EXPECT_EQ(tree.time(three), 20u);
    EXPECT_EQ(cycles_of(tree.causes(two).total(), Cause::Programming), 10u);
    EXPECT_EQ(cycles_of(tree.causes(two).total(), Cause::Computing), 20u);
    EXPECT_EQ(cycles_of(tree.causes(three).total(), Cause::Drain), 10u);
    EXPECT_EQ(sum_of(tree.causes(three).total()), 20u);
    tree.compress({&two});
    EXPECT_EQ(two, CauseTree::kRoot);
    EXPECT_EQ(sum_of(tree.causes(two).total()), 30u);
}

/// Runs of one cause that end in many cycles have the cycles that they would have alone, in the same slices.
TEST(CauseTree, LongRunsHaveTheirOwnCycles)
{
    CauseTree tree;
    CauseTree::Node start = tree.add(CauseTree::kRoot);
    tree.grow(start, 700, {Cause::Programming});
    for (const Cycle to : {900, 1800, 5000, 5001, 70000, 69999, 70000, (1 << 26) + 5000}) {
        const CauseTree::Node shared = tree.add(start, to, {Cause::PdpPace}), alone = tree.add(start);
        tree.grow(alone, to, {Cause::PdpPace});
        EXPECT_EQ(tree.time(shared), to);
        EXPECT_EQ(tree.causes(shared), tree.causes(alone)) << to;
        const CauseTree::Node other = tree.add(start, to, {Cause::CdpPace});
        EXPECT_EQ(cycles_of(tree.causes(other).total(), Cause::CdpPace), to - 700);
    }
}

/// Bursts of three clients, one of which is rare; some cycles apart.
void grant_some(BurstLog& log, unsigned count, Cycle& cycle, std::mt19937& random)
{
    for (unsigned i = 0; i < count; ++i) {
        const auto client = static_cast<std::uint8_t>(random() % 200 == 0 ? 2 : random() % 2);
        cycle += 1 + random() % 3;
        log.grant({.entered = cycle - 1, .chunked = cycle - 1, .marks = {client, 1, false, false, false, 0, 0, 0}}, cycle, 1);
    }
}

TEST(BurstLog, FindsTheFirstBurstOfAClientBehindACycle)
{
    std::mt19937 random(3);
    BurstLog log;
    Cycle cycle = 10;
    grant_some(log, 3000, cycle, random);
    unsigned found = 0, given_up = 0;
    for (int i = 0; i < 3000; ++i) {
        const auto client = static_cast<unsigned>(random() % 3);
        BurstLog::Number otherwise = log.granted(client);
        for (unsigned back = random() % 20; back != 0 && log.granted_before(otherwise) != BurstLog::kNone; --back)
            otherwise = log.granted_before(otherwise);
        const Cycle behind = random() % log[otherwise].granted;
        BurstLog::Number first = log.base(), want = otherwise;
        while (log[first].granted <= behind) ++first;
        for (BurstLog::Number n = first; n < otherwise && n < first + BurstLog::kNear && want == otherwise; ++n)
            if (log[n].client == client) want = n;
        ASSERT_EQ(log.first_granted_after(behind, client, otherwise), want);
        ++(want == otherwise ? given_up : found);
    }
    EXPECT_GT(found, 1000u);
    EXPECT_GT(given_up, 100u);
    EXPECT_EQ(log.first_granted_after(kNever, 0, log.granted(0)), log.granted(0));
}

}  // namespace critical_path_test
}  // namespace dlasim
