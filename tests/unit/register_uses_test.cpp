// Which registers a part of a program depends on.
#include "platform/repeats/register_uses.h"

#include <gtest/gtest.h>

#include "facts/presets.h"
#include "registers/fields/cdma.h"
#include "registers/fields/glb.h"
#include "registers/fields/groups.h"

extern "C" int sc_main(int, char*[]) { return 0; }  // SystemC's library wants one

namespace dlasim {
namespace {

namespace r = reg::cdma;
using namespace reg::groups;
constexpr std::uint64_t kGranule = 4096;

class RegisterUsesTest : public testing::Test {
protected:
    RegisterWrite write(const RegisterFile& file, std::uint32_t offset, std::uint32_t value) const
    {
        return {"", file.unit().base + offset, value};
    }
    /// Software writes some registers of the group that it points to.
    void set(std::uint32_t offset, std::uint32_t value) { cdma.written(offset, value); }
    void point_to(unsigned group) { cdma.written(S_POINTER, S_POINTER::PRODUCER.put(group)); }

    const Hardware& hardware = *find_preset("nv_small");
    CsbLink links[2];
    RegisterFile cdma{*find_unit(hardware, "CDMA"), links[0]}, glb{*find_unit(hardware, "GLB"), links[1]};
    /// All that a unit may ask for it does.
    RegisterUses::Uses of(const RegisterUses::Contents& contents, const Program& program)
    {
        return uses.of(contents, std::vector<bool>(contents.values.size(), true), program);
    }
    RegisterUses uses{{{"CDMA", &cdma}, {"GLB", &glb}}, kGranule};
    /// A layer in the first group: its size is written, its strides are not.
    const Program part{write(cdma, S_POINTER, 0), write(cdma, r::D_DATAIN_SIZE_0, 7), write(cdma, cdma.unit().group_start, 1)};
};

TEST_F(RegisterUsesTest, WhatIsNotWrittenBeforeALayerIsEnabledIsUsed)
{
    const auto found = of(uses.now(), part).found;
    EXPECT_TRUE(uses.found(found, uses.now()));
    set(r::D_DATAIN_SIZE_0, 99);  // the part writes it
    EXPECT_TRUE(uses.found(found, uses.now()));
    point_to(1);
    set(r::D_LINE_STRIDE, 64);  // of the other group, which the part does not enable
    EXPECT_TRUE(uses.found(found, uses.now()));
    point_to(0);
    set(r::D_LINE_STRIDE, 64);
    EXPECT_FALSE(uses.found(found, uses.now()));
}

TEST_F(RegisterUsesTest, WhatIsWrittenDecidesIfTheGroupIsEnabledThen)
{
    Program ahead = part;
    ahead.push_back(write(cdma, S_POINTER, 1));
    ahead.push_back(write(cdma, r::D_DATAIN_SIZE_0, 9));
    EXPECT_EQ(of(uses.now(), ahead).decides, (std::vector<bool>{true, true, true, true, false}));
    ahead.push_back(write(cdma, r::D_DATAIN_SIZE_0, 11));
    ahead.push_back(write(cdma, cdma.unit().group_start, 1));
    EXPECT_EQ(of(uses.now(), ahead).decides, (std::vector<bool>{true, true, true, true, false, true, true}));
}

TEST_F(RegisterUsesTest, WhatItsUnitDoesNotAskForIsNotUsed)
{
    static_cast<void>(uses.asked());
    EXPECT_EQ(cdma.get(r::D_LINE_STRIDE, 0), 0u);
    const std::vector<bool> asked = uses.asked();
    EXPECT_EQ(std::ranges::count(asked, true), 1);
    EXPECT_EQ(std::ranges::count(uses.asked(), true), 0);
    const auto of = uses.of(uses.now(), asked, part);
    EXPECT_EQ(of.decides, (std::vector<bool>{true, false, true}));
    set(r::D_SURF_STRIDE, 64);
    EXPECT_TRUE(uses.found(of.found, uses.now()));
    set(r::D_LINE_STRIDE, 64);
    EXPECT_FALSE(uses.found(of.found, uses.now()));
}

TEST_F(RegisterUsesTest, OfAddressesOnlyWhatIsBelowTheGranuleIs)
{
    const auto found = of(uses.now(), part).found;
    set(r::D_DAIN_ADDR_LOW_0, 5 * kGranule);
    set(r::D_DAIN_ADDR_HIGH_0, 1);
    EXPECT_TRUE(uses.found(found, uses.now()));
    set(r::D_DAIN_ADDR_LOW_0, 5 * kGranule + 64);
    EXPECT_FALSE(uses.found(found, uses.now()));
}

TEST_F(RegisterUsesTest, SingleRegistersAreUsedButForEvents)
{
    const auto found = of(uses.now(), part).found;
    glb.written(reg::glb::S_INTR_STATUS, 1);  // clears what was set: what was written last nobody reads
    EXPECT_TRUE(uses.found(found, uses.now()));
    glb.written(reg::glb::S_INTR_MASK, 1);
    EXPECT_FALSE(uses.found(found, uses.now()));
}

TEST_F(RegisterUsesTest, SinglesThatWereWrittenAreOthers)
{
    const RegisterUses::Contents before = uses.now();
    set(r::D_LINE_STRIDE, 64);
    EXPECT_TRUE(uses.singles_alike(before, uses.now()));
    glb.written(reg::glb::S_INTR_MASK, 1);
    EXPECT_FALSE(uses.singles_alike(before, uses.now()));
}

TEST_F(RegisterUsesTest, GroupsAreSeenFromTheOneThatWorksNext)
{
    set(r::D_LINE_STRIDE, 64);
    const RegisterUses::Contents first = uses.now();
    const auto found = of(first, part).found;
    RegisterUses::Contents later = first;
    uses.turn(later, {.windows = 1u << cdma.unit().base / UnitRegisters::kWindow});
    EXPECT_FALSE(uses.found(found, later));
    uses.write(later, write(cdma, S_POINTER, 1));
    uses.write(later, write(cdma, r::D_LINE_STRIDE, 64));
    EXPECT_TRUE(uses.found(found, later));
}

TEST_F(RegisterUsesTest, AGroupThatRunsIsUsedWhateverIsWritten)
{
    RegisterUses::Contents running = uses.now();
    running.units[0].runs[1] = true;
    const auto found = of(running, {}).found;
    EXPECT_GT(found.size(), of(uses.now(), {}).found.size());
    point_to(1);
    set(r::D_DATAIN_SIZE_0, 99);
    EXPECT_FALSE(uses.found(found, uses.now()));
    EXPECT_TRUE(uses.found(of(uses.now(), {}).found, uses.now()));
}

}  // namespace
}  // namespace dlasim
