// The operations of register programs. Expected values by hand.
#include "workload/operations.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "causes/wait_log.h"
#include "facts/presets.h"
#include "launches.h"
#include "registers/interrupts.h"
#include "registers/tables.h"

namespace dlasim {
namespace operations_test {

TEST(Operations, TheUnitsOfAConvolutionAreOne)
{
    Launches p;
    p.sdp(1).convolution();
    const std::size_t first = p.last();
    p.sdp(1, false).convolution();
    const Operations all(p.hardware, p.program);
    EXPECT_EQ(all[1].entry, first);
    EXPECT_EQ(all[2].entry, p.last());
    EXPECT_EQ(all.units(1), "convolution, SDP");
    for (const Launched unit : {Launched::Cdma, Launched::Csc, Launched::CmacA, Launched::CmacB, Launched::Cacc, Launched::Sdp}) {
        EXPECT_EQ(all.of(unit, 0), 1u);
        EXPECT_EQ(all.of(unit, 1), 2u);
    }
    // Each writes to a port of its own.
    EXPECT_EQ(all.writer(Client::Sdp, true, 0), 1u);
    EXPECT_EQ(all.writer(Client::Sdp, false, 0), 2u);
}

TEST(Operations, WhatLiesBehindTheLastLaunchCountsToIt)
{
    Launches p;
    p.sdp(0);
    const Operations all(p.hardware, p.program);
    EXPECT_EQ(all.of(Launched::Sdp, 7), 1u);
    EXPECT_EQ(all.of(Launched::Cdma, 0), Operations::kNobody);
    EXPECT_EQ(all.writer(Client::Pdp, true, 0), Operations::kNobody);
}

TEST(Operations, AgeIsThatOfTheLastLaunch)
{
    Launches p;
    p.launch("CACC").launch("CMAC_A").launch("CMAC_B").launch("CSC").sdp(1);
    p.sdp(0);  // from memory: an operation by itself, whole before the convolution
    p.launch("CDMA");
    const Operations all(p.hardware, p.program);
    EXPECT_EQ(all.units(1), "SDP");
    EXPECT_EQ(all.units(2), "convolution, SDP");
    EXPECT_EQ(all[2].entry, p.last());
    EXPECT_EQ(all.of(Launched::Sdp, 0), 2u);
    EXPECT_EQ(all.of(Launched::Sdp, 1), 1u);
}

TEST(Operations, ReadEnginesBelongToThoseThatNeedThem)
{
    Launches p;
    p.sdp(1).convolution();                                                                         // reads nothing
    p.write("SDP.D_DP_BS_CFG", 0).write("SDP.D_DP_BS_ALU_CFG", 1).write("SDP.D_DP_BS_MUL_CFG", 0);  // operands from memory
    p.launch("SDP_RDMA").sdp(1).convolution();
    const Operations all(p.hardware, p.program);
    EXPECT_EQ(all.units(1), "convolution, SDP");
    EXPECT_EQ(all.units(2), "convolution, SDP_RDMA, SDP");
    EXPECT_EQ(all.of(Launched::SdpRdma, 0), 2u);
}

TEST(Operations, ABypassedEngineReadsNothing)
{
    for (const std::uint32_t bypassed : {0x01u, 0x12u}) {  // all of it; adder and multiplier
        Launches p;
        p.write("SDP.D_DP_BS_CFG", bypassed).write("SDP.D_DP_BS_ALU_CFG", 1).write("SDP.D_DP_BS_MUL_CFG", 1);
        p.sdp(1).convolution().launch("SDP_RDMA").sdp(0);
        EXPECT_EQ(Operations(p.hardware, p.program).units(2), "SDP_RDMA, SDP");
    }
}

TEST(Operations, PdpBelongsToTheSdpThatHandsOver)
{
    Launches p;
    p.write("PDP.D_OPERATION_MODE_CFG", 0).write("PDP.D_DST_RAM_CFG", 1).launch("PDP");
    p.sdp(3).convolution();
    p.write("PDP.D_OPERATION_MODE_CFG", 1 << 4).launch("PDP_RDMA").launch("PDP");
    const Operations all(p.hardware, p.program);
    EXPECT_EQ(all.units(1), "convolution, SDP, PDP");
    EXPECT_EQ(all.units(2), "PDP_RDMA, PDP");
    // SDP writes nothing then.
    EXPECT_EQ(all.writer(Client::Sdp, true, 0), Operations::kNobody);
    EXPECT_EQ(all.writer(Client::Pdp, true, 0), 1u);
    EXPECT_EQ(all.writer(Client::Pdp, true, 1), 2u);
}

TEST(Operations, GroupsKeepTheirRegisters)
{
    Launches p;
    p.group("SDP", 0).write("SDP.D_DST_DMA_CFG", 1).group("SDP", 1).write("SDP.D_DST_DMA_CFG", 0).launch("SDP");
    p.group("SDP", 0).launch("SDP");
    const Operations all(p.hardware, p.program);
    EXPECT_EQ(all.writer(Client::Sdp, false, 0), 1u);
    EXPECT_EQ(all.writer(Client::Sdp, true, 0), 2u);
}

TEST(Operations, AWriteOfZeroLaunchesNothing)
{
    Launches p;
    p.write("SDP.D_OP_ENABLE", 0).write("BDMA.CFG_LAUNCH0", 0);
    const Operations all(p.hardware, p.program);
    EXPECT_EQ(all.of(Launched::Sdp, 0), Operations::kNobody);
    EXPECT_EQ(all.of_bdma(0), Operations::kNobody);
}

TEST(Operations, TheHostIsOneOfThem)
{
    Launches p;
    p.host(0).sdp(0).host(1);
    const Operations all(p.hardware, p.program);
    EXPECT_EQ(all.of(Launched::Host, 0), 1u);
    EXPECT_EQ(all.of(Launched::Sdp, 0), 2u);
    EXPECT_EQ(all.of(Launched::Host, 1), 3u);
    EXPECT_EQ(all.units(3), "host");
}

TEST(Operations, AtomsOfBdmaAreCountedOverItsDescriptors)
{
    Launches p;
    const auto descriptor = [&](std::uint32_t line, std::uint32_t lines, std::uint32_t surfaces) {
        p.write("BDMA.CFG_LINE", line - 1).write("BDMA.CFG_LINE_REPEAT", lines - 1).write("BDMA.CFG_SURF_REPEAT", surfaces - 1);
        p.write("BDMA.CFG_OP", 1);
    };
    descriptor(4, 3, 1);
    descriptor(5, 1, 2);
    p.write("BDMA.CFG_LAUNCH0", 1);
    descriptor(2, 1, 1);
    p.write("BDMA.CFG_LAUNCH1", 1);
    const Operations all(p.hardware, p.program);
    EXPECT_EQ(all.of_bdma(0), 1u);
    EXPECT_EQ(all.of_bdma(21), 1u);
    EXPECT_EQ(all.of_bdma(22), 2u);
    EXPECT_EQ(all.of_bdma(23), 2u);
    EXPECT_EQ(all.units(1), "BDMA");
    EXPECT_EQ(all[2].entry, p.last());
}

// What is added to one of the lists of units and not to the others: registers, interrupts, launches, writers.
TEST(Units, EveryUnitWithTwoGroupsIsLaunched)
{
    for (const Hardware& hardware : presets())
        for (const UnitRegisters& unit : register_units(hardware))
            if (unit.has_groups()) EXPECT_NE(std::ranges::find(kLaunchedNames, unit.name), kLaunchedNames.end()) << unit.name;
}

TEST(Units, EveryInterruptBitIsRaisedByOneUnit)
{
    std::uint32_t named = 0;
    for (std::size_t unit = 0; unit < kLaunched; ++unit)
        for (const unsigned group : {0u, 1u}) {
            const std::uint32_t bits = interrupts_of(static_cast<Launched>(unit), group);
            EXPECT_EQ(named & bits, 0u) << kLaunchedNames[unit];
            named |= bits;
        }
    std::uint32_t listed = 0;
    for (const reg::glb::Interrupt* interrupt : reg::glb::kInterrupts) listed |= interrupt->bits();
    EXPECT_EQ(named, listed);
    EXPECT_EQ(named, find_unit(*find_preset("nv_full"), "GLB")->find(reg::glb::S_INTR_STATUS)->write_mask);
}

TEST(Units, EveryInterruptHasItsWaitPoint)
{
    for (const reg::glb::Interrupt* interrupt : reg::glb::kInterrupts) EXPECT_NE(find_points(interrupt->unit), nullptr) << interrupt->unit;
}

TEST(Units, TracesNameInterruptsByUnitAndGroup)
{
    EXPECT_EQ(reg::glb::interrupt_bit("SDP_0"), 1u);
    EXPECT_EQ(reg::glb::interrupt_bit("RBK_1"), 1u << 9);
    EXPECT_EQ(reg::glb::interrupt_bit("CDMA_WT_1"), 1u << 19);
    for (const char* name : {"", "SDP", "SDP_", "SDP_2", "SDP_10", "CDMA_0", "sdp_0"}) EXPECT_EQ(reg::glb::interrupt_bit(name), 0u) << name;
}

}  // namespace operations_test
}  // namespace dlasim
