<<<<<<< HEAD
// The small FIFO between registers: it loses nothing, invents nothing, and is as late and as deep as documented.
#include <gtest/gtest.h>

#include <deque>
#include <random>

#include "elements/word_fifo.h"
#include "units/rubik/packer.h"

namespace dlasim {
namespace {

using elements::WordFifo;
using rubik::Packer;

template <std::uint8_t kWords>
void nothing_is_lost()
{
    std::mt19937 random(kWords);
    for (unsigned trial = 0; trial < 200; ++trial) {
        WordFifo<kWords> fifo;
        const unsigned writes = random() % 5, reads = random() % 5;  // of 4 cycles
        std::deque<unsigned> inside;                                 // cycle in which each word was written
        for (unsigned cycle = 0; cycle < 400; ++cycle) {
            const bool write = random() % 4 < writes, read = random() % 4 < reads;
            const bool enters = write && fifo.ready(), leaves = read && fifo.valid();
            if (fifo.valid()) {
                ASSERT_FALSE(inside.empty());
                ASSERT_GE(cycle, inside.front() + fifo.kLatency);
            }
            fifo.step(write, read);
            if (leaves) inside.pop_front();
            if (enters) inside.push_back(cycle);
            ASSERT_EQ(fifo.held(), inside.size());
            ASSERT_LE(inside.size(), fifo.kCapacity);
        }
        for (unsigned cycle = 0; cycle < 40; ++cycle) fifo.step(false, true);
        ASSERT_EQ(fifo.held(), 0u) << "what was written comes out";
        ASSERT_TRUE(fifo.ready());
    }
}

TEST(WordFifo, LosesNothingAndInventsNothing)
{
    nothing_is_lost<1>();
    nothing_is_lost<2>();
    nothing_is_lost<4>();
    nothing_is_lost<7>();
}

TEST(WordFifo, ALoneWordIsAtTheOutputTwoCyclesAfterItWasWritten)
{
    WordFifo<4> fifo;
    fifo.step(true, true);
    EXPECT_FALSE(fifo.valid());
    fifo.step(false, true);
    EXPECT_TRUE(fifo.valid());
}

TEST(WordFifo, PassesAWordACycle)
{
    WordFifo<4> fifo;
    unsigned left = 0;
    for (unsigned cycle = 0; cycle < 100; ++cycle) {
        ASSERT_TRUE(fifo.ready());
        left += fifo.valid();
        fifo.step(true, true);
    }
    EXPECT_EQ(left, 98u);
}

TEST(WordFifo, TakesSixWordsThatNobodyReads)
{
    WordFifo<4> fifo;
    unsigned entered = 0;
    for (unsigned cycle = 0; cycle < 100; ++cycle) {
        entered += fifo.ready();
        fifo.step(true, false);
    }
    EXPECT_EQ(entered, 6u);
    EXPECT_EQ(fifo.held(), fifo.kCapacity);
}

TEST(WordFifo, WhenNothingChangedTheNextCycleIsTheSame)
{
    std::mt19937 random(3);
    WordFifo<4> fifo;
    for (unsigned cycle = 0; cycle < 10000; ++cycle) {
        const bool write = random() & 1, read = random() & 1;
        if (fifo.step(write, read)) continue;
        const WordFifo<4> before = fifo;
        EXPECT_FALSE(fifo.step(write, read));
        EXPECT_EQ(fifo, before);
    }
}

// Blocks of beats of one and two atoms, a sender that takes one or two: every atom that was drained is sent, and the
// register file is told of every block.
TEST(RubikPacker, SendsEveryAtomOfEveryBlock)
{
    std::mt19937 random(5);
    for (unsigned trial = 0; trial < 200; ++trial) {
        Packer packer;
        const unsigned row = 1 + random() % 9, beats = (row + 1) / 2, sends = 1 + random() % 4;
        unsigned issued = 0, drained = 0, sent = 0, blocks = 0, ended = 0, filled = 0;
        for (unsigned cycle = 0; cycle < 3000; ++cycle) {
            if (filled < 2 && random() % 3 == 0) ++filled;
            Packer::Beat beat;
            const bool issue = cycle < 2000 && packer.ready() && random() % 4 != 0;
            if (issue) {
                beat.ends_block = issued % beats == beats - 1;
                beat.atoms = beat.ends_block && row % 2 != 0 ? 1 : 2;
                drained += beat.atoms;
                ended += beat.ends_block;
                ++issued;
            }
            unsigned take = 0;
            if (random() % 4 < sends || cycle >= 2000) take = packer.available(2) && random() % 3 != 0 ? 2 : packer.available(1) ? 1 : 0;
            const Packer::Cycle done = packer.step(issue ? &beat : nullptr, filled != 0, take);
            sent += take;
            ASSERT_LE(sent, drained);
            ASSERT_LE(drained - sent, Packer::kAtoms);
            blocks += done.block_read;
            filled -= done.block_read;
        }
        ASSERT_EQ(sent, drained) << "rows of " << row;
        ASSERT_EQ(blocks, ended);
=======
// Elements that are built of others, or counted instead of kept, against the ones they stand for: random
// traffic, equal in every cycle.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <deque>
#include <random>

#include "elements/chain.h"
#include "elements/context_fifo.h"
#include "elements/occupancy.h"
#include "elements/slices.h"
#include "links/dma_shim.h"

namespace dlasim::elements {
namespace {

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

TEST(Registered, IsTheStageThatItSaysItIs)
{
    for (unsigned seed = 0; seed < 10; ++seed) {
        expect_equal(Registered{.stalls = false}, Skid{}, seed);
        expect_equal(Registered{.stalls = true}, SkidB{}, seed);
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

/// What the outlet shows at its channel is what the stage has at its output.
TEST(Outlet, IsATwoPlaceStageInFrontOfAChannel)
{
    for (unsigned seed = 0; seed < 20; ++seed) {
        const bool stalls = seed & 1;
        Traffic in(seed), out(seed + 1);
        Channel<unsigned> channel;
        Outlet<unsigned> outlet(channel, stalls);
        Registered stage{.stalls = stalls};
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
>>>>>>> 8e31aa8 (cdp: local response normalisation runs, cycle for cycle)
    }
}

}  // namespace
<<<<<<< HEAD
}  // namespace dlasim
=======
}  // namespace dlasim::elements
>>>>>>> 8e31aa8 (cdp: local response normalisation runs, cycle for cycle)
