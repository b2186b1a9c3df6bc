// The lookup tables of SDP and of CDP, LE and LO: what their registers have alike. S_LUT_ACCESS_CFG, S_LUT_ACCESS_DATA, S_LUT_CFG and
// S_LUT_INFO are the same in both units.
#pragma once
#include "registers/fields/cdp.h"
#include "registers/fields/sdp.h"

namespace dlasim::reg {

struct LutTable {
    Register start, end;
    Field start_high, end_high;  // of CDP's limits; SDP's are one word
    Field underflow_scale, overflow_scale, underflow_shift, overflow_shift;
};

namespace sdp {
inline constexpr LutTable kLutTables[] = {
    {S_LUT_LE_START,
     S_LUT_LE_END,
     {},
     {},
     S_LUT_LE_SLOPE_SCALE::LUT_LE_SLOPE_UFLOW_SCALE,
     S_LUT_LE_SLOPE_SCALE::LUT_LE_SLOPE_OFLOW_SCALE,
     S_LUT_LE_SLOPE_SHIFT::LUT_LE_SLOPE_UFLOW_SHIFT,
     S_LUT_LE_SLOPE_SHIFT::LUT_LE_SLOPE_OFLOW_SHIFT},
    {S_LUT_LO_START,
     S_LUT_LO_END,
     {},
     {},
     S_LUT_LO_SLOPE_SCALE::LUT_LO_SLOPE_UFLOW_SCALE,
     S_LUT_LO_SLOPE_SCALE::LUT_LO_SLOPE_OFLOW_SCALE,
     S_LUT_LO_SLOPE_SHIFT::LUT_LO_SLOPE_UFLOW_SHIFT,
     S_LUT_LO_SLOPE_SHIFT::LUT_LO_SLOPE_OFLOW_SHIFT},
};
}  // namespace sdp

namespace cdp {
inline constexpr LutTable kLutTables[] = {
    {S_LUT_LE_START_LOW, S_LUT_LE_END_LOW, S_LUT_LE_START_HIGH::LUT_LE_START_HIGH, S_LUT_LE_END_HIGH::LUT_LE_END_HIGH,
     S_LUT_LE_SLOPE_SCALE::LUT_LE_SLOPE_UFLOW_SCALE, S_LUT_LE_SLOPE_SCALE::LUT_LE_SLOPE_OFLOW_SCALE,
     S_LUT_LE_SLOPE_SHIFT::LUT_LE_SLOPE_UFLOW_SHIFT, S_LUT_LE_SLOPE_SHIFT::LUT_LE_SLOPE_OFLOW_SHIFT},
    {S_LUT_LO_START_LOW, S_LUT_LO_END_LOW, S_LUT_LO_START_HIGH::LUT_LO_START_HIGH, S_LUT_LO_END_HIGH::LUT_LO_END_HIGH,
     S_LUT_LO_SLOPE_SCALE::LUT_LO_SLOPE_UFLOW_SCALE, S_LUT_LO_SLOPE_SCALE::LUT_LO_SLOPE_OFLOW_SCALE,
     S_LUT_LO_SLOPE_SHIFT::LUT_LO_SLOPE_UFLOW_SHIFT, S_LUT_LO_SLOPE_SHIFT::LUT_LO_SLOPE_OFLOW_SHIFT},
};
}  // namespace cdp

static_assert(cdp::S_LUT_ACCESS_CFG::LUT_ADDR == sdp::S_LUT_ACCESS_CFG::LUT_ADDR &&
              cdp::S_LUT_ACCESS_CFG::LUT_TABLE_ID == sdp::S_LUT_ACCESS_CFG::LUT_TABLE_ID &&
              cdp::S_LUT_ACCESS_CFG::LUT_ACCESS_TYPE == sdp::S_LUT_ACCESS_CFG::LUT_ACCESS_TYPE);

}  // namespace dlasim::reg
