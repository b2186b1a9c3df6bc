// Walks through notes made by hand, and what is left of trails that were summed up.
#include "platform/critical_path.h"

#include <gtest/gtest.h>

#include <functional>
#include <random>

extern "C" int sc_main(int, char*[]) { return 0; }  // SystemC's library wants one

namespace dlasim {
namespace {

constexpr Cycle kDone = 1000;

/// SDP waits for CACC until it sets the pace; so does CACC for software. Looks are taken `every` so many cycles; 0: none.
Causes walked(Cycle every)
{
    CriticalPath path;
    path.look_every(every == 0 ? kNever : every);
    Trails& trails = path.trails;
    const std::vector<std::pair<Cycle, std::function<void()>>> notes{
        {0, [&] { trails[TrailPlace::Software].works(0, Cause::Programming); }},
        {51, [&] { trails[TrailPlace::Cacc].works(51, Cause::AccumulatorFull); }},
        {101, [&] { trails[TrailPlace::Sdp].waits(101, TrailPlace::Cacc, Cause::SdpPace); }},
        {401, [&] { trails[TrailPlace::Sdp].works(401, Cause::SdpPace); }},
        {500, [&] { path.cut(500); }},
        {998, [&] { trails[TrailPlace::SdpDone].event(998, TrailPlace::Sdp, Cause::Interrupt, 1); }},
        {kDone, [&] { trails[TrailPlace::Pin].event(kDone, TrailPlace::SdpDone, Cause::Interrupt, 2); }},
    };
    const auto run_to = [&](Cycle cycle) {
        while (path.next() <= cycle) {
            if (path.wants_to_look()) path.look();
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
TEST(PathRules, LeavesLoopsEarly)
{
    Trails trails;
    const std::array<PortTrail, 2> ports;
    trails[TrailPlace::Cacc].waits(1, TrailPlace::Sdp, Cause::AccumulatorFull);
    trails[TrailPlace::Sdp].waits(1, TrailPlace::Cacc, Cause::SdpPace);
    PathRules rules(trails, ports);
    rules.stand({.place = TrailPlace::Sdp, .at = kDone});
    unsigned steps = 0;
    for (; rules.spot().at > 1; ++steps) rules.step();
    EXPECT_LE(steps, 12 * kDone);
    ASSERT_EQ(rules.runs().size(), kDone - 1);
    for (const PathRun& run : rules.runs()) EXPECT_EQ(run.cause.cause, Cause::AccumulatorFull);
}

/// Nodes that all spots have in common become one, and nothing of them is lost.
TEST(PastTree, KeepsWhatIsNeeded)
{
    PastTree tree;
    PastTree::Node one = tree.add(PastTree::kRoot);
    tree.grow(one, 10, {Cause::Programming});
    PastTree::Node two = tree.add(one), three = tree.add(one), lost = tree.add(two);
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
    EXPECT_EQ(two, PastTree::kRoot);
    EXPECT_EQ(sum_of(tree.causes(two).total()), 30u);
}

/// Runs of one cause that end in many cycles have the cycles that they would have alone, in the same slices.
TEST(PastTree, LongRunsHaveTheirOwnCycles)
{
    PastTree tree;
    PastTree::Node start = tree.add(PastTree::kRoot);
    tree.grow(start, 700, {Cause::Programming});
    for (const Cycle to : {900, 1800, 5000, 5001, 70000, 69999, 70000, (1 << 26) + 5000}) {
        const PastTree::Node shared = tree.add(start, to, {Cause::PdpPace}), alone = tree.add(start);
        tree.grow(alone, to, {Cause::PdpPace});
        EXPECT_EQ(tree.time(shared), to);
        EXPECT_EQ(tree.causes(shared), tree.causes(alone)) << to;
        const PastTree::Node other = tree.add(start, to, {Cause::CdpPace});
        EXPECT_EQ(cycles_of(tree.causes(other).total(), Cause::CdpPace), to - 700);
    }
}

/// Bursts of three clients, one of which is rare; some cycles apart.
void grant_some(BurstTrail& trail, unsigned count, Cycle& cycle, std::mt19937& random)
{
    for (unsigned i = 0; i < count; ++i) {
        const auto client = static_cast<std::uint8_t>(random() % 200 == 0 ? 2 : random() % 2);
        cycle += 1 + random() % 3;
        trail.grant({.entered = cycle - 1, .chunked = cycle - 1, .marks = {client, 1, false, false, false, 0, 0, 0}}, cycle, 1);
    }
}

TEST(BurstTrail, FindsTheFirstBurstOfAClientBehindACycle)
{
    std::mt19937 random(3);
    BurstTrail trail;
    Cycle cycle = 10;
    grant_some(trail, 3000, cycle, random);
    unsigned found = 0, given_up = 0;
    for (int i = 0; i < 3000; ++i) {
        const auto client = static_cast<unsigned>(random() % 3);
        BurstTrail::Number otherwise = trail.granted(client);
        for (unsigned back = random() % 20; back != 0 && trail.granted_before(otherwise) != BurstTrail::kNone; --back)
            otherwise = trail.granted_before(otherwise);
        const Cycle behind = random() % trail[otherwise].granted;
        BurstTrail::Number first = trail.base(), want = otherwise;
        while (trail[first].granted <= behind) ++first;
        for (BurstTrail::Number n = first; n < otherwise && n < first + BurstTrail::kNear && want == otherwise; ++n)
            if (trail[n].client == client) want = n;
        ASSERT_EQ(trail.granted_behind(behind, client, otherwise), want);
        ++(want == otherwise ? given_up : found);
    }
    EXPECT_GT(found, 1000u);
    EXPECT_GT(given_up, 100u);
    EXPECT_EQ(trail.granted_behind(kNever, 0, trail.granted(0)), trail.granted(0));
}

}  // namespace
}  // namespace dlasim
