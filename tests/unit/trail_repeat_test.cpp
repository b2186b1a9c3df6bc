// Trails of a time that repeats itself, told in one step and told as they come.
#include <gtest/gtest.h>

#include <algorithm>

#include "links/trail.h"
#include "platform/critical_path.h"
#include "traffic/port_trail.h"

extern "C" int sc_main(int, char*[]) { return 0; }  // SystemC's library wants one

namespace dlasim {
namespace {

constexpr Cycle kPeriod = 300;

/// What two clients do in every period: six bursts, which are answered in another order and later than the period ends.
struct Traffic {
    struct Burst {
        unsigned client;
        Cycle entered, granted, offered, accepted, first, last;
    };
    // closely one behind the other, with a pause, two at once
    std::vector<Burst> bursts{{0, 5, 10, 12, 12, 200, 201},     {0, 5, 11, 14, 15, 202, 203},     {1, 7, 12, 16, 16, 240, 245},
                              {0, 90, 100, 103, 104, 204, 205}, {1, 90, 101, 105, 105, 250, 290}, {0, 150, 160, 170, 280, 310, 320}};

    /// All that happens before `end`, in the order of time.
    void tell(BurstTrail& trail, Cycle end) const
    {
        struct Event {
            Cycle at;
            int kind;
            std::uint64_t number;
            const Burst* burst;
            Cycle base;
        };
        std::vector<Event> events;
        for (Cycle base = 0; base < end; base += kPeriod)
            for (const Burst& burst : bursts) {
                const std::uint64_t number = base / kPeriod * bursts.size() + static_cast<std::uint64_t>(&burst - bursts.data());
                int kind = 0;
                for (const Cycle at : {burst.granted, burst.offered, burst.accepted, burst.first, burst.last})
                    events.push_back({base + at, kind++, number, &burst, base});
            }
        std::ranges::stable_sort(events, {}, &Event::at);
        for (const auto& [at, kind, number, burst, base] : events) {
            if (at >= end) break;
            TrailChunk chunk{base + burst->entered, base + burst->granted - 1, {}};
            chunk.marks.client = static_cast<std::uint8_t>(burst->client);
            if (kind == 0) trail.grant(chunk, at, 2);
            else if (kind == 1) trail.offer(at);
            else if (kind == 2) trail.accept(trail[number], number, at, 4);
            else if (kind == 3) trail.answer(trail[number], number, at - 2, at, 1, 3);
            else trail.finish(trail[number], number, at);
        }
    }
};

void expect_equal(BurstTrail& a, BurstTrail& b)
{
    ASSERT_EQ(a.end(), b.end());
    EXPECT_EQ(a.latest(), b.latest());
    EXPECT_EQ(a.ended(), b.ended());
    for (unsigned client = 0; client < kClients; ++client) {
        EXPECT_EQ(a.granted(client), b.granted(client));
        EXPECT_EQ(a.answered(client), b.answered(client));
    }
    for (BurstTrail::Number n = 0; n < a.end(); ++n) {
        const TrailBurst &x = a[n], &y = b[n];
        const auto cycles = [](const TrailBurst& burst) {
            return std::array{burst.entered(),  burst.chunked(), burst.granted, burst.offered(),
                              burst.accepted(), burst.due(),     burst.first(), burst.last()};
        };
        EXPECT_EQ(cycles(x), cycles(y)) << n;
        EXPECT_EQ(x.client, y.client) << n;
        EXPECT_EQ(x.granted_after, y.granted_after) << n;
        EXPECT_EQ(x.accepted_after, y.accepted_after) << n;
        EXPECT_EQ(x.answered_after, y.answered_after) << n;
        EXPECT_EQ(a.granted_before(n), b.granted_before(n)) << n;
        if (x.first() == kNever) continue;
        EXPECT_EQ(a.answered_before(n), b.answered_before(n)) << n;
        EXPECT_EQ(a.any_answered_before(n), b.any_answered_before(n)) << n;
        if (a.streams) EXPECT_EQ(x.stream(n), y.stream(n)) << n;
    }
}

TEST(RepeatedTrail, OfBurstsIsAsTheyCome)
{
    const Traffic traffic;
    for (const Cycle mark : {0, 1, 13, 102, 205, 243, 260, 299})
        for (const std::uint64_t times : {1, 2, 50}) {
            for (const bool streams : {false, true}) {
                BurstTrail told, repeated;
                told.streams = repeated.streams = streams;
                const Cycle now = 4 * kPeriod + mark;  // all of it is told
                traffic.tell(repeated, now + 1);
                const auto period = repeated.period(now - 3 * kPeriod, now - 2 * kPeriod);
                ASSERT_EQ(period, traffic.bursts.size());
                repeated.repeat(*period, kPeriod, times, 4, 1, 3);
                traffic.tell(told, now + times * kPeriod + 1);
                expect_equal(told, repeated);
                if (HasFailure()) FAIL() << "mark " << mark << ", " << times << " times";
            }
        }
}

TEST(RepeatedTrail, KnowsNoPeriodOfWhichSomethingIsOnItsWay)
{
    BurstTrail trail;
    Traffic().tell(trail, kPeriod + 15);
    EXPECT_EQ(trail.period(0, kPeriod), std::nullopt);
    EXPECT_EQ(trail.period(0, 105), 5u);
}

/// Two notes of the period ahead of time, an event, and one that says what was said before.
void note(Trail& trail, Cycle base)
{
    trail.works(base + 10, Cause::Computing);
    trail.waits(base + 50, TrailPlace::Cacc, Cause::AccumulatorFull, 3);
    trail.works(base + 70, Cause::Computing);
    trail.event(base + 100, TrailPlace::Sdp, Cause::Interrupt, 2);
    trail.event(base + 110, TrailPlace::Sdp, Cause::Interrupt, 2);
    trail.works(base + 290, Cause::Computing);
    trail.works(base + 340, Cause::WeightLoad);
}

TEST(RepeatedTrail, OfAPlaceIsAsItIsNoted)
{
    for (const Cycle mark : {0, 9, 10, 60, 105, 295})
        for (const std::uint64_t times : {1, 2, 40}) {
            Trail told(TrailPlace::Csc), repeated(TrailPlace::Csc);
            const Cycle now = 3 * kPeriod + mark;
            for (Cycle base = 0; base <= now; base += kPeriod) note(repeated, base);
            repeated.repeat(now - 2 * kPeriod, now - kPeriod, times);
            for (Cycle base = 0; base <= now + times * kPeriod; base += kPeriod) note(told, base);
            ASSERT_EQ(told.segments().size(), repeated.segments().size()) << mark;
            for (std::size_t i = 0; i < told.segments().size(); ++i) {
                EXPECT_EQ(told.segments()[i].from, repeated.segments()[i].from) << mark;
                EXPECT_TRUE(told.segments()[i].same(repeated.segments()[i])) << mark;
            }
        }
}

/// A unit that computes, and waits for the last burst of a period; another one that has worked on something since the first cycle.
void note_units(Trails& trails, Cycle base)
{
    if (base == 0) {
        trails[TrailPlace::Software].works(0, Cause::Programming);
        trails[TrailPlace::Pdp].works(3, Cause::PdpPace);
        trails[of_client(TrailPlace::Ask, 0)].works(1, Cause::Requests);
        trails[of_client(TrailPlace::Ask, 1)].waits(1, TrailPlace::Sdp, Cause::Requests, 2);
    }
    trails[TrailPlace::Csc].waits(base + 20, of_client(TrailPlace::Read, 1), Cause::DataLate);
    trails[TrailPlace::Csc].works(base + 90, Cause::Computing);
    trails[TrailPlace::Sdp].waits(base + 40, TrailPlace::Csc, Cause::SdpPace, 7);
    trails[TrailPlace::Cacc].waits(base + 60, TrailPlace::Pdp, Cause::AccumulatorFull, 1);
    trails[TrailPlace::Cacc].waits(base + 130, of_client(TrailPlace::Read, 0), Cause::AccumulatorFull, 1);
}

/// What the cycles go to is the same whether periods are told one by one or repeated; also when only few of them are.
TEST(RepeatedTrail, LeadsToTheSameCauses)
{
    const Traffic traffic;
    std::uint64_t folded = 0;
    for (const Cycle mark : {1, 102, 243, 299})
        for (const std::uint64_t times : {1, 20, 73, 74, 75, 76, 1000}) {
            const Cycle now = 40 * kPeriod + mark, end = now + times * kPeriod;
            for (const TrailPlace place : {TrailPlace::Csc, TrailPlace::Sdp, TrailPlace::Cacc}) {
                CriticalPath told, repeated;
                for (Cycle base = 0; base <= now; base += kPeriod) note_units(repeated.trails, base);
                traffic.tell(repeated.ports[0].reads, now + 1);
                for (std::uint64_t done = 0; done != times;) {
                    const std::uint64_t more =
                        repeated.repeat(now + done * kPeriod - 3 * kPeriod, now + done * kPeriod - 2 * kPeriod, times - done);
                    ASSERT_NE(more, 0u);
                    done += more;
                }
                folded += repeated.ports[0].reads.base() != 0;  // what is older has been summed up
                for (Cycle base = 0; base <= end; base += kPeriod) note_units(told.trails, base);
                traffic.tell(told.ports[0].reads, end + 1);
                for (CriticalPath* const path : {&told, &repeated}) path->trails[TrailPlace::Pin].waits(end, place, Cause::Interrupt, 1);
                EXPECT_TRUE(told.causes(0, end, true) == repeated.causes(0, end, true))
                    << "mark " << mark << ", " << times << " times, from " << static_cast<int>(place);
            }
        }
    EXPECT_GE(folded, 24u);
}

}  // namespace
}  // namespace dlasim
