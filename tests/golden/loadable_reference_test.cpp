// The golden operations beside a loadable find what is wrong: one byte, a machine that has written nothing, and what they cannot compare.
#include <gtest/gtest.h>

#include <algorithm>

#include "app/loadable_run.h"
#include "config/hardware.h"

extern "C" int sc_main(int, char**) { return 0; }

namespace dlasim::loadable {
namespace {

Plan plan_of(const std::string& name, const std::string& hardware)
{
    return plan_loadable(read_loadable(DLASIM_TEST_DATA "/loadables/" + name), load_hardware(hardware, {}), MemorySpec{}, Options{});
}

ReadLine nothing()
{
    return [](const Location&, std::span<std::uint8_t> bytes) { std::fill(bytes.begin(), bytes.end(), std::uint8_t{0}); };
}

TEST(LoadableReference, OneByteIsFound)
{
    const Plan plan = plan_of("onelayer_nv_full.nvdla", "nv_full");
    LoadableRun machine(plan, MachineOptions{}, true);
    machine.run([](Cycle, std::size_t) { return true; });
    ASSERT_EQ(plan.chains.size(), 1u);
    ASSERT_TRUE(machine.verdicts()[0]);
    EXPECT_EQ(machine.verdicts()[0]->unchecked, "");
    EXPECT_EQ(machine.verdicts()[0]->comparison.mismatches, 0u);
    EXPECT_EQ(machine.verdicts()[0]->comparison.compared, 1024u);

    std::size_t lines = 0;
    Reference again(plan);
    again.chain(0, [&](const Location& from, std::span<std::uint8_t> bytes) {
        const std::vector<std::uint8_t> there = machine.read(from, bytes.size());
        std::copy(there.begin(), there.end(), bytes.begin());
        if (++lines == 3) bytes[5] ^= 0x10;
    });
    ASSERT_TRUE(again.verdicts()[0]);
    EXPECT_EQ(again.verdicts()[0]->comparison.mismatches, 1u);
    EXPECT_EQ(again.verdicts()[0]->comparison.examples.size(), 1u);
}

TEST(LoadableReference, AMachineThatWritesNothingIsFoundInEveryUnit)
{
    for (const char* name : {"CONV_D_L0_0", "SDP_X1_L0_0", "PDP_L0_0", "CDP_L0_0", "BDMA_L0_0", "RBK_L0_0"}) {
        const Plan plan = plan_of(std::string("regression/") + name + ".nvdla", "nv_full");
        Reference reference(plan);
        reference.chain(0, nothing());
        ASSERT_TRUE(reference.verdicts()[0]) << name;
        EXPECT_EQ(reference.verdicts()[0]->unchecked, "") << name;
        EXPECT_FALSE(reference.verdicts()[0]->comparison.equal()) << name;
    }
}

TEST(LoadableReference, WhatItCannotCompareSaysWhy)
{
    Plan plan = plan_of("onelayer_nv_full.nvdla", "nv_full");
    for (Operation& operation : plan.tasks[0].operations)
        if (operation.kind == Kind::Conv) operation.conv.mode = 1;
    Reference reference(plan);
    reference.chain(0, nothing());
    ASSERT_TRUE(reference.verdicts()[0]);
    EXPECT_NE(reference.verdicts()[0]->unchecked.find("Winograd"), std::string::npos);
    EXPECT_EQ(reference.verdicts()[0]->comparison.compared, 0u);
}

}  // namespace
}  // namespace dlasim::loadable
