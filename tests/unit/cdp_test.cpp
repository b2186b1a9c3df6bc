// CDP alone between two memories: what the specification's examples say, and that skipping changes nothing.
#include <gmock/gmock.h>

#include <random>

#include "cdp_bench.h"
#include "rounds.h"

namespace dlasim {
namespace cdp_test {

using namespace test;
using testing::ElementsAre;
using testing::Pair;

const Hardware& preset(const char* name) { return *find_preset(name); }

/// A linear LO table of single steps, LE of octaves; what is looked up falls with the sum.
Cycle write_tables(CdpBench& bench, Cycle u)
{
    using namespace reg::cdp;
    bench.write(u++, S_LUT_ACCESS_CFG, 1u << 17);
    for (std::uint32_t i = 0; i < 65; ++i) bench.write(u++, S_LUT_ACCESS_DATA, 32000 - 400 * i);
    bench.write(u++, S_LUT_ACCESS_CFG, 1u << 17 | 1u << 16);
    for (std::uint32_t i = 0; i < 257; ++i) bench.write(u++, S_LUT_ACCESS_DATA, 32000 - 100 * i);
    bench.write(u++, S_LUT_CFG, 1u << 4 | 1u << 6);
    bench.write(u++, S_LUT_INFO, 9u << 16);
    return u;
}

// cdp.md 4.4: nv_small, W = H = 1, C = 8; op_en written in U is seen in E = U + 5.
TEST(Cdp, TheSmallestLayerPassesItsStagesAsInTheSpecification)
{
    const Hardware& hw = preset("nv_small");
    CdpBench bench(hw, {}, true);
    CdpShape shape;
    shape.channels = 8;
    const Cycle enabled = program_cdp(bench, hw, 10, 0, shape) - 1;
    bench.run(400);
    const Cycle e = enabled + 5, response = e + 2 + 30;  // the request is at the port in E + 2
    ASSERT_THAT(bench.mc.reads, ElementsAre(CdpPort::Event{e + 2, 0x100000, 1}));
    // First beat 8 cycles behind the response at the port, output 30 + lag behind that; a command when all 8 chunks are there.
    const Cycle first_out = response + 8 + 30 + 4;
    ASSERT_THAT(bench.mc.commands, ElementsAre(CdpPort::Event{first_out + 7 + 3, 0x800000, 1}));
    const Cycle data = first_out + 7 + 4;
    ASSERT_EQ(bench.mc.writes.size(), 1u);
    EXPECT_EQ(std::get<0>(bench.mc.writes[0]), data);
    EXPECT_THAT(bench.interrupts, ElementsAre(Pair(data + 18 + 3, 1u << 2)));
}

TEST(Cdp, GroupsTakeTurnsAndTheirInterruptsAreApart)
{
    const Hardware& hw = preset("nv_large");
    CdpBench bench(hw, {}, true);
    Cycle u = write_tables(bench, 10);
    CdpShape shape;
    shape.width = 9;
    shape.channels = 70;
    u = program_cdp(bench, hw, u, 0, shape);
    program_cdp(bench, hw, u, 1, shape);
    bench.run(3000);
    ASSERT_EQ(bench.interrupts.size(), 2u);
    EXPECT_EQ(bench.interrupts[0].second, 1u << 2);
    EXPECT_EQ(bench.interrupts[1].second, 1u << 3);
    EXPECT_EQ(bench.core->waiting_for(), "idle");
}

// cdp.md 5.1: the address steps with every access and stays at the last entry; a read that comes within three
// cycles of a new address returns the entry of the old one.
TEST(Cdp, TablesAreReadBackThroughTheirWindow)
{
    const Hardware& hw = preset("nv_large");
    CdpBench bench(hw, {}, true);
    Cycle u = write_tables(bench, 10);
    using namespace reg::cdp;
    bench.run(u + 2);
    bench.write(u, S_LUT_ACCESS_CFG, 5);
    EXPECT_EQ(bench.read(u + 3, S_LUT_ACCESS_DATA), 32000u - 400 * 5);
    EXPECT_EQ(bench.read(u + 10, S_LUT_ACCESS_DATA), 32000u - 400 * 6);
    bench.write(u + 20, S_LUT_ACCESS_CFG, 1u << 16 | 255);
    EXPECT_EQ(bench.read(u + 22, S_LUT_ACCESS_DATA), 32000u - 400 * 7);  // too soon: the old address
    EXPECT_EQ(bench.read(u + 30, S_LUT_ACCESS_DATA), 32000u - 100 * 256);
    EXPECT_EQ(bench.read(u + 40, S_LUT_ACCESS_DATA), 32000u - 100 * 256);  // stays at the last one
    EXPECT_EQ(bench.read(u + 50, S_LUT_INFO), 9u << 16);
}

TEST(Cdp, ABlockThatIsEnabledAloneWaits)
{
    const Hardware& hw = preset("nv_small");
    CdpBench bench(hw, {}, true);
    bench.write(10, reg::cdp::D_OP_ENABLE, 1);
    bench.run(500);
    EXPECT_TRUE(bench.mc.reads.empty());
    EXPECT_EQ(bench.core->waiting_for(), "CDP runs, CDP_RDMA was not enabled");
    CdpBench other(hw, {}, true);
    other.write_rdma(10, reg::cdp_rdma::D_SRC_DMA_CFG, 1);
    other.write_rdma(11, reg::cdp_rdma::D_OP_ENABLE, 1);
    other.run(500);
    EXPECT_EQ(other.mc.reads.size(), 1u);
    EXPECT_TRUE(other.mc.writes.empty());
    EXPECT_EQ(other.core->waiting_for(), "CDP_RDMA runs, CDP was not enabled");
}

TEST(Cdp, WhereThereIsNoSecondaryPortItsRequestsAreNeverAccepted)
{
    const Hardware& hw = preset("nv_small");
    CdpBench bench(hw, {}, true);
    CdpShape shape;
    shape.from_primary = false;
    program_cdp(bench, hw, 10, 0, shape);
    bench.run(1000);
    EXPECT_TRUE(bench.mc.reads.empty());
    EXPECT_TRUE(bench.interrupts.empty());
    EXPECT_LT(bench.evaluations, 200u);
}

// ---- skipping

/// Everything that can be told of a run.
struct Trace {
    std::vector<CdpPort::Event> reads, commands, writes, cv_reads, cv_writes;
    std::vector<std::pair<Cycle, std::uint32_t>> interrupts;
    std::vector<std::pair<std::string, std::uint64_t>> counters;
    std::vector<std::pair<std::string, Cycle>> clocks;
    std::vector<Cycle> phases;
    bool operator==(const Trace&) const = default;
};

Trace trace_of(CdpBench& bench)
{
    Trace t{bench.mc.reads, bench.mc.commands, bench.mc.writes, bench.cv.reads, bench.cv.writes, bench.interrupts, {}, {}, {}};
    const UnitReport report = bench.core->report(bench.now);
    t.counters = report.counters.all();
    t.clocks = report.clock_on.all();
    Cycle sum = 0;
    for (std::size_t i = 0; i < kPhases; ++i) {
        t.phases.push_back(report.phases.cycles(static_cast<Phase>(i)));
        sum += t.phases.back();
    }
    EXPECT_EQ(sum, bench.now);
    return t;
}

class Maker {
public:
    explicit Maker(unsigned seed) : random_(seed) {}
    unsigned in(unsigned low, unsigned high) { return low + random_() % (high - low + 1); }
    bool one_in(unsigned n) { return in(1, n) == 1; }
    CdpPace pace()
    {
        CdpPace p;
        p.read_latency = one_in(3) ? in(1, 300) : in(1, 60);
        p.write_latency = in(4, 60);
        if (one_in(2)) p.request_stall = in(0, 7);
        if (one_in(2)) p.response_stall = in(0, 6);
        if (one_in(2)) p.write_stall = in(0, 6);
        p.seed = random_();
        return p;
    }
    CdpShape shape(const Hardware& hw, unsigned layer)
    {
        CdpShape s;
        s.width = one_in(2) ? in(1, 9) : in(1, 34);
        s.height = in(1, 4);
        s.precision = hw.full() ? in(0, 2) : 0;
        s.channels = in(1, 5 * hw.memory.atom_bytes);
        s.window = 3 + 2 * in(0, 3);
        s.bypass = one_in(2) ? 0 : in(0, 3);
        s.source += 0x40000 * layer;
        s.destination += 0x40000 * layer;
        if (hw.memory.has_secondary) {
            s.from_primary = !one_in(3);
            s.to_primary = !one_in(3);
        }
        s.rdma_first = one_in(2);
        s.perf = one_in(2);
        return s;
    }

private:
    std::mt19937 random_;
};

/// One to four layers through both groups; the group before is awaited before it is used again.
Trace run_program(const Hardware& hw, unsigned seed, bool skip, std::uint64_t& evaluations)
{
    Maker maker(seed);
    const CdpPace pace = maker.pace();
    CdpBench bench(hw, pace, skip);
    Cycle u = write_tables(bench, 10);
    const unsigned layers = maker.in(1, 4);
    for (unsigned i = 0; i < layers; ++i) {
        while (i >= 2 && bench.interrupts.size() + 1 < i && bench.now < 400000) bench.run(bench.now + 100);
        u = program_cdp(bench, hw, std::max(u, bench.now + 1) + maker.in(0, 50), i % 2, maker.shape(hw, i));
    }
    while (bench.interrupts.size() < layers && bench.now < 400000) bench.run(bench.now + 1000);
    EXPECT_EQ(bench.interrupts.size(), layers) << "seed " << seed;
    evaluations += bench.evaluations;
    return trace_of(bench);
}

TEST(CdpLaw, SkippingIsStepping)
{
    for (const char* name : {"nv_small", "nv_medium_512", "nv_medium_1024_full", "nv_large", "nv_full"}) {
        std::uint64_t skipping = 0, stepping = 0;
        for (unsigned seed = 1; seed <= rounds(30); ++seed) {
            const Trace skipped = run_program(preset(name), seed, true, skipping);
            ASSERT_EQ(skipped, run_program(preset(name), seed, false, stepping)) << name << " seed " << seed;
        }
        EXPECT_LT(skipping, stepping) << name;
    }
}

}  // namespace cdp_test
}  // namespace dlasim
