// The figures of sdp.md: latencies, worked examples, command orders, counters, look-up tables, and
// what must not happen whatever the registers say.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <random>

#include "elements/occupancy.h"
#include "numerics/sdp_y.h"
#include "registers/fields/sdp.h"
#include "registers/lut_window.h"
#include "sdp_layer.h"
#include "units/sdp/acknowledge.h"
#include "units/sdp/banks.h"
#include "units/sdp/read/context_queue.h"
#include "units/sdp/write_commands.h"

namespace dlasim {
namespace sdp_spec_test {

namespace sdp = reg::sdp;
namespace rdma = reg::sdp_rdma;
using Runs = std::vector<std::pair<Cycle, Cycle>>;

constexpr std::uint32_t kInt16 = 1 | 1 << 2, kFp16 = 2 | 2 << 2;

TEST(SdpFull, TheWorkedExampleOfTwoLinesOfInt16)
{
    SdpLayer layer(preset("nv_full"));
    layer.shape(4, 2, 16, kInt16);
    const Cycle e = layer.enable(), t0 = e + 10;
    layer.beats(t0, 8);
    const SdpTrace trace = layer.bench.run(e + 200, false);
    EXPECT_EQ(trace.write_valid, (Runs{{e + 4, 1}, {t0 + 12, 1}, {t0 + 14, 3}, {t0 + 18, 1}}));
    const Cycle r = t0 + 18 + layer.bench.answer_delay;
    EXPECT_THAT(trace.interrupts, testing::ElementsAre(std::pair{r + 4, 1u}));
}

TEST(SdpConfigurable, TheWorkedExampleOfTwoAtomsWithBias)
{
    SdpLayer layer(preset("nv_small"));
    layer.shape(2, 1, 8, 0);
    layer.set(sdp::D_DP_BS_CFG, 2 << 2 | 1 << 4 | 1 << 6);
    layer.set(sdp::D_DP_BS_ALU_CFG, 1);
    layer.set_rdma(rdma::D_DATA_CUBE_WIDTH, 1);
    layer.set_rdma(rdma::D_DATA_CUBE_CHANNEL, 7);
    layer.set_rdma(rdma::D_BRDMA_CFG, 1 << 1 | 1 << 5);
    layer.set_rdma(rdma::D_NRDMA_CFG, 1);
    layer.set_rdma(rdma::D_ERDMA_CFG, 1);
    layer.set_rdma(rdma::D_FEATURE_MODE_CFG, 1);
    layer.set_rdma(rdma::D_OP_ENABLE, 1);
    const Cycle e = layer.enable(), t0 = e + 100;
    layer.beats(t0, 16);
    layer.bench.memory = [](std::uint64_t address) { return static_cast<std::uint8_t>(address + 1); };
    layer.bench.sums = [](std::uint64_t n) { return SumBeat{{static_cast<std::int32_t>(n)}}; };
    const SdpTrace trace = layer.bench.run(e + 300, false);
    EXPECT_EQ(trace.write_valid, (Runs{{e + 3, 1}, {t0 + 22, 1}, {t0 + 30, 1}}));
    EXPECT_THAT(trace.interrupts, testing::ElementsAre(std::pair{t0 + 30 + layer.bench.answer_delay + 3, 1u}));
    ASSERT_EQ(trace.packets.size(), 3u);
    for (unsigned i = 0; i < 8; ++i) {
        EXPECT_EQ(trace.packets[1].data[i], i + 1 + i);      // beat i and the bias of channel i
        EXPECT_EQ(trace.packets[2].data[i], 8 + i + 1 + i);  // the next pixel, the same bias
    }
}

// open_points.md 1: measured on six programs. The reader pairs the two surfaces of the one command that fetches a single
// pixel, the replay ends its step behind the first: the first surface of each batch is written, then nothing happens any more.
TEST(SdpFull, OperandsPerElementOfASinglePixelInSeveralBatchesHangBehindTheFirstSurface)
{
    for (const bool wide : {false, true})
        for (const std::uint32_t surfaces : {1u, 2u, 3u}) {
            const std::uint32_t channels = surfaces * (wide ? 16 : 32), batches = 3, beats = surfaces * (wide ? 1 : 2) * batches;
            SdpLayer layer(preset("nv_full"));
            layer.shape(1, 1, channels, wide ? kInt16 : 0);
            layer.set(sdp::D_FEATURE_MODE_CFG, 1 | (batches - 1) << 8);
            layer.set(sdp::D_DP_BS_CFG, 2 << 2 | 1 << 4 | 1 << 6);
            layer.set(sdp::D_DP_BS_ALU_CFG, 1);
            layer.set_rdma(rdma::D_DATA_CUBE_CHANNEL, channels - 1);
            layer.set_rdma(rdma::D_BRDMA_CFG, 1 << 1 | 1 << 3 | 1 << 4 | 1 << 5);  // ALU only, two bytes, per element
            layer.set_rdma(rdma::D_NRDMA_CFG, 1);
            layer.set_rdma(rdma::D_ERDMA_CFG, 1);
            layer.set_rdma(rdma::D_FEATURE_MODE_CFG, 1 | (wide ? 1 << 2 | 1 << 4 | 1 << 6 : 0) | (batches - 1) << 8);
            layer.set_rdma(rdma::D_OP_ENABLE, 1);
            const Cycle e = layer.enable();
            layer.beats(e + 100, beats);
            const SdpTrace trace = layer.bench.run(e + 2000, false);
            const auto data = static_cast<std::uint32_t>(
                std::count_if(trace.packets.begin(), trace.packets.end(), [](const WritePacket& packet) { return !packet.command; }));
            EXPECT_EQ(trace.interrupts.size(), surfaces == 1 ? 1u : 0u) << surfaces;
            EXPECT_LE(data, batches) << surfaces;
            EXPECT_GE(data, batches - 1) << surfaces;
        }
}

/// Cycle of the only data packet at the port after the last beat, and the cycle of that beat.
Cycle latency(SdpLayer& layer, std::uint64_t beats)
{
    const Cycle e = layer.enable(), first = e + 40;
    layer.beats(first, beats);
    // Beats that are refused come when they can: the last one alone, long after the others.
    layer.bench.beats = {{first, beats}};
    if (beats > 1) layer.bench.beats = {{first, beats - 1}, {first + 400, 1}};
    const Cycle last = beats > 1 ? first + 400 : first;
    const SdpTrace trace = layer.bench.run(last + 300, false);
    EXPECT_GE(trace.write_valid.size(), 2u);
    return trace.write_valid.back().first - last;
}

TEST(SdpFull, EnginesAddThirteenCyclesEachAndEwFourteenOrThirtySix)
{
    for (unsigned bs = 0; bs < 2; ++bs)
        for (unsigned bn = 0; bn < 2; ++bn)
            for (unsigned ew = 0; ew < 3; ++ew)
                for (const std::uint32_t format : {kInt16, kFp16}) {
                    SdpLayer layer(preset("nv_full"));
                    layer.shape(1, 1, 16, format);
                    layer.set(sdp::D_DP_BS_CFG, !bs | (bs ? 0x12u : 0));
                    layer.set(sdp::D_DP_BN_CFG, !bn | (bn ? 0x02u : 0));
                    layer.set(sdp::D_DP_EW_CFG, !ew | 1u << 1 | 1u << 4 | (ew != 2) << 6);
                    EXPECT_EQ(latency(layer, 1), 11 + 13 * bs + 13 * bn + (ew == 1 ? 14 : ew == 2 ? 36 : 0));
                }
}

TEST(SdpConfigurable, BypassedSubEnginesCostNothing)
{
    for (const char* name : {"nv_small", "nv_small_256", "nv_medium_512", "nv_large", "nv_medium_1024_full", "nv_small_256_full"}) {
        const Hardware& hw = preset(name);
        const std::uint32_t pieces = hw.memory.atom_bytes / hw.sdp.max_throughput(), ratio = hw.sdp.max_throughput() / hw.sdp.ew_throughput;
        for (unsigned sub = 0; sub < 4; ++sub)
            for (unsigned ew = 0; ew < (hw.sdp.has_ew ? 3u : 1u); ++ew) {
                const bool alu = sub & 1, mul = sub & 2;
                SdpLayer layer(hw);
                layer.shape(1, 1, hw.memory.atom_bytes, 0);
                layer.set(sdp::D_DP_BS_CFG, !alu << 1 | !mul << 4);
                layer.set(sdp::D_DP_EW_CFG, !ew | !alu << 1 | !mul << 4 | (ew != 2) << 6);
                const Cycle bs = 4 + 2 * alu + mul, y = ew ? 1 + (ratio - 1) + 2 * mul + 2 * alu + (ew == 2 ? 10 : 0) + 1 : 0;
                EXPECT_EQ(latency(layer, pieces), 9 + bs + y) << name << " " << sub << " " << ew;
            }
    }
}

TEST(SdpFull, ComparingLayersWriteNothingAndTellWhetherAllWasEqual)
{
    for (const std::int32_t value : {5, 6}) {
        SdpLayer layer(preset("nv_full"));
        layer.shape(1, 1, 16, kInt16);
        layer.set(sdp::D_DP_EW_CFG, 3 << 2 | 1 << 4 | 1 << 6);
        layer.set(sdp::D_DP_EW_ALU_SRC_VALUE, 5);
        const Cycle e = layer.enable(), t = e + 30;
        layer.beats(t, 1);
        layer.bench.sums = [value](std::uint64_t) {
            SumBeat beat;
            beat.lanes.fill(5);
            beat.lanes[9] = value;
            return beat;
        };
        const SdpTrace trace = layer.bench.run(e + 200, false);
        EXPECT_TRUE(trace.packets.empty());
        EXPECT_THAT(trace.interrupts, testing::ElementsAre(std::pair{t + 9 + 14 + 1, 1u}));  // L + 1
        EXPECT_EQ(trace.status[0], value != 5);
    }
}

TEST(SdpFull, LayersToPdpWriteNothingAndEnd)
{
    SdpLayer layer(preset("nv_full"));
    layer.shape(2, 2, 32, 0);
    layer.set(sdp::D_FEATURE_MODE_CFG, 1 | 1 << 1);
    const Cycle e = layer.enable();
    layer.beats(e + 5, 8);
    const SdpTrace trace = layer.bench.run(e + 200, false);
    EXPECT_TRUE(trace.packets.empty());
    EXPECT_EQ(trace.interrupts.size(), 1u);
}

/// D_PERF_* of group 0 by offset, of a trace's status.
std::uint32_t status(const SdpTrace& trace, std::uint32_t offset) { return trace.status[(offset - sdp::D_STATUS) / 4]; }

TEST(SdpCounters, SaturatedLanesAreCountedOnceEach)
{
    for (const char* name : {"nv_full", "nv_large"}) {
        SdpLayer layer(preset(name));
        layer.shape(1, 1, 32, 0);
        const Cycle e = layer.enable();
        layer.beats(e + 5, 2);
        layer.bench.sums = [](std::uint64_t n) {
            SumBeat beat;
            beat.lanes[3] = n == 0 ? 1 << 20 : 0;
            beat.lanes[4] = -(1 << 20);
            beat.lanes[5] = 300;  // saturates to int8 only: not counted
            return beat;
        };
        const SdpTrace trace = layer.bench.run(e + 300, false);
        EXPECT_EQ(status(trace, sdp::D_PERF_OUT_SATURATION), 3u) << name;
        EXPECT_EQ(trace.packets.back().data[4], 0x80) << name;
        EXPECT_EQ(trace.packets.back().data[5], 127) << name;
    }
}

TEST(SdpCounters, AWriteStallIsACycleInWhichTheInterfaceRefuses)
{
    // The command and one packet fill the two stages; every further cycle of the second is a stall.
    SdpLayer layer(preset("nv_small"));
    layer.shape(8, 1, 8, 0);
    const Cycle e = layer.enable();
    layer.beats(e + 5, 64);
    layer.bench.write_ready = [e](Cycle c) { return c < e || c >= e + 100; };
    const SdpTrace trace = layer.bench.run(e + 400, false), free = [&] {
        SdpLayer other(preset("nv_small"));
        other.shape(8, 1, 8, 0);
        const Cycle start = other.enable();
        other.beats(start + 5, 64);
        return other.bench.run(start + 400, false);
    }();
    EXPECT_EQ(status(free, sdp::D_PERF_WDMA_WRITE_STALL), 0u);
    // The command is at the port from e + 3 on. The stage behind it refuses from e + 4 to the cycle
    // after the port takes again; the first atom is offered at T + 8 + 8, refused from then on.
    const Cycle offered = e + 5 + 7 + 8;
    EXPECT_EQ(status(trace, sdp::D_PERF_WDMA_WRITE_STALL), e + 100 - offered + 1);
}

TEST(SdpCounters, ALayerThatDoesNotCountReportsWhatTheLastOneCounted)
{
    SdpLayer layer(preset("nv_full"));
    layer.shape(32, 1, 32, 0);
    layer.enable();
    layer.set(sdp::S_POINTER, 1);
    for (const auto& [offset, value] : std::initializer_list<std::pair<std::uint32_t, std::uint32_t>>{
             {sdp::D_DP_BS_CFG, 1}, {sdp::D_DP_BN_CFG, 1}, {sdp::D_DP_EW_CFG, 1}, {sdp::D_FEATURE_MODE_CFG, 1}, {sdp::D_DST_DMA_CFG, 1}})
        layer.set(offset, value);
    layer.shape(32, 1, 32, 0);
    const Cycle e = layer.enable();
    layer.bench.beats = {{e + 5, 128}};
    layer.bench.layer_beats = {64, 64};
    layer.bench.hold_refused = true;
    layer.bench.sums = [](std::uint64_t n) { return SumBeat{{n < 64 ? 1 << 20 : 1 << 21}}; };
    layer.bench.write_ready = [e](Cycle c) { return c < e || c >= e + 60; };
    const SdpTrace trace = layer.bench.run(e + 400, false);
    ASSERT_EQ(trace.interrupts.size(), 2u);
    const std::size_t other = (sdp::D_PERF_LUT_LO_HIT - sdp::D_STATUS) / 4 + 1;  // of group 1
    const auto second = [&](std::uint32_t offset) { return trace.status[other + (offset - sdp::D_STATUS) / 4]; };
    EXPECT_GT(status(trace, sdp::D_PERF_WDMA_WRITE_STALL), 0u);
    EXPECT_EQ(second(sdp::D_PERF_WDMA_WRITE_STALL), status(trace, sdp::D_PERF_WDMA_WRITE_STALL));
    EXPECT_EQ(status(trace, sdp::D_PERF_OUT_SATURATION), 64u);
    EXPECT_EQ(second(sdp::D_PERF_OUT_SATURATION), 64u);
}

/// Banks that are pushed and popped at random where they can be, beside four elements.
template <class Element>
void four_elements(std::uint32_t places)
{
    std::mt19937 random{places};
    dlasim::sdp::Banks banks(places);
    std::array<Element, dlasim::facts::sdp::kBanks> four{};
    for (unsigned cycle = 0; cycle < 20000; ++cycle) {
        unsigned ready = 0, valid = 0;
        for (unsigned i = 0; i < four.size(); ++i) {
            ready |= unsigned{four[i].ready()} << i;
            valid |= unsigned{four[i].valid()} << i;
            ASSERT_EQ(banks.ready(1u << i), four[i].ready()) << cycle;
            ASSERT_EQ(banks.valid(1u << i), four[i].valid()) << cycle;
        }
        ASSERT_EQ(banks.missing(0xf), static_cast<unsigned>(std::popcount(~valid & 0xf)));
        const unsigned wish = static_cast<unsigned>(random()), pushed = wish & ready,
                       popped = wish >> 8 & valid & (cycle / 64 % 3 ? 0xf : 0);
        ASSERT_EQ(banks.ready(pushed), true);
        ASSERT_EQ(banks.valid(popped), true);
        const bool changed = banks.clock(pushed, popped);
        bool moved = false;
        for (unsigned i = 0; i < four.size(); ++i) {
            elements::Flow flow{(popped >> i & 1) != 0};
            four[i].sweep(pushed >> i & 1, flow);
            moved = moved || four[i].valid() != (valid >> i & 1) || four[i].ready() != (ready >> i & 1);
        }
        EXPECT_TRUE(changed || !moved) << "what it says of a cycle in which nothing changed";
    }
}

TEST(SdpBanks, AreFourOfTheElementsTheyStandFor)
{
    four_elements<elements::Places<4>>(4);
    four_elements<elements::SkidB>(2);
}

TEST(SdpReaders, TheContextQueueTakesOneMoreThanItsRamHolds)
{
    dlasim::sdp::ContextQueue queue(4);
    Cycle at = 10;
    for (; queue.ready(at); ++at) queue.push(at);
    EXPECT_EQ(at, 15u);  // the first entry is in the output register, its slot was free in time for the fifth
    EXPECT_FALSE(queue.ready(30));
    queue.pop(30);
    EXPECT_FALSE(queue.ready(31));
    EXPECT_TRUE(queue.ready(32));
    queue.push(32);
    for (at = 40; !queue.empty(); ++at) queue.pop(at);
    EXPECT_EQ(at, 45u);
}

TEST(SdpReaders, AGroupWithoutEnginesEndsAtOnce)
{
    SdpLayer layer(preset("nv_small"));
    layer.shape(2, 1, 8, 0);
    layer.set(sdp::D_DP_BS_CFG, 2 << 2 | 1 << 4 | 1 << 6);
    layer.set(sdp::D_DP_BS_ALU_CFG, 1);
    for (std::uint32_t group = 0; group < 2; ++group) {
        layer.set_rdma(rdma::S_POINTER, group);
        layer.set_rdma(rdma::D_DATA_CUBE_WIDTH, 1);
        layer.set_rdma(rdma::D_DATA_CUBE_CHANNEL, 7);
        layer.set_rdma(rdma::D_BRDMA_CFG, !group | 1 << 1 | 1 << 5);
        layer.set_rdma(rdma::D_NRDMA_CFG, 1);
        layer.set_rdma(rdma::D_ERDMA_CFG, 1);
        layer.set_rdma(rdma::D_FEATURE_MODE_CFG, 1);
        layer.set_rdma(rdma::D_OP_ENABLE, 1);
    }
    const Cycle e = layer.enable();
    layer.beats(e + 5, 16);
    EXPECT_EQ(layer.bench.run(e + 300, false).interrupts.size(), 1u);
}

TEST(SdpConfigurable, WithoutEwCompareModeStopsTheWriteDmaAlone)
{
    SdpLayer layer(preset("nv_small"));
    layer.shape(1, 1, 8, 0);
    layer.set(sdp::D_DP_EW_CFG, 3 << 2 | 1 << 4 | 1 << 6);
    const Cycle e = layer.enable(), last = e + 40 + 7;
    layer.beats(e + 40, 8);
    const SdpTrace trace = layer.bench.run(e + 200, false);
    EXPECT_TRUE(trace.packets.empty());
    EXPECT_THAT(trace.interrupts, testing::ElementsAre(std::pair{last + 8 + 1, 1u}));  // the converter takes its four cycles
}

TEST(SdpLut, ALinearTableInterpolatesBetweenItsEntries)
{
    for (const char* name : {"nv_full", "nv_large", "nv_medium_1024_full", "nv_small_256_full"}) {
        SdpLayer layer(preset(name));
        // LO: entry i is 8 i for steps of 4: y = 2 d. LE never hits: it starts behind everything.
        layer.set(sdp::S_LUT_ACCESS_CFG, 1 << 16 | 1 << 17);
        for (std::uint32_t i = 0; i < 257; ++i) layer.set(sdp::S_LUT_ACCESS_DATA, 8 * i);
        layer.set(sdp::S_LUT_CFG, 1 | 1 << 4 | 1 << 5);  // LE linear; LO where both miss
        layer.set(sdp::S_LUT_INFO, 2 << 16);
        layer.set(sdp::S_LUT_LE_START, 1 << 30);
        layer.set(sdp::S_LUT_LO_START, static_cast<std::uint32_t>(-20));
        const std::uint32_t atom = layer.hardware.memory.atom_bytes,
                            lanes = layer.hardware.full() ? 16 : layer.hardware.sdp.max_throughput();
        layer.shape(1, 1, atom, 0);
        layer.set(sdp::D_DP_EW_CFG, 1 << 1 | 1 << 4);
        const Cycle e = layer.enable();
        layer.beats(e + 5, atom / lanes);
        layer.bench.sums = [lanes](std::uint64_t n) {
            SumBeat beat;
            for (std::uint32_t i = 0; i < lanes; ++i) beat.lanes[i] = static_cast<std::int32_t>(n * lanes + i);
            return beat;
        };
        const SdpTrace trace = layer.bench.run(e + 400, false);
        ASSERT_EQ(trace.packets.size(), 2u) << name;
        for (std::uint32_t i = 0; i < atom; ++i) EXPECT_EQ(trace.packets[1].data[i], 2 * (i + 20)) << name;
        EXPECT_EQ(status(trace, sdp::D_PERF_LUT_UFLOW), 0u);
        // A piece counts in each cycle it stands in the register, the last one until the layer ends; before the first one
        // there is nothing that could flow over: all lanes are hybrid in all cycles from E + 1 to L.
        const unsigned stages = layer.hardware.full() ? 2 : 1;
        const Cycle last = trace.write_valid.back().first + trace.write_valid.back().second - 1 - stages;
        const std::uint32_t ew_lanes = layer.hardware.full() ? 4 : layer.hardware.sdp.ew_throughput;
        EXPECT_EQ(status(trace, sdp::D_PERF_LUT_HYBRID), (last - e) * ew_lanes) << name;
        EXPECT_GE(status(trace, sdp::D_PERF_LUT_LO_HIT), atom) << name;
        EXPECT_LT(status(trace, sdp::D_PERF_LUT_LO_HIT), status(trace, sdp::D_PERF_LUT_HYBRID)) << name;
        EXPECT_EQ(status(trace, sdp::D_PERF_LUT_LE_HIT), 0u) << name;
    }
}

TEST(SdpLut, TablesAreWrittenAndReadThroughAnAddressThatCounts)
{
    numerics::LutTables tables;
    LutWindow window(tables.le, tables.lo, {});
    window.configure(63 | 1 << 17, 0);
    for (std::uint32_t i = 0; i < 4; ++i) window.write(100 + i);  // 63, 64, and two that do not exist
    EXPECT_EQ(tables.le[63], 100);
    EXPECT_EQ(tables.le[64], 101);
    window.configure(64, 0);
    EXPECT_EQ(window.read(0), 101u);
    EXPECT_EQ(window.read(0), 0u);
    window.configure(2 | 1 << 16, 0);
    window.write(7);  // the window is set to read: nothing is written, the address counts
    EXPECT_EQ(tables.lo[2], 0);
    window.configure(2 | 1 << 16 | 1 << 17, 0);
    window.write(9);
    EXPECT_EQ(tables.lo[2], 9);
}

/// Addresses and atoms of all commands.
std::vector<std::pair<std::uint64_t, std::uint32_t>> commands(const dlasim::sdp::LayerConfig& layer)
{
    dlasim::sdp::WriteCommands walk;
    walk.start(layer);
    std::vector<std::pair<std::uint64_t, std::uint32_t>> all;
    while (walk.more()) {
        const dlasim::sdp::WriteCommand command = walk.next();
        all.emplace_back(command.address, command.atoms);
        EXPECT_EQ(command.last, !walk.more());
    }
    return all;
}

dlasim::sdp::LayerConfig cube(std::uint32_t w, std::uint32_t h, std::uint32_t surfaces)
{
    dlasim::sdp::LayerConfig layer;
    layer.width = w;
    layer.height = h;
    layer.surfaces = surfaces;
    layer.atom = 32;
    layer.beats_per_atom = 2;
    layer.base = 0x1000;
    layer.line_stride = 0x100;
    layer.surface_stride = 0x800;
    return layer;
}

TEST(SdpCommands, ALineIsOneCommand)
{
    EXPECT_THAT(commands(cube(5, 2, 2)),
                testing::ElementsAre(std::pair{0x1000u, 5u}, std::pair{0x1100u, 5u}, std::pair{0x1800u, 5u}, std::pair{0x1900u, 5u}));
}

TEST(SdpCommands, OnePixelIsOneCommandForAllSurfaces)
{
    dlasim::sdp::LayerConfig layer = cube(1, 1, 3);
    layer.single = true;
    EXPECT_THAT(commands(layer), testing::ElementsAre(std::pair{0x1000u, 3u}));
}

TEST(SdpCommands, WinogradWritesTwoPixelsByFourRows)
{
    dlasim::sdp::LayerConfig layer = cube(4, 4, 1);
    layer.winograd = true;
    EXPECT_THAT(commands(layer),
                testing::ElementsAre(std::pair{0x1000u, 2u}, std::pair{0x1100u, 2u}, std::pair{0x1200u, 2u}, std::pair{0x1300u, 2u},
                                     std::pair{0x1040u, 2u}, std::pair{0x1140u, 2u}, std::pair{0x1240u, 2u}, std::pair{0x1340u, 2u}));
}

TEST(SdpCommands, BatchesInterleaveByPairsThatBeginAtEvenAtoms)
{
    dlasim::sdp::LayerConfig layer = cube(4, 1, 1);
    layer.base = 0x1020;  // odd: the first pixel is alone, and so is the last
    layer.batch = 2;
    layer.batch_stride = 0x10000;
    EXPECT_THAT(commands(layer), testing::ElementsAre(std::pair{0x1020u, 1u}, std::pair{0x11020u, 1u}, std::pair{0x1040u, 2u},
                                                      std::pair{0x11040u, 2u}, std::pair{0x1080u, 1u}, std::pair{0x11080u, 1u}));
}

TEST(SdpCommands, EightToSixteenWritesBothSurfacesOfEveryPair)
{
    dlasim::sdp::LayerConfig layer = cube(3, 1, 2);
    layer.widening = true;
    EXPECT_THAT(commands(layer),
                testing::ElementsAre(std::pair{0x1000u, 2u}, std::pair{0x1800u, 2u}, std::pair{0x1040u, 1u}, std::pair{0x1840u, 1u},
                                     std::pair{0x2000u, 2u}, std::pair{0x2800u, 2u}, std::pair{0x2040u, 1u}, std::pair{0x2840u, 1u}));
}

TEST(SdpAcknowledge, AnswersOfTheOtherInterfaceWaitForTheirTurn)
{
    Pulse<std::uint32_t> interrupt;
    dlasim::sdp::Acknowledge acknowledge(4, interrupt);
    acknowledge.expect(0, true);
    acknowledge.expect(1, false);
    acknowledge.complete(10, false);  // early: the older layer went to the primary memory
    for (Cycle c = 10; c < 30; ++c) acknowledge.send(c);
    EXPECT_TRUE(interrupt.next() == kNever);
    acknowledge.complete(40, true);
    for (Cycle c = 40; c < 60; ++c) acknowledge.send(c);
    EXPECT_EQ(interrupt.next(), 44u);
    EXPECT_EQ(interrupt.take(), 1u);
    EXPECT_EQ(interrupt.next(), 45u);
    EXPECT_EQ(interrupt.take(), 2u);
}

class SdpAnyProgram : public testing::TestWithParam<const char*> {};

TEST_P(SdpAnyProgram, NeitherCrashesNorBreaksItsProtocols)
{
    const Hardware& hw = *find_preset(GetParam());
    std::mt19937 random{11};
    for (unsigned trial = 0; trial < 300; ++trial) {
        SdpBench bench(hw);
        Cycle decode = 2;
        for (unsigned group = 0; group < 2; ++group) {
            for (const bool to_rdma : {false, true}) {
                bench.writes.push_back({decode++, to_rdma, 4, group});
                for (const RegisterRow& row : find_unit(hw, to_rdma ? "SDP_RDMA" : "SDP")->rows) {
                    if (row.offset == 4 || row.write_mask == 0) continue;
                    // Small cubes, so that something happens; all else as it comes.
                    std::uint32_t value = static_cast<std::uint32_t>(random());
                    if (row.name.starts_with("D_DATA_CUBE")) value &= 0x3f;
                    if (row.name == "D_DST_DMA_CFG" || row.name == "D_SRC_DMA_CFG") value |= 1;
                    if (random() % 8 == 0 && row.name != "D_OP_ENABLE") continue;
                    bench.writes.push_back({decode++, to_rdma, row.offset, row.name == "D_OP_ENABLE" ? 0 : value});
                }
            }
            bench.writes.push_back({decode++, random() % 2 == 0, group ? 0x38u : 0x8u, 1});
            bench.writes.push_back({decode++, false, 0x38, 1});
            bench.writes.push_back({decode++, true, 0x8, 1});
        }
        bench.layer_beats = {1 + random() % 300, 1 + random() % 300};
        bench.beats = {{decode, bench.layer_beats[0] + bench.layer_beats[1]}};
        bench.hold_refused = true;
        bench.write_ready = [](Cycle c) { return (c * 2654435761u >> 20) % 3 != 0; };
        bench.sums = [](std::uint64_t n) {
            SumBeat beat;
            for (unsigned i = 0; i < 16; ++i) beat.lanes[i] = static_cast<std::int32_t>((n * 16 + i) * 2654435761u);
            return beat;
        };
        bench.memory = [](std::uint64_t address) { return static_cast<std::uint8_t>(address * 31); };
        const SdpTrace trace = bench.run(4000, trial % 2);
        Cycle total = 0;
        for (std::size_t phase = 0; phase < kPhases; ++phase) total += trace.report.phases.cycles(static_cast<Phase>(phase));
        EXPECT_EQ(total, 4000u);
        EXPECT_FALSE(bench.core().waiting_for().empty());
    }
}

INSTANTIATE_TEST_SUITE_P(Presets, SdpAnyProgram, testing::Values("nv_full", "nv_large", "nv_small_256_full", "nv_small"));

}  // namespace sdp_spec_test
}  // namespace dlasim
