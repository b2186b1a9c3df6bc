#include <gmock/gmock.h>

#include <random>

#include "dma_bench.h"
#include "facts/presets.h"
#include "registers/fields/rbk.h"
#include "rounds.h"
#include "units/rubik/core.h"

namespace dlasim {
namespace rubik_test {

using test::Interface;
using testing::ElementsAre;
using Sent = Interface::Sent;

/// Rubik between two memories. Register writes are given by U, the cycle at the unit's port.
using Bench = test::DmaBench<make_rubik>;

enum Mode : std::uint32_t { kContract, kSplit, kMerge };

/// A layer by its meaning; cubes are packed, planes too.
struct Shape {
    Mode mode = kSplit;
    std::uint32_t bytes = 1;  // of an element
    std::uint32_t width = 1, height = 1, channels = 1;
    std::uint32_t xs = 1, ys = 1;
    std::uint32_t channels_out = 0;  // 0: as it must be, those of the input
    std::uint64_t source = 0x100000, destination = 0x800000;
    bool from_mc = true, to_mc = true;

    std::uint32_t k() const { return 32 / bytes; }
    std::uint32_t groups() const { return (channels + k() - 1) / k(); }
    std::uint32_t line(std::uint32_t w) const { return w * 32; }
    std::uint32_t plane_line() const { return (width * bytes + 31) / 32 * 32 + 32; }
    std::uint32_t plane() const { return plane_line() * height + 64; }
    std::uint32_t surface() const { return line(width) * height + 32; }
    std::uint32_t cube() const { return surface() * groups(); }  // contract: one sub-cube
    std::uint32_t out_width() const { return width * xs; }
    std::uint32_t out_surface() const { return line(out_width()) * height * ys + 96; }

    std::uint64_t feature(std::uint64_t base, std::uint32_t c, std::uint32_t h, std::uint32_t w) const
    {
        return base + std::uint64_t{c / k()} * surface() + h * line(width) + w * 32 + c % k() * bytes;
    }
    std::uint64_t planar(std::uint64_t base, std::uint32_t c, std::uint32_t h, std::uint32_t w) const
    {
        return base + std::uint64_t{c} * plane() + h * plane_line() + w * bytes;
    }
};

/// Programs the group and enables it at the returned U.
Cycle program(Bench& bench, Cycle u, unsigned group, const Shape& s)
{
    using namespace reg::rbk;
    const bool contract = s.mode == kContract, to_feature = s.mode != kSplit;
    const auto low = [](std::uint64_t x) { return static_cast<std::uint32_t>(x); };
    const std::uint32_t in_line = s.mode == kMerge ? s.plane_line() : s.line(s.width);
    const std::uint32_t out_line = contract ? s.line(s.out_width()) : to_feature ? s.line(s.width) : s.plane_line();
    const std::pair<std::uint32_t, std::uint32_t> writes[] = {{S_POINTER, group},
                                                              {D_MISC_CFG, s.mode | (s.bytes - 1) << 8},
                                                              {D_DAIN_RAM_TYPE, s.from_mc},
                                                              {D_DATAIN_SIZE_0, (s.width - 1) | (s.height - 1) << 16},
                                                              {D_DATAIN_SIZE_1, s.channels - 1},
                                                              {D_DAIN_ADDR_HIGH, low(s.source >> 32)},
                                                              {D_DAIN_ADDR_LOW, low(s.source)},
                                                              {D_DAIN_LINE_STRIDE, in_line},
                                                              {D_DAIN_SURF_STRIDE, s.surface()},
                                                              {D_DAIN_PLANAR_STRIDE, s.plane()},
                                                              {D_DAOUT_RAM_TYPE, s.to_mc},
                                                              {D_DATAOUT_SIZE_1, (s.channels_out ? s.channels_out : s.channels) - 1},
                                                              {D_DAOUT_ADDR_HIGH, low(s.destination >> 32)},
                                                              {D_DAOUT_ADDR_LOW, low(s.destination)},
                                                              {D_DAOUT_LINE_STRIDE, out_line},
                                                              {D_CONTRACT_STRIDE_0, s.cube()},
                                                              {D_DAOUT_SURF_STRIDE, contract ? s.out_surface() : s.surface()},
                                                              {D_DAOUT_PLANAR_STRIDE, s.plane()},
                                                              {D_DECONV_STRIDE, (s.xs - 1) | (s.ys - 1) << 16},
                                                              {D_PERF_ENABLE, 1},
                                                              {D_OP_ENABLE, 1}};
    for (const auto& [offset, data] : writes) bench.write(u++, offset, data);
    return u - 1;
}

constexpr Cycle kFirst = 10;

/// Runs one layer; O is the cycle in which the data path sees the enable.
struct OneLayer {
    Bench bench;
    Cycle o;
    explicit OneLayer(const Shape& shape, Cycle cycles = 400) : o(program(bench, kFirst, 0, shape) + 5) { bench.run(o + cycles); }
};

std::vector<Cycle> from(Cycle first, std::size_t count, Cycle step = 1)
{
    std::vector<Cycle> cycles;
    for (std::size_t i = 0; i < count; ++i) cycles.push_back(first + i * step);
    return cycles;
}

std::vector<Cycle> cycles_of(const std::vector<Sent>& all)
{
    std::vector<Cycle> cycles;
    for (const Sent& s : all) cycles.push_back(s.cycle);
    return cycles;
}

// rubik.md 5: request at the port in 3, commands in 45 and 47, data in 46 and 48.
TEST(Rubik, TheWorkedExampleMeetsItsCycles)
{
    const Shape shape{.mode = kSplit, .width = 4, .channels = 2};
    OneLayer run(shape);
    const Bench& b = run.bench;
    EXPECT_THAT(b.mc.reads, ElementsAre(Sent{run.o + 3, shape.source, 4}));
    EXPECT_THAT(b.mc.credits, ElementsAre(run.o + 39, run.o + 40));
    EXPECT_THAT(b.mc.commands, ElementsAre(Sent{run.o + 45, shape.destination, 1}, Sent{run.o + 47, shape.destination + shape.plane(), 1}));
    EXPECT_THAT(b.mc.beats, ElementsAre(run.o + 46, run.o + 48));
    EXPECT_THAT(b.interrupts, ElementsAre(std::pair<Cycle, std::uint32_t>{run.o + 48 + 18 + 3, 1u << 8}));
}

// rubik.md 6: the last data beats of the other verified shapes, eight cycles before their writes.
TEST(Rubik, MergeMeetsItsCycles)
{
    OneLayer run({.mode = kMerge, .width = 4, .channels = 2});
    EXPECT_EQ(cycles_of(run.bench.mc.reads), from(run.o + 3, 2));
    EXPECT_EQ(cycles_of(run.bench.mc.commands), from(run.o + 45, 1));
    EXPECT_EQ(run.bench.mc.beats, from(run.o + 46, 2));
}

TEST(Rubik, ContractMeetsItsCycles)
{
    OneLayer run({.mode = kContract, .width = 8, .channels = 32, .xs = 2});
    EXPECT_EQ(cycles_of(run.bench.mc.reads), from(run.o + 3, 2));
    EXPECT_EQ(cycles_of(run.bench.mc.commands), from(run.o + 51, 1));
    EXPECT_EQ(run.bench.mc.beats, from(run.o + 52, 8));
}

TEST(Rubik, SplitOfAFullBlockMeetsItsCycles)
{
    OneLayer run({.mode = kSplit, .width = 64, .channels = 32});
    EXPECT_EQ(run.bench.mc.beats, from(run.o + 76, 32, 2));  // a command between any two
}

// rubik.md 6: the second layer is enabled while the first runs and starts four cycles after its last beat was
// handed over (Y = O + 47); its first command does not wait for data.
TEST(Rubik, TheNextLayerStartsBeforeTheInterrupt)
{
    Bench bench;
    const Shape shape{.mode = kSplit, .width = 4, .channels = 2};
    const Cycle o = program(bench, 10, 0, shape) + 5;
    program(bench, o - 4, 1, shape);
    bench.run(o + 300);
    const Cycle o2 = o + 51;
    EXPECT_EQ(cycles_of(bench.mc.reads), (std::vector<Cycle>{o + 3, o2 + 3}));
    EXPECT_EQ(cycles_of(bench.mc.commands), (std::vector<Cycle>{o + 45, o + 47, o2 + 5, o2 + 46}));
    EXPECT_EQ(bench.mc.beats, (std::vector<Cycle>{o + 46, o + 48, o2 + 45, o2 + 47}));
    ASSERT_EQ(bench.interrupts.size(), 2u);
    EXPECT_EQ(bench.interrupts[0].second, 1u << 8);
    EXPECT_EQ(bench.interrupts[1].second, 1u << 9);
}

// rubik.md 1.1: the read side counts surfaces by the input's channels, the write side by the output's.
TEST(Rubik, DifferentChannelCountsHangAndHurtNothing)
{
    for (const Mode mode : {kSplit, kMerge})
        for (const std::uint32_t channels_out : {1u, 100u}) {
            Bench bench;
            program(bench, 10, 0, {.mode = mode, .width = 70, .height = 2, .channels = 40, .channels_out = channels_out});
            bench.run(8000);
            EXPECT_TRUE(bench.interrupts.empty());
            EXPECT_NE(bench.core->waiting_for(), "idle");
        }
}

/// What the layer must leave in memory.
void expect_values(const Shape& s, const Interface& from, const Interface& to)
{
    if (s.mode == kContract) {
        for (std::uint32_t g = 0; g < s.groups(); ++g)
            for (std::uint32_t y = 0; y < s.height * s.ys; ++y)
                for (std::uint32_t x = 0; x < s.out_width(); ++x)
                    for (std::uint32_t b = 0; b < 32; ++b) {
                        const std::uint32_t sub = y % s.ys * s.xs + x % s.xs;
                        const std::uint64_t read = s.source + std::uint64_t{sub} * s.cube() + std::uint64_t{g} * s.surface() +
                                                   y / s.ys * s.line(s.width) + x / s.xs * 32 + b;
                        const std::uint64_t written =
                            s.destination + std::uint64_t{g} * s.out_surface() + y * s.line(s.out_width()) + x * 32 + b;
                        ASSERT_EQ(to.memory.read(written), from.memory.read(read)) << g << " " << y << " " << x;
                    }
        return;
    }
    const bool split = s.mode == kSplit;
    const std::uint32_t channels = split ? s.channels : s.groups() * s.k();
    const std::uint32_t width = split ? (s.width * s.bytes + 31) / 32 * s.k() : s.width;  // with the padding that is written
    for (std::uint32_t c = 0; c < channels; ++c)
        for (std::uint32_t h = 0; h < s.height; ++h)
            for (std::uint32_t w = 0; w < width; ++w)
                for (std::uint32_t b = 0; b < s.bytes; ++b) {
                    const std::uint64_t f = s.feature(split ? s.source : s.destination, c, h, w) + b;
                    const std::uint64_t p = s.planar(split ? s.destination : s.source, c, h, w) + b;
                    const bool inside = w < s.width && c < s.channels;
                    ASSERT_EQ(to.memory.read(split ? p : f), inside ? from.memory.read(split ? f : p) : 0)
                        << "channel " << c << " line " << h << " column " << w;
                }
}

// All modes, element sizes, strides, paths and paces against a direct calculation; and a unit that sleeps does
// everything in the same cycle as one that is evaluated in every cycle.
TEST(Rubik, CubesArriveAndSleepChangesNothing)
{
    std::mt19937 random{11};
    const auto pick = [&](std::uint32_t below) { return static_cast<std::uint32_t>(random() % below); };
    for (unsigned trial = 0; trial < rounds(120); ++trial) {
        Shape s;
        s.mode = static_cast<Mode>(trial % 3);
        s.bytes = 1 + pick(2);
        s.width = 1 + pick(pick(2) ? 150 : 20);
        s.height = 1 + pick(3);
        s.channels = 1 + pick(70);
        if (s.mode == kContract) {
            s.width = 1 + pick(30);
            s.xs = 1 + pick(pick(2) ? 32 : 8);
            s.ys = 1 + pick(3);
        }
        s.from_mc = pick(4) != 0;
        s.to_mc = pick(2);
        const Cycle pauses[] = {pick(2) * pick(4), pick(2) * pick(4), 5 + pick(60), 5 + pick(30)};
        Bench skipping, stepping;
        stepping.skip = false;
        const Cycle cycles = 40000;
        for (Bench* bench : {&skipping, &stepping}) {
            for (Interface* side : {&bench->mc, &bench->cv}) {
                side->read_pause = pauses[0];
                side->write_pause = pauses[1];
                side->read_latency = pauses[2];
                side->write_latency = pauses[3];
            }
            Interface& from = s.from_mc ? bench->mc : bench->cv;
            Interface& to = s.to_mc ? bench->mc : bench->cv;
            const std::uint32_t size = s.mode == kMerge ? s.plane() * s.channels : s.cube() * s.xs * s.ys;
            for (std::uint32_t a = 0; a < size + 128; ++a) from.memory.at(s.source + a) = static_cast<std::uint8_t>(a * 2654435761u >> 13);
            for (std::uint32_t a = 0; a < 4096; ++a) to.memory.at(s.destination + a) = 0xee;
            program(*bench, kFirst, 0, s);
            while (bench->interrupts.empty() && bench->now < cycles) bench->run(bench->now + 500);
            bench->run(cycles);
        }
        ASSERT_THAT(skipping.interrupts.size(), 1u) << trial << ": " << skipping.core->waiting_for();
        EXPECT_EQ(skipping.interrupts, stepping.interrupts) << trial;
        for (const auto& [a, b] : {std::pair{&skipping.mc, &stepping.mc}, std::pair{&skipping.cv, &stepping.cv}}) {
            EXPECT_EQ(a->reads, b->reads) << trial;
            EXPECT_EQ(a->commands, b->commands) << trial;
            EXPECT_EQ(a->beats, b->beats) << trial;
        }
        const UnitReport a = skipping.core->report(cycles), b = stepping.core->report(cycles);
        Cycle total = 0;
        for (std::size_t p = 0; p < kPhases; ++p) {
            EXPECT_EQ(a.phases.cycles(static_cast<Phase>(p)), b.phases.cycles(static_cast<Phase>(p))) << trial << " " << kPhaseNames[p];
            total += a.phases.cycles(static_cast<Phase>(p));
        }
        EXPECT_EQ(total, cycles);
        EXPECT_EQ(a.clock_on, b.clock_on);
        for (const std::uint32_t offset : {reg::rbk::D_PERF_READ_STALL, reg::rbk::D_PERF_WRITE_STALL}) {
            std::uint32_t values[2] = {};
            for (Bench* bench : {&skipping, &stepping}) {
                bench->csb.request.put(bench->now, {offset, 0, false});
                bench->run(bench->now + 1);
                values[bench == &stepping] = bench->csb.response.take();
            }
            EXPECT_EQ(values[0], values[1]) << trial;
        }
        expect_values(s, s.from_mc ? skipping.mc : skipping.cv, s.to_mc ? skipping.mc : skipping.cv);
        if (HasFatalFailure()) FAIL() << "trial " << trial << " mode " << s.mode << " width " << s.width << " xs " << s.xs;
    }
}

}  // namespace rubik_test
}  // namespace dlasim
