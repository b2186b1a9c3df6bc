// The small FIFO between registers: it loses nothing, invents nothing, and is as late and as deep as documented.
#include <gtest/gtest.h>

#include <deque>
#include <random>

#include "elements/pipe_row.h"
#include "elements/stage.h"
#include "elements/word_fifo.h"
#include "units/rubik/packer.h"

namespace dlasim {
namespace elements_law_test {

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

TEST(FlaggedRow, CyclesAtOnceAreAsManySingleOnes)
{
    std::mt19937 random{1};
    for (unsigned stages : {1u, 4u, 6u, 15u}) {
        elements::FlaggedRow single(stages), at_once(stages);
        for (unsigned trial = 0; trial < 500; ++trial) {
            if (random() % 4 == 0) {  // a cycle in which nothing leaves
                const bool in = random() % 2, flag = random() % 2;
                for (elements::FlaggedRow* row : {&single, &at_once}) {
                    elements::Flow flow{false};
                    row->sweep(in, flag, flow);
                }
            }
            const unsigned cycles = 1 + random() % 16;
            const auto in = static_cast<std::uint32_t>(random()) & ((1u << cycles) - 1), flags = static_cast<std::uint32_t>(random()) & in;
            std::uint32_t left = 0;
            for (unsigned i = 0; i < cycles; ++i) {
                if (single.valid() && single.flag()) left |= 1u << i;
                elements::Flow flow{true};
                single.sweep(in >> i & 1, flags >> i & 1, flow);
            }
            ASSERT_EQ(at_once.flow(cycles, in, flags), left);
            ASSERT_EQ(at_once.valid(), single.valid());
            ASSERT_EQ(at_once.distance(), single.distance());
        }
    }
}

TEST(EitherSkid, ThatFlowsStaysAsItIsWithABeatInAndOneOut)
{
    std::mt19937 random{2};
    for (const bool stalls : {false, true}) {
        elements::EitherSkid skid{stalls};
        unsigned flowing = 0;
        for (unsigned cycle = 0; cycle < 1000; ++cycle) {
            elements::Flow flow{random() % 3 != 0};
            const bool flows = skid.flows(), in = random() % 3 != 0, ready = flow.ready;
            skid.sweep(in, flow);
            if (!flows || !in || !ready) continue;
            ++flowing;
            ASSERT_TRUE(skid.flows());
            ASSERT_TRUE(flow.ready);
        }
        EXPECT_GT(flowing, 100u);
    }
}

TEST(Stage, ThatIsSettledChangesOnlyIfSomethingComesOrIsTaken)
{
    std::mt19937 random{3};
    for (const bool stalls : {false, true}) {
        elements::Stage<unsigned> stage;
        unsigned settled = 0;
        for (unsigned cycle = 0; cycle < 1000; ++cycle) {
            const bool in = random() % 2, taken = stage.valid() && random() % 2;
            if (stage.settled(stalls)) {
                ++settled;
                elements::Stage<unsigned> next = stage;
                ASSERT_FALSE(next.step(false, false, stalls));
                ASSERT_EQ(next.valid(), stage.valid());
                ASSERT_EQ(next.ready(), stage.ready());
            }
            stage.step(in ? &cycle : nullptr, taken, stalls);
        }
        EXPECT_GT(settled, 100u);
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
    }
}

}  // namespace elements_law_test
}  // namespace dlasim
