#include "registers/fields/bdma.h"

#include <gmock/gmock.h>

#include <random>

#include "dma_bench.h"
#include "facts/presets.h"
#include "rounds.h"
#include "units/bdma/core.h"

namespace dlasim {
namespace bdma_test {

using test::Interface;
using test::kAtom;
using testing::ElementsAre;
using Sent = Interface::Sent;

/// BDMA between two memories. Register writes are given by U, the cycle at the unit's port.
using Bench = test::DmaBench<make_bdma>;

struct Copy {
    std::uint64_t source = 0x80000000, destination = 0x90000000;
    std::uint32_t atoms = 1, lines = 1, surfaces = 1;
    std::uint32_t source_line = 0, destination_line = 0, source_surface = 0, destination_surface = 0;
    bool from_mc = true, to_mc = true;
};

/// Writes a descriptor and pushes it; the next free cycle.
Cycle push(Bench& bench, Cycle u, const Copy& c)
{
    using namespace reg::bdma;
    const auto low = [](std::uint64_t x) { return static_cast<std::uint32_t>(x); };
    const std::pair<std::uint32_t, std::uint32_t> writes[] = {{CFG_SRC_ADDR_LOW, low(c.source)},
                                                              {CFG_SRC_ADDR_HIGH, low(c.source >> 32)},
                                                              {CFG_DST_ADDR_LOW, low(c.destination)},
                                                              {CFG_DST_ADDR_HIGH, low(c.destination >> 32)},
                                                              {CFG_LINE, c.atoms - 1},
                                                              {CFG_CMD, c.from_mc | c.to_mc << 1},
                                                              {CFG_LINE_REPEAT, c.lines - 1},
                                                              {CFG_SRC_LINE, c.source_line},
                                                              {CFG_DST_LINE, c.destination_line},
                                                              {CFG_SURF_REPEAT, c.surfaces - 1},
                                                              {CFG_SRC_SURF, c.source_surface},
                                                              {CFG_DST_SURF, c.destination_surface},
                                                              {CFG_OP, 1}};
    for (const auto& [offset, data] : writes) bench.write(u++, offset, data);
    return u;
}

constexpr Cycle kStart = 100;  // U of the launch in the examples

// bdma.md 5: four atoms, read request at the port in 6, write command in 8, responses in 36 and 37.
TEST(Bdma, TheWorkedExampleMeetsItsCycles)
{
    Bench bench;
    push(bench, kStart - 13, {.atoms = 4});
    bench.write(kStart, reg::bdma::CFG_LAUNCH0, 1);
    bench.mc.write_latency = 19;  // last beat at the port in 42, complete in 61
    bench.run(kStart + 100);
    EXPECT_THAT(bench.mc.reads, ElementsAre(Sent{kStart + 6, 0x80000000, 4}));
    EXPECT_THAT(bench.mc.commands, ElementsAre(Sent{kStart + 8, 0x90000000, 4}));
    EXPECT_THAT(bench.mc.beats, ElementsAre(kStart + 41, kStart + 42));
    EXPECT_THAT(bench.mc.credits, ElementsAre(kStart + 41, kStart + 42));
    EXPECT_THAT(bench.interrupts, ElementsAre(std::pair<Cycle, std::uint32_t>{kStart + 64, 1u << 6}));
}

// bdma.md 1.4: a line of b beats takes b + 1 cycles, the next descriptor of the same source follows at once.
TEST(Bdma, LinesFollowEachOtherWithOneCommandCycle)
{
    Bench bench;
    const Copy two_lines{.atoms = 3, .lines = 2, .source_line = 0x100, .destination_line = 0x200};
    push(bench, kStart - 26, two_lines);
    push(bench, kStart - 13, two_lines);
    bench.write(kStart, reg::bdma::CFG_LAUNCH1, 1);
    bench.run(kStart + 150);
    EXPECT_THAT(bench.mc.reads, ElementsAre(Sent{kStart + 6, 0x80000000, 3}, Sent{kStart + 7, 0x80000100, 3},
                                            Sent{kStart + 8, 0x80000000, 3}, Sent{kStart + 9, 0x80000100, 3}));
    const Cycle first = kStart + 41;
    EXPECT_THAT(bench.mc.commands, ElementsAre(Sent{kStart + 8, 0x90000000, 3}, Sent{first + 2, 0x90000200, 3},
                                               Sent{first + 5, 0x90000000, 3}, Sent{first + 8, 0x90000200, 3}));
    EXPECT_THAT(bench.mc.beats, ElementsAre(first, first + 1, first + 3, first + 4, first + 6, first + 7, first + 9, first + 10));
    ASSERT_EQ(bench.interrupts.size(), 1u);
    EXPECT_EQ(bench.interrupts[0].second, 1u << 7);
}

// bdma.md 6: the last beat is accepted in e (at the port in e + 1), the request of the other source is there in e + 3.
TEST(Bdma, AnotherSourceWaitsForTheLastBeat)
{
    Bench bench;
    push(bench, kStart - 26, {.atoms = 2});
    push(bench, kStart - 13, {.atoms = 2, .from_mc = false});
    bench.write(kStart, reg::bdma::CFG_LAUNCH0, 1);
    bench.run(kStart + 200);
    ASSERT_EQ(bench.mc.beats.size(), 2u);
    EXPECT_THAT(bench.cv.reads, ElementsAre(Sent{bench.mc.beats[0] + 2, 0x80000000, 2}));
}

TEST(Bdma, ALaunchWithoutDescriptorsNeverEnds)
{
    Bench bench;
    bench.write(kStart, reg::bdma::CFG_LAUNCH0, 1);
    bench.run(kStart + 1000);
    EXPECT_TRUE(bench.interrupts.empty());
    EXPECT_NE(bench.core->waiting_for(), "idle");
}

TEST(Bdma, StatusTellsFreeSlotsAndBusyGroups)
{
    Bench bench;
    const auto status = [&](Cycle decode) {
        bench.csb.request.put(decode, {reg::bdma::STATUS, 0, false});
        bench.run(decode + 2);
        return bench.csb.response.take();
    };
    EXPECT_EQ(status(5), 20u | 1u << 8);
    for (Cycle u = 10; u < 13; ++u) bench.write(u, reg::bdma::CFG_OP, 1);
    EXPECT_EQ(status(30), 18u);  // two in the queue, one in its output register
    bench.write(40, reg::bdma::CFG_LAUNCH1, 1);
    EXPECT_EQ(status(42), 18u);
    EXPECT_EQ(status(43), 18u | 1u << 10);
    bench.run(300);
    EXPECT_EQ(status(301), 20u | 1u << 8);
}

// Every block of memory arrives, whatever the path, the strides, and the pauses of the memory; and a unit that
// sleeps does everything in the same cycle as one that is evaluated in every cycle.
TEST(Bdma, CopiesArriveAndSleepChangesNothing)
{
    std::mt19937 random{7};
    const auto pick = [&](std::uint32_t below) { return static_cast<std::uint32_t>(random() % below); };
    for (unsigned trial = 0; trial < rounds(60); ++trial) {
        Bench skipping, stepping;
        stepping.skip = false;
        std::vector<Copy> copies;
        const std::uint32_t first_group = pick(3) + 1;
        for (std::uint32_t i = 0; i < first_group + 2; ++i) {
            Copy c;
            c.atoms = 1 + pick(trial % 3 ? 6 : 40);
            c.lines = 1 + pick(3);
            c.surfaces = 1 + pick(3);
            c.source_line = 32 * (c.atoms + pick(4));
            c.destination_line = 32 * (c.atoms + pick(4));
            c.source_surface = c.source_line * c.lines;
            c.destination_surface = c.destination_line * c.lines + 32 * pick(3);
            c.source = 0x10000 + 32 * pick(100);
            c.destination = 0x4000000 + 0x10000 * i + 32 * pick(4);
            c.from_mc = pick(4) != 0;
            c.to_mc = pick(2);
            copies.push_back(c);
        }
        const Cycle pauses[] = {pick(2) * pick(4), pick(2) * pick(4), 5 + pick(60), 5 + pick(30)};
        for (Bench* bench : {&skipping, &stepping}) {
            for (Interface* side : {&bench->mc, &bench->cv}) {
                side->read_pause = pauses[0];
                side->write_pause = pauses[1];
                side->read_latency = pauses[2];
                side->write_latency = pauses[3];
                for (std::uint64_t a = 0; a < 0x8000; ++a)
                    side->memory.at(0x10000 + a) = static_cast<std::uint8_t>((a * 2654435761u >> 13) + (side == &bench->cv));
            }
            Cycle u = 10;
            bench->write(u++, reg::bdma::CFG_STATUS, 1);
            for (std::uint32_t i = 0; i < copies.size(); ++i) {
                u = push(*bench, u, copies[i]);
                if (i + 1 == first_group) bench->write(u++, reg::bdma::CFG_LAUNCH0, 1);
            }
            bench->run(u + 20);  // pushes up to the hand-over would belong to the group before
            bench->write(u + 20, reg::bdma::CFG_LAUNCH1, 1);
            bench->run(60000);
        }
        ASSERT_EQ(skipping.interrupts.size(), 2u) << trial << skipping.core->waiting_for();
        EXPECT_EQ(skipping.interrupts, stepping.interrupts);
        EXPECT_EQ(skipping.mc.reads, stepping.mc.reads);
        EXPECT_EQ(skipping.mc.beats, stepping.mc.beats);
        EXPECT_EQ(skipping.cv.commands, stepping.cv.commands);
        const UnitReport a = skipping.core->report(60000), b = stepping.core->report(60000);
        Cycle total = 0;
        for (std::size_t p = 0; p < kPhases; ++p) {
            EXPECT_EQ(a.phases.cycles(static_cast<Phase>(p)), b.phases.cycles(static_cast<Phase>(p))) << trial << " " << kPhaseNames[p];
            total += a.phases.cycles(static_cast<Phase>(p));
        }
        EXPECT_EQ(total, 60000u);
        EXPECT_EQ(a.clock_on, b.clock_on);
        for (std::uint32_t offset = reg::bdma::STATUS_GRP0_READ_STALL; offset <= reg::bdma::STATUS_GRP1_WRITE_STALL; offset += 4) {
            std::uint32_t values[2] = {};
            for (Bench* bench : {&skipping, &stepping}) {
                bench->csb.request.put(bench->now, {offset, 0, false});
                bench->run(bench->now + 1);
                values[bench == &stepping] = bench->csb.response.take();
            }
            EXPECT_EQ(values[0], values[1]) << trial;
        }
        for (const Copy& c : copies) {
            const Interface& from = c.from_mc ? skipping.mc : skipping.cv;
            const Interface& to = c.to_mc ? skipping.mc : skipping.cv;
            for (std::uint32_t s = 0; s < c.surfaces; ++s)
                for (std::uint32_t l = 0; l < c.lines; ++l)
                    for (std::uint64_t byte = 0; byte < c.atoms * kAtom; ++byte)
                        ASSERT_EQ(to.memory.read(c.destination + s * c.destination_surface + l * c.destination_line + byte),
                                  from.memory.read(c.source + s * c.source_surface + l * c.source_line + byte));
        }
    }
}

}  // namespace bdma_test
}  // namespace dlasim
