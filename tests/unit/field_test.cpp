#include <gtest/gtest.h>

#include "facts/presets.h"
#include "registers/fields/cdma.h"
#include "registers/fields/groups.h"
#include "registers/fields/sdp.h"
#include "registers/register_file.h"

namespace dlasim {
namespace field_test {

namespace r = reg::cdma;

// cdma.md 1.1: D_MISC_CFG has the processing precision in [13:12], D_ZERO_PADDING the bottom in [29:24].
TEST(Fields, StandWhereTheRegisterMapSays)
{
    EXPECT_EQ(r::D_MISC_CFG, 0x14u);
    EXPECT_EQ(r::D_MISC_CFG::PROC_PRECISION.get(0x1000'2000), 2u);
    EXPECT_EQ(r::D_MISC_CFG::PROC_PRECISION.put(2) | r::D_MISC_CFG::SKIP_WEIGHT_RLS.put(1), 0x1000'2000u);
    EXPECT_EQ(r::D_ZERO_PADDING::PAD_BOTTOM.put(63), 0x3f00'0000u);
}

TEST(Fields, TakeWhatFitsAndItsTwosComplement)
{
    const reg::Field field = r::D_CVT_SCALE::CVT_SCALE;  // 16 bits
    EXPECT_TRUE(field.fits(65535) && field.fits(-32768));
    EXPECT_FALSE(field.fits(65536) || field.fits(-32769));
    EXPECT_EQ(field.put(-2), 0xfffeu);
    EXPECT_EQ(field.get_signed(0xfffe), -2);
    EXPECT_EQ(field.get_signed(0x7fff), 32767);
    EXPECT_EQ(field.cut(65536 + 7), 7u);
    EXPECT_THROW(field.put(65536), InternalError);
    const std::uint64_t none = 0;
    EXPECT_FALSE(r::D_DATAIN_SIZE_0::DATAIN_WIDTH.fits(r::D_DATAIN_SIZE_0::DATAIN_WIDTH(none - 1).value));  // a size of 0, less one
}

// cdma.md 1.1: the banks have four bits in nv_full, five in the configurable generation.
TEST(Fields, AreAsWideAsTheRegisterOfTheMachineStoresThem)
{
    for (const auto& [preset, banks] : {std::pair{"nv_full", 15u}, std::pair{"nv_small", 31u}}) {
        CsbLink link;
        RegisterFile registers(*find_unit(*find_preset(preset), "CDMA"), link);
        link.request.put(1, {r::D_BANK, r::D_BANK::DATA_BANK.put(31) | r::D_BANK::WEIGHT_BANK.put(31), true});
        registers.advance(1);
        EXPECT_EQ(registers.get(r::D_BANK::DATA_BANK), banks);
        EXPECT_EQ(registers.get(r::D_BANK::WEIGHT_BANK), banks);
    }
}

}  // namespace field_test
}  // namespace dlasim
