// Elements that are built of others, or counted instead of kept, against the ones they stand for: random
// traffic, equal in every cycle.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <deque>
#include <random>

#include "elements/chain.h"
#include "elements/command_fifo.h"
#include "elements/context_fifo.h"
#include "elements/occupancy.h"
#include "elements/slices.h"
#include "links/dma_shim.h"

namespace dlasim::elements {
namespace chain_law_test {

/// Bits that are 1 with a probability that itself wanders: long stalls and long rushes.
class Traffic {
public:
    explicit Traffic(unsigned seed) : random_(seed) {}
    bool operator()()
    {
        if (random_() % 64 == 0) level_ = random_() % 5;
        return random_() % 4 < level_;
    }
    unsigned below(unsigned n) { return static_cast<unsigned>(random_() % n); }

private:
    std::mt19937 random_;
    unsigned level_ = 2;
};

/// Drives two parts alike and expects the same of them.
template <class A, class B>
void expect_equal(A a, B b, unsigned seed)
{
    Traffic in(seed), out(seed + 1);
    for (unsigned cycle = 0; cycle < 20000; ++cycle) {
        const bool offered = in(), taken = out();
        ASSERT_EQ(a.valid(), b.valid()) << cycle;
        ASSERT_EQ(ready_of(a, taken), ready_of(b, taken)) << cycle;
        Flow fa{taken}, fb{taken};
        const bool ready = ready_of(a, taken);
        a.sweep(offered, fa);
        b.sweep(offered, fb);
        ASSERT_EQ(fa.ready, ready) << cycle;
        ASSERT_EQ(fa.ready, fb.ready) << cycle;
    }
}

TEST(EitherSkid, IsTheStageThatItSaysItIs)
{
    for (unsigned seed = 0; seed < 10; ++seed) {
        expect_equal(EitherSkid{.stalls = false}, Skid{}, seed);
        expect_equal(EitherSkid{.stalls = true}, SkidB{}, seed);
    }
}

TEST(PipeRow, IsThatManyPipes)
{
    for (unsigned seed = 0; seed < 10; ++seed) {
        expect_equal(PipeRow<1>{}, Pipe{}, seed);
        expect_equal(PipeRow<3>{}, Row<Pipe, 3>{}, seed);
        expect_equal(PipeRow<7>{}, Row<Pipe, 7>{}, seed);
        expect_equal(Chain<PipeRow<2>, Skid>{}, Chain<Pipe, Pipe, Skid>{}, seed);
    }
}

/// Part of the row, too, and whether anything changed.
template <unsigned N>
void expect_skids(unsigned first, unsigned seed)
{
    Traffic in(seed), out(seed + 1);
    SkidRow<N> row;
    std::array<Skid, N> skids{};
    for (unsigned cycle = 0; cycle < 20000; ++cycle) {
        const bool offered = in(), taken = out();
        ASSERT_EQ(row.valid(), skids[N - 1].valid()) << cycle;
        unsigned distance = 0;
        while (distance < N && !skids[N - 1 - distance].valid()) ++distance;
        ASSERT_EQ(row.distance(), distance == N ? kNoBeat : distance) << cycle;
        Flow of_row{taken}, of_skids{taken};
        if (first == 0) row.sweep(offered, of_row);
        else row.sweep_from(first, offered, of_row);
        for (unsigned i = N; i-- > first;) skids[i].sweep(i == first ? offered : skids[i - 1].valid(), of_skids);
        ASSERT_EQ(of_row.ready, of_skids.ready) << cycle;
        ASSERT_EQ(of_row.changed, of_skids.changed) << cycle;
        ASSERT_EQ(row.ready(), skids[0].ready()) << cycle;
    }
}

TEST(SkidRow, IsThatManySkids)
{
    for (unsigned seed = 0; seed < 10; ++seed) {
        expect_skids<1>(0, seed);
        expect_skids<2>(0, seed);
        expect_skids<4>(0, seed);
        expect_skids<4>(3, seed);
        expect_equal(SkidRow<3>{}, Row<Skid, 3>{}, seed);
    }
}

/// A stage that is never asked twice for the same beat says so: what goes in comes out, in the same number.
template <class Part>
void expect_conserved(Part part, unsigned latency, unsigned capacity, unsigned seed)
{
    Traffic in(seed), out(seed + 1);
    unsigned held = 0;
    for (unsigned cycle = 0; cycle < 20000; ++cycle) {
        const bool offered = in(), taken = out(), ready = ready_of(part, taken), valid = part.valid();
        ASSERT_TRUE(!valid || held != 0) << cycle;
        Flow flow{taken};
        part.sweep(offered, flow);
        held += (offered && ready) - (valid && taken);
        ASSERT_LE(held, capacity) << cycle;
    }
    // Empty it, then one beat alone takes the latency.
    for (unsigned cycle = 0; cycle < 100; ++cycle) {
        Flow flow{true};
        part.sweep(false, flow);
    }
    ASSERT_FALSE(part.valid());
    for (unsigned cycle = 0; cycle < latency; ++cycle) {
        ASSERT_FALSE(part.valid()) << cycle;
        Flow flow{true};
        part.sweep(cycle == 0, flow);
    }
    ASSERT_TRUE(part.valid());
}

TEST(Beside, FillsAndEmptiesBothBranchesTogether)
{
    for (unsigned seed = 0; seed < 10; ++seed) {
        expect_conserved(Beside<Row<Skid, 3>, Row<SkidB, 3>>{}, 3, 6, seed);
        expect_conserved(Beside<Rigid<4>, PipeRow<4>>{}, 4, 5, seed);
        expect_conserved(Beside<Chain<Rigid<4>, Rigid<3>>, PipeRow<7>>{}, 7, 9, seed);
    }
}

TEST(Either, IsThePartThatWasChosen)
{
    for (unsigned seed = 0; seed < 4; ++seed) {
        expect_equal(Either<Pipe, Rigid<3>>{.second = false}, Pipe{}, seed);
        expect_equal(Either<Pipe, Rigid<3>>{.second = true}, Rigid<3>{}, seed);
    }
}

/// Words go in as the FIFOs allow; pieces come out slice by slice, a pass of 1 to 8 words each.
TEST(Cutter, IsAFifoForEverySlice)
{
    constexpr unsigned kSlices = 4, kDepth = 4;
    for (unsigned seed = 0; seed < 10; ++seed) {
        Traffic in(seed), out(seed + 1);
        Cutter cutter(kSlices, kDepth);
        std::array<std::array<Places<kDepth + 1>, kSlices>, 2> fifos{};
        std::deque<unsigned> coming;  // atoms of the pass's words still to be pushed
        unsigned pixels = 0, slice = kSlices, pixel = 0;
        for (unsigned cycle = 0; cycle < 20000; ++cycle) {
            if (slice == kSlices) {
                pixels = 1 + in.below(8);
                for (unsigned left = pixels; left != 0; left -= std::min(2u, left)) coming.push_back(std::min(2u, left));
                slice = pixel = 0;
            }
            const unsigned half = pixel % 2, atoms = coming.empty() ? 0 : coming.front();
            bool room = true;
            for (unsigned h = 0; h < atoms; ++h)
                for (const auto& fifo : fifos[h]) room = room && fifo.ready();
            ASSERT_EQ(cutter.ready(atoms), room) << cycle;
            ASSERT_EQ(cutter.valid(half, slice), fifos[half][slice].valid()) << cycle;
            const bool push = atoms != 0 && room && in(), pop = cutter.valid(half, slice) && out();
            for (unsigned h = 0; h < 2; ++h)
                for (unsigned f = 0; f < kSlices; ++f) {
                    Flow flow{pop && h == half && f == slice};
                    fifos[h][f].sweep(push && h < atoms, flow);
                }
            if (push) {
                cutter.push(atoms);
                coming.pop_front();
            }
            if (!pop) continue;
            cutter.pop(half, slice);
            if (++pixel == pixels) {
                pixel = 0;
                ++slice;
            }
        }
    }
}

TEST(Gatherer, IsAFifoForEverySlice)
{
    constexpr unsigned kSlices = 8, kDepth = 3;
    for (unsigned seed = 0; seed < 10; ++seed) {
        Traffic in(seed), out(seed + 1);
        Gatherer gatherer(kSlices, kDepth);
        std::array<Places<kDepth + 1>, kSlices> fifos{};
        unsigned pixels = 1, slice = 0, pixel = 0;
        for (unsigned cycle = 0; cycle < 20000; ++cycle) {
            bool all = true;
            for (const auto& fifo : fifos) all = all && fifo.valid();
            ASSERT_EQ(gatherer.valid(1), all) << cycle;
            ASSERT_EQ(gatherer.ready(0, slice), fifos[slice].ready()) << cycle;
            const bool push = fifos[slice].ready() && in(), pop = all && out();
            for (unsigned f = 0; f < kSlices; ++f) {
                Flow flow{pop};
                fifos[f].sweep(push && f == slice, flow);
            }
            if (push) gatherer.push(0, slice);
            if (pop) gatherer.pop(1);
            if (!push || ++pixel != pixels) continue;
            pixel = 0;
            if (++slice != kSlices) continue;
            slice = 0;
            pixels = 1 + in.below(kDepth);  // a pass that the FIFOs can hold
        }
    }
}

TEST(ContextFifo, ShowsAContextTwoCyclesLaterAndFreesItsPlaceOneCycleLate)
{
    ContextFifo fifo(4);
    fifo.clock(true, false);
    EXPECT_FALSE(fifo.valid());
    fifo.clock(false, false);
    EXPECT_TRUE(fifo.valid());
    unsigned taken = 1;
    while (fifo.ready()) {
        fifo.clock(true, false);
        ASSERT_LE(++taken, 6u);
    }
    EXPECT_EQ(taken, 5u);     // four in the RAM, one at the output
    fifo.clock(false, true);  // the next one moves to the output ...
    EXPECT_FALSE(fifo.ready());
    fifo.clock(false, false);  // ... and its place is free a cycle later
    EXPECT_TRUE(fifo.ready());
}

TEST(ContextFifo, KeepsWhatWasPushed)
{
    for (unsigned seed = 0; seed < 10; ++seed) {
        Traffic in(seed), out(seed + 1);
        ContextFifo fifo(32);
        unsigned held = 0;
        for (unsigned cycle = 0; cycle < 20000; ++cycle) {
            const bool push = fifo.ready() && in(), pop = fifo.valid() && out();
            const bool changed = fifo.clock(push, pop);
            ASSERT_TRUE(changed || (!push && !pop)) << cycle;
            held += push - pop;
            ASSERT_LE(held, 33u) << cycle;
            ASSERT_TRUE(!fifo.valid() || held != 0) << cycle;
        }
    }
}

TEST(CommandQueue, GivesItsItemsInOrderWhoeverAsksBeforeThereIsOne)
{
    for (unsigned seed = 0; seed < 10; ++seed) {
        Traffic in(seed), out(seed + 1);
        CommandQueue<unsigned> queue(16);
        unsigned pushed = 0, popped = 0;
        for (unsigned cycle = 0; cycle < 20000; ++cycle) {
            const bool push = queue.ready() && in(), pop = out();
            if (queue.valid()) {
                ASSERT_EQ(queue.head(), popped) << cycle;
                popped += pop;
            }
            queue.clock(push ? &pushed : nullptr, pop);
            pushed += push;
            ASSERT_EQ(queue.empty(), pushed == popped) << cycle;
            ASSERT_LE(pushed - popped, 17u) << cycle;
        }
        EXPECT_GT(popped, 1000u);
    }
}

/// What the outlet shows at its channel is what the stage has at its output.
TEST(DmaOutput, IsATwoPlaceStageInFrontOfAChannel)
{
    for (unsigned seed = 0; seed < 20; ++seed) {
        const bool stalls = seed & 1;
        Traffic in(seed), out(seed + 1);
        Channel<unsigned> channel;
        DmaOutput<unsigned> outlet(channel, stalls);
        EitherSkid stage{.stalls = stalls};
        std::deque<unsigned> sent;
        for (Cycle now = 1; now < 20000; ++now) {
            outlet.begin(now);
            ASSERT_EQ(outlet.ready(), stage.ready()) << now;
            ASSERT_EQ(channel.valid(now), stage.valid()) << now;
            if (channel.fires(now)) {
                ASSERT_EQ(channel.item(now), sent.front());
                sent.pop_front();
            }
            const bool push = outlet.ready() && in();
            if (push) {
                outlet.push() = static_cast<unsigned>(now);
                sent.push_back(static_cast<unsigned>(now));
            }
            Flow flow{channel.ready(now)};
            stage.sweep(push, flow);
            ASSERT_EQ(outlet.end(now), flow.changed || channel.fires(now)) << now;
            channel.set_ready(now + 1, out());
        }
    }
}

}  // namespace chain_law_test
}  // namespace dlasim::elements
