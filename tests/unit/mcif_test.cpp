// The memory interface against the figures of fabric.md: cycles count from the request at the client's port.
#include "registers/fields/mcif.h"

#include <gmock/gmock.h>

#include "mcif_bench.h"

namespace dlasim {
namespace mcif_test {

using testing::ElementsAre;
using Beat = McifBench::Beat;
using Command = McifBench::Command;
using Response = McifBench::Response;

constexpr unsigned kBdma = 0, kSdp = 1, kRubik = 4, kData = 8, kWeight = 9;
constexpr Cycle kStart = 10;

Response response(const McifBench& bench, Cycle at, unsigned client, std::uint64_t address, std::uint32_t atoms)
{
    std::vector<std::uint8_t> data;
    for (std::uint64_t i = 0; i < atoms * bench.hw.memory.atom_bytes; ++i) data.push_back(McifBench::value(address + i));
    return {at, client, atoms, data};
}

// ---- 2.1, 2.2: latencies

TEST(Mcif, AReadOfNvFullReachesThePortSixCyclesAfterTheClient)
{
    McifBench bench{preset("nv_full")};
    bench.fill(0x1000, 64);
    bench.ask(kData, kStart, 0x1000, 2);
    bench.run(60);
    EXPECT_THAT(bench.ar, ElementsAre(Command{kStart + 6, 0x1000, 1, kData}));
    EXPECT_THAT(bench.responses, ElementsAre(response(bench, kStart + 6 + 20 + 4, kData, 0x1000, 2)));
}

TEST(Mcif, AReadOfTheConfigurableGenerationReachesThePortFiveCyclesAfterTheClient)
{
    for (const char* name : {"nv_small", "nv_medium_512", "nv_large"}) {
        McifBench bench{preset(name)};
        bench.fill(0x1000, 64);
        bench.ask(kWeight, kStart, 0x1000, 1);
        bench.run(60);
        EXPECT_THAT(bench.ar, ElementsAre(Command{kStart + 5, 0x1000, 1, kWeight})) << name;
        EXPECT_THAT(bench.responses, ElementsAre(response(bench, kStart + 5 + 20 + 3, kWeight, 0x1000, 1))) << name;
    }
}

TEST(Mcif, CvifReadsGoOutAsBurstsWithTheSameLatency)
{
    McifBench bench{preset("nv_full"), MemorySide::Secondary};
    bench.fill(0x1000, 512);
    bench.ask(kBdma, kStart, 0x1020, 14);  // to the end of the second block, from an odd atom
    bench.run(80);
    EXPECT_THAT(bench.ar, ElementsAre(Command{kStart + 6, 0x1000, 4, kBdma}, Command{kStart + 7, 0x1100, 4, kBdma}));
    ASSERT_EQ(bench.responses.size(), 7u);
    for (unsigned i = 0; i < 7; ++i)  // every full beat needs the memory beat after it
        EXPECT_EQ(bench.responses[i], response(bench, kStart + 6 + 20 + i + 1 + 4, kBdma, 0x1020 + 64 * i, 2)) << i;
}

TEST(Mcif, MediumReadsSixtyFourByteBlocksInOneBurst)
{
    McifBench bench{preset("nv_medium_512")};
    bench.ask(kData, kStart, 0x1010, 8);
    bench.run(60);
    EXPECT_THAT(bench.ar, ElementsAre(Command{kStart + 5, 0x1010, 3, kData}, Command{kStart + 6, 0x1040, 4, kData},
                                      Command{kStart + 7, 0x1080, 1, kData}));
}

// ---- 5.1: an odd start

TEST(Mcif, AnOddStartWaitsForTheNextMemoryBeat)
{
    McifBench bench{preset("nv_full")};
    bench.fill(0x1000, 128);
    bench.ask(kData, kStart, 0x1020, 3);
    bench.run(80);
    EXPECT_THAT(bench.ar, ElementsAre(Command{kStart + 6, 0x1000, 1, kData}, Command{kStart + 7, 0x1040, 1, kData}));
    EXPECT_THAT(bench.responses,
                ElementsAre(response(bench, kStart + 31, kData, 0x1020, 2), response(bench, kStart + 32, kData, 0x1060, 1)));
}

TEST(Mcif, SplitsAtBlockBoundariesAndServesOneCommandACycle)
{
    McifBench bench{preset("nv_full")};
    bench.fill(0x1000, 1024);
    bench.ask(kWeight, kStart, 0x10c0, 13);  // 2 atoms, 8 atoms, 3 atoms
    bench.run(100);
    std::vector<Command> expected;
    for (unsigned i = 0; i < 7; ++i) expected.push_back({kStart + 6 + i, 0x10c0 + 64 * i, 1, kWeight});
    EXPECT_EQ(bench.ar, expected);
    ASSERT_EQ(bench.responses.size(), 7u);
    for (unsigned i = 0; i < 7; ++i)
        EXPECT_EQ(bench.responses[i], response(bench, kStart + 30 + i, kWeight, 0x10c0 + 64 * i, i == 6 ? 1 : 2));
}

// ---- 1.5, 5.3: weights

std::string ids(const McifBench& bench, std::size_t from, std::size_t count)
{
    std::string text;
    for (std::size_t i = from; i < from + count && i < bench.ar.size(); ++i) text += static_cast<char>('0' + bench.ar[i].id);
    return text;
}

TEST(Mcif, WeightOneAgainstThreeIsServedOneToThree)
{
    McifBench bench{preset("nv_small")};
    bench.set(reg::mcif::CFG_RD_WEIGHT_2, 3);  // cdma_wt
    for (int i = 0; i < 8; ++i) {
        bench.ask(kData, kStart, 0x1000, 8);
        bench.ask(kWeight, kStart, 0x8000, 8);
    }
    bench.run(100);
    EXPECT_EQ(ids(bench, 0, 12), "899989998999");
    EXPECT_EQ(bench.ar[11].at, kStart + 5 + 11);
}

TEST(Mcif, BdmaOfWeightThreeGetsThreeBlocksForOneOfRubik)
{
    McifBench bench{preset("nv_full")};
    bench.set(reg::mcif::CFG_RD_WEIGHT_0, 0x01010103);
    for (int i = 0; i < 12; ++i) {
        bench.ask(kBdma, kStart, 0x10000 + i * 0x100, 8);
        bench.ask(kRubik, kStart, 0x20000 + i * 0x100, 8);
    }
    bench.run(200);
    EXPECT_EQ(ids(bench, 0, 48), "000000000000444400000000000044440000000000004444");
}

TEST(Mcif, AClientOfWeightZeroIsNeverServed)
{
    McifBench bench{preset("nv_small")};
    bench.set(reg::mcif::CFG_RD_WEIGHT_1, 0);
    bench.ask(kData, kStart, 0x1000, 4);
    bench.run(200);
    EXPECT_TRUE(bench.ar.empty());
    EXPECT_EQ(bench.core->horizon(), kNever);
}

// ---- 6: limits, as measured

TEST(Mcif, FourOutstandingBeatsGoOutInGroupsOfTheLatencyAndThree)
{
    McifBench bench{preset("nv_full")};
    bench.set(reg::mcif::CFG_OUTSTANDING_CNT, 0xff03);
    bench.ask(kBdma, kStart, 0x1000, 64);
    bench.run(200);
    std::vector<Cycle> expected;
    for (Cycle group = 0; group < 8; ++group)
        for (Cycle i = 0; i < 4; ++i) expected.push_back(kStart + 6 + group * 23 + i);
    EXPECT_EQ(bench.cycles_of(bench.ar), expected);
}

TEST(Mcif, ReadCreditsStopBdmaAfter244BeatsUntilResponsesHaveLeft)
{
    McifBench bench{preset("nv_full"), MemorySide::Primary, {.latency = 300}};
    bench.ask(kBdma, kStart, 0x10000, 1024);
    bench.run(700);
    ASSERT_GT(bench.ar.size(), 245u);
    const Cycle first = kStart + 6;
    for (Cycle i = 0; i < 244; ++i) ASSERT_EQ(bench.ar[i].at, first + i);
    // a block of four needs three credits more; the first response leaves the client's FIFO four cycles after it came
    const Cycle response = first + 300 + 4;
    EXPECT_EQ(bench.responses.front().at, response);
    EXPECT_EQ(bench.ar[244].at, response + 13);
}

TEST(Mcif, FourOutstandingWritesGoOnThreeCyclesAfterTheResponse)
{
    McifBench bench{preset("nv_full")};
    bench.set(reg::mcif::CFG_OUTSTANDING_CNT, 0x03ff);
    bench.put(kBdma, kStart, 0x1000, 64);
    bench.put(kRubik, kStart, 0x9000, 64);
    bench.run(300);
    ASSERT_GE(bench.aw.size(), 12u);
    const Cycle first = bench.aw[0].at;
    for (Cycle i = 0; i < 12; ++i) EXPECT_EQ(bench.aw[i].at, first + i / 4 * 11 + i % 4) << i;
}

// ---- 2.3, 2.4: writes

TEST(Mcif, AWriteOfOneBeatReachesThePortNineCyclesAfterItsCommandInNvFull)
{
    McifBench bench{preset("nv_full")};
    bench.put(kSdp, kStart, 0x1000, 2);
    bench.run(60);
    EXPECT_THAT(bench.aw, ElementsAre(Command{kStart + 9, 0x1000, 1, kSdp}));
    EXPECT_THAT(bench.beats, ElementsAre(Beat{kStart + 9, kSdp, 3, true}));
    EXPECT_THAT(bench.completes, ElementsAre(std::pair<Cycle, unsigned>{kStart + 9 + 8 + 2, kSdp}));
}

TEST(Mcif, AWriteOfOneBeatReachesThePortSevenCyclesAfterItsCommandElse)
{
    McifBench bench{preset("nv_large")};
    bench.put(kSdp, kStart, 0x1000, 1);
    bench.run(60);
    EXPECT_THAT(bench.aw, ElementsAre(Command{kStart + 7, 0x1000, 1, kSdp}));
    EXPECT_THAT(bench.completes, ElementsAre(std::pair<Cycle, unsigned>{kStart + 7 + 8 + 2, kSdp}));
}

TEST(Mcif, AFullBlockTakesEightAndItsBeatsAndThenFiveCycles)
{
    McifBench bench{preset("nv_full")};
    bench.put(kSdp, kStart, 0x1000, 24);
    bench.run(100);
    std::vector<Cycle> expected;
    for (Cycle chunk = 0; chunk < 3; ++chunk)
        for (Cycle beat = 0; beat < 4; ++beat) expected.push_back(kStart + 12 + chunk * 5 + beat);
    EXPECT_EQ(bench.cycles_of(bench.aw), expected);
    ASSERT_EQ(bench.completes.size(), 1u);
}

// 1.6: the one command slot of the configurable generation is freed with the last beat of its chunk, so the next
// chunk is put together only then: one cycle for its command, four beats, three for the beats behind the first.
TEST(Mcif, MediumWritesBurstsOfFourInEightCycles)
{
    McifBench bench{preset("nv_medium_512")};
    bench.put(kSdp, kStart, 0x1000, 12);
    bench.run(100);
    EXPECT_THAT(bench.aw, ElementsAre(Command{kStart + 10, 0x1000, 4, kSdp}, Command{kStart + 18, 0x1040, 4, kSdp},
                                      Command{kStart + 26, 0x1080, 4, kSdp}));
    ASSERT_EQ(bench.beats.size(), 12u);
    for (Cycle i = 0; i < 12; ++i) EXPECT_EQ(bench.beats[i], (Beat{kStart + 10 + i / 4 * 8 + i % 4, kSdp, 1, i % 4 == 3}));
}

Cycle request_period(const char* name, std::uint32_t atoms)
{
    McifBench bench{preset(name)};
    for (int i = 0; i < 6; ++i) bench.put(kSdp, kStart, 0x1000 + i * 0x100, atoms, true, 0);
    bench.run(200);
    const std::size_t beats = bench.aw.size() / 6;
    return bench.aw[5 * beats].at - bench.aw[4 * beats].at;
}

TEST(Mcif, QueuedSingleBlockWritesFollowEachOtherInTheirBeatsAndTwoOrOne)
{
    EXPECT_EQ(request_period("nv_full", 2), 3u);
    EXPECT_EQ(request_period("nv_full", 8), 6u);
    EXPECT_EQ(request_period("nv_small", 1), 2u);
}

TEST(Mcif, LateDataReachThePortEightOrSixCyclesAfterTheClient)
{
    McifBench full{preset("nv_full")}, small{preset("nv_small")};
    full.put(kSdp, kStart, 0x1000, 2, true, 30);
    small.put(kSdp, kStart, 0x1000, 1, true, 30);
    full.run(100);
    small.run(100);
    EXPECT_EQ(full.aw.front().at, kStart + 30 + 8);
    EXPECT_EQ(small.aw.front().at, kStart + 30 + 6);
}

// 5.2
TEST(Mcif, TwoAtomsOfNvSmallAreTwoWritesAndOneCompletion)
{
    McifBench bench{preset("nv_small")};
    bench.put(kSdp, kStart, 0x100, 2);
    bench.run(60);
    EXPECT_THAT(bench.aw, ElementsAre(Command{kStart + 7, 0x100, 1, kSdp}, Command{kStart + 9, 0x108, 1, kSdp}));
    EXPECT_THAT(bench.completes, ElementsAre(std::pair<Cycle, unsigned>{kStart + 19, kSdp}));
}

TEST(Mcif, AnOddStartWritesThreeBeatsForFourAtoms)
{
    McifBench bench{preset("nv_full")};
    bench.put(kSdp, kStart, 0x1020, 4);
    bench.run(100);
    ASSERT_EQ(bench.beats.size(), 3u);
    EXPECT_EQ(bench.beats[0].atoms, 2u);
    EXPECT_EQ(bench.beats[1].atoms, 3u);
    EXPECT_EQ(bench.beats[2].atoms, 1u);
    std::vector<std::uint8_t> memory(192), expected(192);
    bench.store.read(0x1000, memory.data(), memory.size());
    for (unsigned i = 32; i < 160; ++i) expected[i] = McifBench::value(0x1000 + i);
    EXPECT_EQ(memory, expected);
}

TEST(Mcif, CvifWritesABlockAsOneBurst)
{
    McifBench bench{preset("nv_full"), MemorySide::Secondary};
    bench.put(kBdma, kStart, 0x1000, 16);
    bench.run(100);
    EXPECT_THAT(bench.aw, ElementsAre(Command{kStart + 12, 0x1000, 4, kBdma}, Command{kStart + 17, 0x1100, 4, kBdma}));
    EXPECT_EQ(bench.beats.size(), 8u);
}

TEST(Mcif, CvifAddressesAnOddStartByItsAtom)
{
    McifBench bench{preset("nv_full"), MemorySide::Secondary};
    bench.put(kBdma, kStart, 0x1020, 15);
    bench.run(100);
    ASSERT_EQ(bench.aw.size(), 2u);
    EXPECT_EQ(bench.aw[0].address, 0x1020u);  // not aligned, as the silicon does
    EXPECT_EQ(bench.aw[0].beats, 4u);
    EXPECT_EQ(bench.aw[1].address, 0x1100u);
    EXPECT_EQ(bench.completes.size(), 1u);
    std::vector<std::uint8_t> memory(32 * 15), expected;
    bench.store.read(0x1020, memory.data(), memory.size());
    for (unsigned i = 0; i < memory.size(); ++i) expected.push_back(McifBench::value(0x1020 + i));
    EXPECT_EQ(memory, expected);
}

TEST(Mcif, APostedWriteIsNotAnswered)
{
    McifBench bench{preset("nv_full")};
    bench.put(kSdp, kStart, 0x1000, 2, false);
    bench.put(kSdp, kStart, 0x1040, 2, true);
    bench.run(100);
    EXPECT_EQ(bench.aw.size(), 2u);
    EXPECT_EQ(bench.completes.size(), 1u);
}

TEST(Mcif, AnIdleInterfaceSleeps)
{
    for (const char* name : {"nv_full", "nv_small"}) {
        McifBench bench{preset(name), MemorySide::Primary, {.latency = 500, .interval = 16}};
        bench.ask(kData, kStart, 0x1000, 16);
        bench.put(kSdp, kStart, 0x4000, 16);
        bench.run(3000, true);
        EXPECT_EQ(bench.core->horizon(), kNever) << name;
        EXPECT_LT(bench.evaluations, 250u) << name;
        EXPECT_EQ(bench.completes.size(), 1u) << name;
    }
}

}  // namespace mcif_test
}  // namespace dlasim
