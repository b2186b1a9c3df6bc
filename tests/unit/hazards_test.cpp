// Accesses out of order. Two operations by hand: the first is at layer 0 of its units, the second at layer 1.
#include "platform/hazards.h"

#include <gmock/gmock.h>

#include "launches.h"

namespace dlasim {
namespace hazards_test {

using testing::IsEmpty;

constexpr std::uint32_t kSdp = static_cast<std::uint32_t>(Client::Sdp), kData = static_cast<std::uint32_t>(Client::CdmaData),
                        kBdma = static_cast<std::uint32_t>(Client::Bdma);
constexpr std::uint32_t kEntries = 16;

/// Two convolutions, the host behind them.
class Bench {
public:
    explicit Bench(bool one_memory = true)
    {
        for (int i = 0; i < 2; ++i) p_.sdp(1).convolution();
        p_.host(0);
        finished_.fill(nullptr);
        for (const Launched unit : {Launched::Cdma, Launched::Csc, Launched::SdpRdma}) finished_[static_cast<std::size_t>(unit)] = &layer_;
        hazards_.emplace(p_.hardware, p_.program, one_memory, clock_, finished_, kEntries);
    }
    Hazards& operator*() { return *hazards_; }
    /// Of the read units.
    void at_layer(std::uint32_t layer) { layer_ = layer; }
    void read(std::uint64_t atom, Cycle at, bool primary = true)
    {
        hazards_->port(primary).read(kData, Address{atom * bytes()}, bytes(), at);
    }
    void write(std::uint64_t atom, Cycle at, bool primary = true)
    {
        hazards_->port(primary).written(kSdp, Address{atom * bytes()}, bytes(), at);
    }
    void first_has_written() { hazards_->port(true).ended(kSdp); }
    std::uint32_t bytes() const { return p_.hardware.memory.atom_bytes; }
    HazardReport report(Cycle t0 = 0) { return hazards_->report(t0); }

private:
    Launches p_;
    std::uint32_t layer_ = 0;
    Hazards::Finished finished_;
    Clock clock_{sc_core::sc_time(1, sc_core::SC_NS)};
    std::optional<Hazards> hazards_;
};

std::vector<HazardKind> kinds(const HazardReport& report)
{
    std::vector<HazardKind> list;
    for (const Hazard& hazard : report.list) list.push_back(hazard.kind);
    return list;
}

TEST(Hazards, WhatHappensInOrderIsNone)
{
    Bench b;
    b.read(1, 10);
    b.write(2, 20);
    b.first_has_written();
    b.at_layer(1);
    b.read(2, 30);
    b.write(1, 40);
    b.write(2, 50);
    EXPECT_EQ(b.report().accesses, 5u);
    EXPECT_EQ(b.report().found, 0u);
}

TEST(Hazards, AReaderThatOvertakesItsWriterIsNamed)
{
    Bench b;
    b.at_layer(1);
    b.read(3, 110);
    b.read(4, 111);
    b.write(3, 120);
    b.write(4, 121);
    const HazardReport report = b.report(100);
    EXPECT_EQ(report.found, 2u);
    ASSERT_EQ(report.list.size(), 1u);  // of the same two operations and clients
    const Hazard& hazard = report.list.front();
    EXPECT_EQ(hazard.kind, HazardKind::ReadBeforeWritten);
    EXPECT_EQ(hazard.where, "DBB");
    EXPECT_EQ(hazard.address, 3u * b.bytes());
    EXPECT_EQ(hazard.amount, 2u * b.bytes());
    EXPECT_EQ(hazard.before.operation, 2u);
    EXPECT_EQ(hazard.before.client, "CDMA_DAT");
    EXPECT_EQ(hazard.before.cycle, 10);
    EXPECT_EQ(hazard.before.units, "convolution, SDP");
    EXPECT_EQ(hazard.after.operation, 1u);
    EXPECT_EQ(hazard.after.client, "SDP");
    EXPECT_EQ(hazard.after.cycle, 20);
}

TEST(Hazards, AWriterThatDoesNotWaitForItsReader)
{
    Bench b;
    b.first_has_written();
    b.write(5, 10);
    b.read(5, 20);  // of the first operation
    EXPECT_THAT(kinds(b.report()), testing::ElementsAre(HazardKind::OverwrittenEarly));
}

TEST(Hazards, WritesInTheWrongOrder)
{
    Bench b;
    b.first_has_written();
    b.write(5, 10);
    // The host of the program is behind both operations.
    (*b).host(true);
    (*b).host_access(true, Address{5 * b.bytes()}, 1, true);
    (*b).host(false);
    EXPECT_THAT(kinds(b.report()), IsEmpty());
    b.write(5, 30);
    EXPECT_THAT(kinds(b.report()), testing::ElementsAre(HazardKind::WrittenOutOfOrder));
    EXPECT_EQ(b.report().list.front().before.client, "host");
}

TEST(Hazards, AnOperationThatReadsItself)
{
    Bench b;
    b.write(6, 10);
    b.read(6, 20);
    EXPECT_THAT(kinds(b.report()), testing::ElementsAre(HazardKind::ReadsItself));
}

TEST(Hazards, PortsSeeTheSameBytesOrNot)
{
    for (const bool one_memory : {true, false}) {
        Bench b(one_memory);
        b.at_layer(1);
        b.read(3, 10, false);
        b.write(3, 20, true);
        EXPECT_EQ(b.report().found, one_memory ? 1u : 0u);
    }
}

TEST(Hazards, PartsOfAtomsOfTheHostCount)
{
    Bench b;
    b.at_layer(1);
    (*b).host_access(true, {}, 1000, true);  // not in a step of the program: nobody's
    EXPECT_EQ(b.report().accesses, 0u);
    (*b).host(true);
    (*b).host_access(true, Address{b.bytes() - 1}, 2, false);
    (*b).host_access(true, {}, 0, true);
    (*b).host(false);
    EXPECT_EQ(b.report().accesses, 2u);
    b.write(1, 30);
    EXPECT_THAT(kinds(b.report()), testing::ElementsAre(HazardKind::ReadBeforeWritten));
}

TEST(Hazards, AtomsOfBdmaBelongToItsLaunches)
{
    Launches p;
    for (int i = 0; i < 2; ++i) {
        p.write("BDMA.CFG_LINE", 1).write("BDMA.CFG_LINE_REPEAT", 0).write("BDMA.CFG_SURF_REPEAT", 0).write("BDMA.CFG_OP", 1);
        p.write(i == 0 ? "BDMA.CFG_LAUNCH0" : "BDMA.CFG_LAUNCH1", 1);
    }
    const Clock clock{sc_core::sc_time(1, sc_core::SC_NS)};
    Hazards hazards(p.hardware, p.program, true, clock, Hazards::Finished{}, kEntries);
    const std::uint32_t bytes = p.hardware.memory.atom_bytes;
    hazards.port(true).read(kBdma, {}, 4 * bytes, 10);                 // two atoms of each launch
    hazards.port(true).written(kBdma, Address{3 * bytes}, bytes, 20);  // of the first, where the second has read
    hazards.port(true).written(kBdma, Address{8 * bytes}, bytes, 21);
    hazards.port(true).written(kBdma, Address{2 * bytes}, bytes, 22);  // of the second where itself has read
    EXPECT_THAT(kinds(hazards.report(0)), testing::ElementsAre(HazardKind::ReadBeforeWritten));
    EXPECT_EQ(hazards.report(0).list.front().address, 3u * bytes);
}

TEST(Hazards, EntriesOfWeightsKnowTheirTurn)
{
    Bench b;
    CbufWatch& buffer = (*b).buffer();
    buffer.written(Held::Weights, 7, 0);
    buffer.read(Held::Weights, 7, 0);
    buffer.written(Held::Weights, 7, 16);
    buffer.read(Held::Weights, 7, 16);
    EXPECT_THAT(kinds(b.report()), IsEmpty());
    buffer.read(Held::Weights, 7, 0);  // the ring has gone on
    EXPECT_THAT(kinds(b.report()), testing::ElementsAre(HazardKind::OverwrittenEarly));
}

TEST(Hazards, WeightsThatNobodyPutThere)
{
    Bench b;
    (*b).buffer().read(Held::Weights, 2, 0);
    (*b).buffer().read(Held::Data, 3, 0);  // lanes without weights
    EXPECT_THAT(kinds(b.report()), testing::ElementsAre(HazardKind::NeverWritten));
    EXPECT_EQ(b.report().list.front().where, "CBUF");
    EXPECT_EQ(b.report().list.front().address, 2u);
}

TEST(Hazards, DataOverWeightsOfTheSameLayer)
{
    Bench b;
    (*b).buffer().written(Held::Data, 4, 0);
    (*b).buffer().read(Held::Weights, 4, 0);
    EXPECT_EQ(kinds(b.report()).front(), HazardKind::OverwrittenEarly);
}

TEST(Hazards, DataThatComeBehindTheirReader)
{
    Bench b;
    (*b).buffer().read(Held::Data, 4, 0);
    (*b).buffer().written(Held::Data, 4, 0);
    EXPECT_THAT(kinds(b.report()), testing::ElementsAre(HazardKind::ReadBeforeWritten));
}

TEST(Hazards, ARestartedRingBeginsAnew)
{
    Bench b;
    CbufWatch& buffer = (*b).buffer();
    buffer.written(Held::Weights, 1, 40);
    buffer.read(Held::Weights, 1, 40);
    buffer.restarted();
    buffer.written(Held::Weights, 1, 0);
    buffer.read(Held::Weights, 1, 0);
    EXPECT_THAT(kinds(b.report()), IsEmpty());
}

}  // namespace hazards_test
}  // namespace dlasim
