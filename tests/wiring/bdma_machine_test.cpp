// BDMA in the machine: the cycles at the memory ports and of the interrupt that bdma.md 5 verified on the reference,
// relative to U, the cycle of the launch at BDMA's register port. Latency 20, writes answered after 8.
#include <gmock/gmock.h>

#include "facts/presets.h"
#include "platform/machine.h"
#include "registers/fields/bdma.h"

namespace dlasim {
namespace bdma_machine_test {

constexpr std::uint32_t kWindow = 0x4000, kSource = 0x80000000, kDestination = 0x90000000;
constexpr std::int64_t kAcceptToPort = 8;  // csb.md 2.1

struct Shape {
    std::uint32_t atoms = 1, lines = 1, line_stride = 0;
    std::uint32_t source = kSource, destination = kDestination;
    bool to_mc = true;
};

struct Outcome {
    std::vector<std::int64_t> reads, writes, interrupts;
    std::vector<std::uint32_t> beats;  // of the writes
};

Outcome run(const Shape& s)
{
    using namespace reg::bdma;
    const std::pair<std::uint32_t, std::uint32_t> writes[] = {{CFG_SRC_ADDR_LOW, s.source},
                                                              {CFG_SRC_ADDR_HIGH, 0},
                                                              {CFG_DST_ADDR_LOW, s.destination},
                                                              {CFG_DST_ADDR_HIGH, 0},
                                                              {CFG_LINE, s.atoms - 1},
                                                              {CFG_CMD, 1u | s.to_mc << 1},
                                                              {CFG_LINE_REPEAT, s.lines - 1},
                                                              {CFG_SRC_LINE, s.line_stride},
                                                              {CFG_DST_LINE, s.line_stride},
                                                              {CFG_SURF_REPEAT, 0},
                                                              {CFG_SRC_SURF, 0},
                                                              {CFG_DST_SURF, 0},
                                                              {CFG_OP, 1}};
    Program program;
    for (const auto& [offset, value] : writes) program.push_back(RegisterWrite{"BDMA", kWindow + offset, value});
    // Two reads empty the bus's queue: the launch reaches its unit eight cycles after it was accepted.
    for (int i = 0; i < 2; ++i) program.push_back(RegisterRead{"BDMA.STATUS", kWindow + STATUS});
    program.push_back(RegisterWrite{"BDMA", kWindow + CFG_LAUNCH0, 1});
    program.push_back(MarkT0{});
    program.push_back(WaitInterrupt{"BDMA_0"});

    MemorySpec memory;
    memory.read_latency = 20;
    memory.write_latency = 8;
    SimulateOptions options;
    options.events = true;
    Machine machine(*find_preset("nv_full"), memory, options);
    const RunResult result = machine.run(program);

    const auto u = static_cast<std::int64_t>(result.t0) + kAcceptToPort;
    const PortTraffic& to = s.to_mc ? result.dbb : result.cvsram;
    Outcome outcome;
    for (const BusCommand& c : result.dbb.ar_log) outcome.reads.push_back(static_cast<std::int64_t>(c.cycle) - u);
    for (const BusCommand& c : to.aw_log) {
        outcome.writes.push_back(static_cast<std::int64_t>(c.cycle) - u);
        outcome.beats.push_back(c.beats);
    }
    for (const std::int64_t cycle : result.interrupt_cycles) outcome.interrupts.push_back(cycle - kAcceptToPort);
    return outcome;
}

using Cycles = std::vector<std::int64_t>;

Cycles from(std::int64_t first, std::int64_t count, std::int64_t step = 1)
{
    Cycles cycles;
    for (std::int64_t i = 0; i < count; ++i) cycles.push_back(first + i * step);
    return cycles;
}

TEST(BdmaMachine, FourAtoms)
{
    const Outcome outcome = run({.atoms = 4});
    EXPECT_EQ(outcome.reads, (Cycles{12, 13}));
    EXPECT_EQ(outcome.writes, (Cycles{50, 51}));
    EXPECT_EQ(outcome.interrupts, (Cycles{70}));
}

TEST(BdmaMachine, ThreeAtomsFromTheSecondHalfOfABeat)
{
    const Outcome outcome = run({.atoms = 3, .source = kSource + 32});
    EXPECT_EQ(outcome.reads, (Cycles{12, 13}));
    EXPECT_EQ(outcome.writes, (Cycles{51, 52}));
    EXPECT_EQ(outcome.interrupts, (Cycles{71}));
}

TEST(BdmaMachine, FourAtomsToTheSecondHalfOfABeat)
{
    const Outcome outcome = run({.atoms = 4, .destination = kDestination + 32});
    EXPECT_EQ(outcome.reads, (Cycles{12, 13}));
    EXPECT_EQ(outcome.writes, (Cycles{51, 52, 53}));
    EXPECT_EQ(outcome.interrupts, (Cycles{72}));
}

TEST(BdmaMachine, EightLinesOfTwoAtoms)
{
    const Outcome outcome = run({.atoms = 2, .lines = 8, .line_stride = 64});
    EXPECT_EQ(outcome.reads, from(12, 8));
    EXPECT_EQ(outcome.writes, from(49, 8, 3));
    EXPECT_EQ(outcome.interrupts, (Cycles{89}));
}

// A line of 64 atoms is eight chunks of four beats, five cycles each; the next line begins a cycle later.
TEST(BdmaMachine, TwoLinesOf64Atoms)
{
    const Outcome outcome = run({.atoms = 64, .lines = 2, .line_stride = 2048});
    EXPECT_EQ(outcome.reads, from(12, 64));
    Cycles writes;
    for (const std::int64_t first : from(52, 8, 5))
        for (const std::int64_t cycle : from(first, 4)) writes.push_back(cycle);
    for (const std::int64_t first : from(52 + 7 * 5 + 6, 8, 5))
        for (const std::int64_t cycle : from(first, 4)) writes.push_back(cycle);
    EXPECT_EQ(outcome.writes, writes);
    EXPECT_EQ(outcome.interrupts, (Cycles{150}));
}

TEST(BdmaMachine, TwoLinesOf64AtomsToTheOtherMemory)
{
    const Outcome outcome = run({.atoms = 64, .lines = 2, .line_stride = 2048, .to_mc = false});
    EXPECT_EQ(outcome.reads, from(12, 64));
    EXPECT_EQ(outcome.beats, std::vector<std::uint32_t>(16, 4));
    EXPECT_EQ(outcome.interrupts, (Cycles{150}));
}

}  // namespace bdma_machine_test
}  // namespace dlasim
