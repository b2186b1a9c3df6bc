// What holds for all layers: evaluating SDP in every cycle and only when something wakes it are the
// same function, every cycle has one owner, and the data are independent of the speed of memory.
#include <gtest/gtest.h>

#include <random>

#include "registers/fields/sdp.h"
#include "rounds.h"
#include "sdp_bench.h"

namespace dlasim {
namespace sdp_law_test {

struct RandomLayers {
    std::vector<SdpRegisterWrite> writes;
    std::vector<std::uint64_t> layer_beats;
    std::vector<SdpBench::Beats> beats;
};

/// Two layers of random shape and engines, the second in the other group; flying or from memory.
RandomLayers random_layers(const Hardware& hw, std::mt19937& random)
{
    namespace sdp = reg::sdp;
    namespace rdma = reg::sdp_rdma;
    const auto pick = [&](std::uint32_t n) { return static_cast<std::uint32_t>(random() % n); };
    RandomLayers all;
    Cycle decode = 3;
    const auto write = [&](bool to_rdma, std::uint32_t offset, std::uint32_t data) {
        all.writes.push_back({decode += 1 + pick(2), to_rdma, offset, data});
    };
    const std::uint32_t atom = hw.memory.atom_bytes;
    unsigned reading_layers = 0;
    for (unsigned group = 0; group < 2; ++group) {
        const std::uint32_t w = 1 + pick(7), h = 1 + pick(4), precision = hw.full() ? pick(3) : 0;
        const std::uint32_t elements = precision == 0 ? atom : atom / 2, surfaces = 1 + pick(2);
        const bool flying = pick(2), int8 = precision == 0;
        const std::uint32_t out = !hw.full() ? 0 : int8 ? pick(2) : precision;
        const bool compare = pick(8) == 0 && hw.sdp.has_ew;
        write(false, sdp::S_POINTER, group);
        write(true, rdma::S_POINTER, reading_layers % 2);
        write(false, sdp::D_DATA_CUBE_WIDTH, w - 1);
        write(false, sdp::D_DATA_CUBE_HEIGHT, h - 1);
        write(false, sdp::D_DATA_CUBE_CHANNEL, surfaces * elements - 1);
        write(true, rdma::D_DATA_CUBE_WIDTH, w - 1);
        write(true, rdma::D_DATA_CUBE_HEIGHT, h - 1);
        write(true, rdma::D_DATA_CUBE_CHANNEL, surfaces * elements - 1);
        write(false, sdp::D_DST_BASE_ADDR_LOW, 0x1000 + group * 0x10000 + pick(2) * atom);
        write(false, sdp::D_DST_LINE_STRIDE, (w + pick(2)) * atom);
        write(false, sdp::D_DST_SURFACE_STRIDE, (w + 1) * h * atom);
        write(false, sdp::D_FEATURE_MODE_CFG, flying);
        write(false, sdp::D_DST_DMA_CFG, 1);
        write(false, sdp::D_DATA_FORMAT, precision | out << 2);
        write(false, sdp::D_CVT_SCALE, 1 + pick(3));
        write(false, sdp::D_CVT_SHIFT, pick(4));
        write(false, sdp::D_PERF_ENABLE, 0xf);
        write(true, rdma::D_FEATURE_MODE_CFG, flying | precision << 2 | precision << 4 | out << 6);
        write(true, rdma::D_SRC_DMA_CFG, 1);
        write(true, rdma::D_SRC_BASE_ADDR_LOW, 0x80000);
        write(true, rdma::D_SRC_LINE_STRIDE, w * atom);
        write(true, rdma::D_SRC_SURFACE_STRIDE, w * h * atom);
        struct Engine {
            std::uint32_t cfg, alu, mul, alu_value, mul_value, rdma, base, line, surface;
        };
        const Engine engines[] = {
            {sdp::D_DP_BS_CFG, sdp::D_DP_BS_ALU_CFG, sdp::D_DP_BS_MUL_CFG, sdp::D_DP_BS_ALU_SRC_VALUE, sdp::D_DP_BS_MUL_SRC_VALUE,
             rdma::D_BRDMA_CFG, rdma::D_BS_BASE_ADDR_LOW, rdma::D_BS_LINE_STRIDE, rdma::D_BS_SURFACE_STRIDE},
            {sdp::D_DP_BN_CFG, sdp::D_DP_BN_ALU_CFG, sdp::D_DP_BN_MUL_CFG, sdp::D_DP_BN_ALU_SRC_VALUE, sdp::D_DP_BN_MUL_SRC_VALUE,
             rdma::D_NRDMA_CFG, rdma::D_BN_BASE_ADDR_LOW, rdma::D_BN_LINE_STRIDE, rdma::D_BN_SURFACE_STRIDE},
            {sdp::D_DP_EW_CFG, sdp::D_DP_EW_ALU_CFG, sdp::D_DP_EW_MUL_CFG, sdp::D_DP_EW_ALU_SRC_VALUE, sdp::D_DP_EW_MUL_SRC_VALUE,
             rdma::D_ERDMA_CFG, rdma::D_EW_BASE_ADDR_LOW, rdma::D_EW_LINE_STRIDE, rdma::D_EW_SURFACE_STRIDE}};
        bool reads = !flying;
        for (unsigned i = 0; i < 3; ++i) {
            const Engine& e = engines[i];
            bool on = pick(2) && (i < 2 || hw.sdp.has_ew);
            bool alu = pick(2), mul = pick(2), alu_stream = alu && pick(2), mul_stream = mul && pick(2);
            std::uint32_t algorithm = pick(3);
            if (i == 2 && compare) on = alu = true, algorithm = 3;
            else if (i == 2 && algorithm == 3) algorithm = 2;
            const bool streams = on && (alu_stream || mul_stream);
            reads = reads || streams;
            const std::uint32_t lut = i == 2 && hw.sdp.has_lut && pick(2);
            write(false, e.cfg, !on | !alu << 1 | algorithm << 2 | !mul << 4 | pick(2) << 5 | (i == 2 ? !lut : pick(2)) << 6);
            write(false, e.alu, alu_stream | pick(2) << 1);
            write(false, e.mul, mul_stream | pick(2) << 1);
            write(false, e.alu_value, pick(200));
            write(false, e.mul_value, pick(20));
            const bool two_bytes = !int8 || pick(2), per_element = pick(2);
            const std::uint32_t use = alu_stream && mul_stream ? 2 : alu_stream;
            const std::uint32_t k = (use == 2 ? 2 : 1) * (int8 && two_bytes ? 2 : 1);
            write(true, e.rdma, !streams | use << 1 | two_bytes << 3 | per_element << 4 | 1u << 5);
            write(true, e.base, 0x100000 + i * 0x40000 + pick(3) * atom);
            write(true, e.line, w * k * atom);
            write(true, e.surface, w * h * k * atom);
        }
        reading_layers += reads;  // the read engines use their groups in turn
        // Either may come first, and late.
        const bool rdma_first = pick(2);
        if (reads && rdma_first) write(true, rdma::D_OP_ENABLE, 1);
        decode += pick(60);
        write(false, sdp::D_OP_ENABLE, 1);
        decode += pick(30);
        if (reads && !rdma_first) write(true, rdma::D_OP_ENABLE, 1);
        if (flying)
            all.layer_beats.push_back(std::uint64_t{surfaces} * w * h * (hw.full() ? (int8 ? 2 : 1) : atom / hw.sdp.max_throughput()));
    }
    std::uint64_t left = 0;
    for (const std::uint64_t n : all.layer_beats) left += n;
    for (Cycle at = 60; left; left -= all.beats.back().length) {
        at += 1 + pick(20);
        all.beats.push_back({at, 1 + pick(static_cast<std::uint32_t>(std::min<std::uint64_t>(left, 9)))});
        at += all.beats.back().length;
    }
    return all;
}

SdpTrace play(const Hardware& hw, const RandomLayers& layers, bool stepping, unsigned stall, Cycle latency)
{
    SdpBench bench(hw);
    bench.writes = layers.writes;
    bench.layer_beats = layers.layer_beats;
    // Beats are held until they are taken: a long run of valid at the end covers what was refused.
    bench.beats = layers.beats;
    if (!bench.beats.empty()) bench.hold_refused = true;
    bench.read_latency = latency;
    bench.write_ready = [stall](Cycle c) { return stall == 0 || (c * 2654435761u >> 16) % 8 >= stall; };
    bench.sums = [](std::uint64_t n) {
        SumBeat beat;
        for (std::uint32_t i = 0; i < 16; ++i) beat.lanes[i] = static_cast<std::int32_t>((n * 16 + i) * 2654435761u) >> 20;
        return beat;
    };
    bench.memory = [](std::uint64_t at) { return static_cast<std::uint8_t>(at * 37 + (at >> 7)); };
    return bench.run(12000, stepping);
}

std::vector<std::pair<std::uint64_t, std::vector<std::uint8_t>>> written(const Hardware& hw, const SdpTrace& trace)
{
    std::vector<std::pair<std::uint64_t, std::vector<std::uint8_t>>> all;
    for (const WritePacket& p : trace.packets)
        all.push_back({p.command ? p.address.byte() : 0,
                       p.command ? std::vector<std::uint8_t>{}
                                 : std::vector<std::uint8_t>(p.data.begin(), p.data.begin() + p.atoms * hw.memory.atom_bytes)});
    return all;
}

/// A layer from memory to memory, 12 x 2 pixels of one surface, with EW operands of each element.
void add_ew_layer(const Hardware& hw, std::vector<SdpRegisterWrite>& writes, Cycle decode, unsigned group, bool alu, bool mul)
{
    namespace sdp = reg::sdp;
    namespace rdma = reg::sdp_rdma;
    const std::uint32_t atom = hw.memory.atom_bytes, k = alu && mul ? 2 : 1;
    const auto write = [&](bool to_rdma, std::uint32_t offset, std::uint32_t data) { writes.push_back({decode++, to_rdma, offset, data}); };
    write(false, sdp::S_POINTER, group);
    write(true, rdma::S_POINTER, group);
    for (const auto& [offset, data] :
         std::initializer_list<std::pair<std::uint32_t, std::uint32_t>>{{sdp::D_DATA_CUBE_WIDTH, 11},
                                                                        {sdp::D_DATA_CUBE_HEIGHT, 1},
                                                                        {sdp::D_DATA_CUBE_CHANNEL, atom - 1},
                                                                        {sdp::D_DST_BASE_ADDR_LOW, 0x1000},
                                                                        {sdp::D_DST_LINE_STRIDE, 12 * atom},
                                                                        {sdp::D_DST_SURFACE_STRIDE, 24 * atom},
                                                                        {sdp::D_DST_DMA_CFG, 1},
                                                                        {sdp::D_CVT_SCALE, 1},
                                                                        {sdp::D_DP_BS_CFG, 1},
                                                                        {sdp::D_DP_BN_CFG, 1},
                                                                        {sdp::D_DP_EW_CFG, !alu << 1 | 2 << 2 | !mul << 4 | 1 << 6},
                                                                        {sdp::D_DP_EW_ALU_CFG, alu | 2},
                                                                        {sdp::D_DP_EW_MUL_CFG, mul | 2},
                                                                        {sdp::D_DATA_FORMAT, 0}})
        write(false, offset, data);
    for (const auto& [offset, data] :
         std::initializer_list<std::pair<std::uint32_t, std::uint32_t>>{{rdma::D_DATA_CUBE_WIDTH, 11},
                                                                        {rdma::D_DATA_CUBE_HEIGHT, 1},
                                                                        {rdma::D_DATA_CUBE_CHANNEL, atom - 1},
                                                                        {rdma::D_SRC_DMA_CFG, 1},
                                                                        {rdma::D_SRC_LINE_STRIDE, 12 * atom},
                                                                        {rdma::D_SRC_SURFACE_STRIDE, 24 * atom},
                                                                        {rdma::D_BRDMA_CFG, 1},
                                                                        {rdma::D_NRDMA_CFG, 1},
                                                                        {rdma::D_ERDMA_CFG, (k == 2 ? 2u : alu) << 1 | 1 << 4 | 1 << 5},
                                                                        {rdma::D_EW_LINE_STRIDE, 12 * k * atom},
                                                                        {rdma::D_EW_SURFACE_STRIDE, 24 * k * atom},
                                                                        {rdma::D_FEATURE_MODE_CFG, 0}})
        write(true, offset, data);
    write(true, rdma::D_OP_ENABLE, 1);
    write(false, sdp::D_OP_ENABLE, 1);
}

TEST(SdpSequences, OperandsOfALayerAreGoneWhenTheReaderHasTurnedToOthers)
{
    constexpr Cycle kLast = 3000;
    const auto last_interrupt = [](const Hardware& hw, bool alone, bool alu, bool mul) {
        SdpBench bench(hw);
        // The reader of the second layer has no use for a stream of which the first one's engine still has operands.
        if (!alone) add_ew_layer(hw, bench.writes, 3, 0, alu, mul);
        if (!alone) add_ew_layer(hw, bench.writes, 40, 1, !alu, alu);
        add_ew_layer(hw, bench.writes, kLast, 0, alu, mul);
        const SdpTrace trace = bench.run(kLast + 2000, true);
        EXPECT_EQ(trace.interrupts.size(), alone ? 1u : 3u);
        return trace.interrupts.empty() ? 0 : trace.interrupts.back().first;
    };
    for (const char* preset : {"nv_full", "nv_large", "nv_medium_1024_full", "nv_small_256_full"})
        for (const auto& [alu, mul] : {std::pair{true, false}, {false, true}, {true, true}})
            EXPECT_EQ(last_interrupt(*find_preset(preset), false, alu, mul), last_interrupt(*find_preset(preset), true, alu, mul))
                << preset << alu << mul;
}

class SdpLaws : public testing::TestWithParam<const char*> {};

TEST_P(SdpLaws, SkipsAndSingleStepsAgreeAndDataDoNotDependOnTheSpeedOfMemory)
{
    const Hardware& hw = *find_preset(GetParam());
    std::mt19937 random{7};
    for (unsigned trial = 0; trial < rounds(60); ++trial) {
        const RandomLayers layers = random_layers(hw, random);
        std::vector<std::pair<std::uint64_t, std::vector<std::uint8_t>>> first;
        for (const auto& [stall, latency] : {std::pair{0u, Cycle{10}}, {0u, Cycle{300}}, {5u, Cycle{40}}, {7u, Cycle{1}}}) {
            const SdpTrace stepped = play(hw, layers, true, stall, latency), skipped = play(hw, layers, false, stall, latency);
            ASSERT_EQ(stepped.write_valid, skipped.write_valid) << trial;
            ASSERT_EQ(stepped.cacc_ready_low, skipped.cacc_ready_low) << trial;
            ASSERT_EQ(stepped.interrupts, skipped.interrupts) << trial;
            ASSERT_EQ(stepped.interrupts.size(), 2u) << trial << " " << stall << " " << latency;
            Cycle total = 0;
            for (std::size_t phase = 0; phase < kPhases; ++phase) {
                EXPECT_EQ(stepped.report.phases.cycles(static_cast<Phase>(phase)), skipped.report.phases.cycles(static_cast<Phase>(phase)))
                    << trial;
                total += skipped.report.phases.cycles(static_cast<Phase>(phase));
            }
            EXPECT_EQ(total, 12000u);
            EXPECT_EQ(stepped.report.clock_on, skipped.report.clock_on);
            EXPECT_EQ(stepped.report.idle_runs, skipped.report.idle_runs);
            EXPECT_EQ(stepped.status, skipped.status) << trial;
            const auto bytes = written(hw, skipped);
            EXPECT_EQ(written(hw, stepped), bytes);
            if (first.empty()) first = bytes;
            EXPECT_EQ(first, bytes) << trial;
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Presets, SdpLaws,
                         testing::Values("nv_full", "nv_large", "nv_medium_1024_full", "nv_medium_512", "nv_small_256_full", "nv_small"));

}  // namespace sdp_law_test
}  // namespace dlasim
