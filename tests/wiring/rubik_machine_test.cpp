// Rubik in the machine: the cycles at the memory port and of the interrupt that rubik.md 6 verified on the
// reference, relative to O, the cycle in which the data path sees its enable. Latency 20, writes answered after 8.
#include <gmock/gmock.h>

#include "facts/presets.h"
#include "platform/machine.h"
#include "registers/fields/rbk.h"

namespace dlasim {
namespace rubik_machine_test {

constexpr std::uint32_t kWindow = 0x10000, kSource = 0x80000000, kDestination = 0x90000000, kPlane = 64;
constexpr std::int64_t kAcceptToStart = 13;  // csb.md 2.1: D_OP_ENABLE accepted in T, seen in T + 13

enum Mode : std::uint32_t { kContract, kSplit, kMerge };

/// One line of int8.
struct Shape {
    Mode mode;
    std::uint32_t width, channels, xs = 1;
};

void add(Program& program, const Shape& s, unsigned group)
{
    using namespace reg::rbk;
    const std::pair<std::uint32_t, std::uint32_t> writes[] = {{S_POINTER, group},
                                                              {D_MISC_CFG, s.mode},
                                                              {D_DAIN_RAM_TYPE, 1},
                                                              {D_DATAIN_SIZE_0, s.width - 1},
                                                              {D_DATAIN_SIZE_1, s.channels - 1},
                                                              {D_DAIN_ADDR_LOW, kSource},
                                                              {D_DAIN_PLANAR_STRIDE, kPlane},
                                                              {D_DAOUT_RAM_TYPE, 1},
                                                              {D_DATAOUT_SIZE_1, s.channels - 1},
                                                              {D_DAOUT_ADDR_LOW, kDestination},
                                                              {D_CONTRACT_STRIDE_0, s.width * 32},
                                                              {D_DAOUT_PLANAR_STRIDE, kPlane},
                                                              {D_DECONV_STRIDE, s.xs - 1},
                                                              {D_OP_ENABLE, 1}};
    for (const auto& [offset, value] : writes) program.push_back(RegisterWrite{"RBK", kWindow + offset, value});
}

struct Outcome {
    std::vector<std::int64_t> reads, writes, interrupts;
};

Outcome run(const Shape& shape, bool twice = false)
{
    Program program;
    add(program, shape, 0);
    program.push_back(MarkT0{});
    if (twice) add(program, shape, 1);
    program.push_back(WaitInterrupt{"first"});
    if (twice) program.push_back(WaitInterrupt{"second"});

    MemorySpec memory;
    memory.read_latency = 20;
    memory.write_latency = 8;
    SimulateOptions options;
    options.events = true;
    Machine machine(*find_preset("nv_full"), memory, options);
    const RunResult result = machine.run(program);

    const auto o = static_cast<std::int64_t>(result.t0) + kAcceptToStart;
    Outcome outcome;
    for (const BusCommand& c : result.dbb.ar_log) outcome.reads.push_back(static_cast<std::int64_t>(c.cycle) - o);
    for (const BusCommand& c : result.dbb.aw_log) outcome.writes.push_back(static_cast<std::int64_t>(c.cycle) - o);
    for (const std::int64_t cycle : result.interrupt_cycles) outcome.interrupts.push_back(cycle - kAcceptToStart);
    return outcome;
}

std::vector<std::int64_t> from(std::int64_t first, std::int64_t count, std::int64_t step = 1)
{
    std::vector<std::int64_t> cycles;
    for (std::int64_t i = 0; i < count; ++i) cycles.push_back(first + i * step);
    return cycles;
}

using Cycles = std::vector<std::int64_t>;

TEST(RubikMachine, SplitOfTwoChannels)
{
    const Outcome outcome = run({kSplit, 4, 2});
    EXPECT_EQ(outcome.reads, from(9, 2));
    EXPECT_EQ(outcome.writes, (Cycles{54, 57}));
    EXPECT_EQ(outcome.interrupts, (Cycles{76}));
}

TEST(RubikMachine, SplitOfAFullBlock)
{
    const Outcome outcome = run({kSplit, 64, 32});
    EXPECT_EQ(outcome.reads, from(9, 32));
    EXPECT_EQ(outcome.writes, from(84, 32, 3));
    EXPECT_EQ(outcome.interrupts, (Cycles{196}));
}

TEST(RubikMachine, MergeOfTwoChannels)
{
    const Outcome outcome = run({kMerge, 4, 2});
    EXPECT_EQ(outcome.writes, from(55, 2));
    EXPECT_EQ(outcome.interrupts, (Cycles{75}));
}

TEST(RubikMachine, ContractOfTwoSubCubes)
{
    const Outcome outcome = run({kContract, 8, 32, 2});
    EXPECT_EQ(outcome.reads, from(9, 8));
    EXPECT_EQ(outcome.writes, (Cycles{63, 64, 65, 66, 68, 69, 70, 71}));
    EXPECT_EQ(outcome.interrupts, (Cycles{90}));
}

// The second layer is enabled while the first runs: it starts at O + 51 and does not wait for data with its command.
TEST(RubikMachine, TwoLayersInARow)
{
    const Outcome outcome = run({kSplit, 4, 2}, true);
    EXPECT_EQ(outcome.reads, (Cycles{9, 10, 51 + 9, 51 + 10}));
    EXPECT_EQ(outcome.writes, (Cycles{54, 57, 51 + 53, 51 + 56}));
    EXPECT_EQ(outcome.interrupts, (Cycles{76, 51 + 75}));
}

}  // namespace rubik_machine_test
}  // namespace dlasim
