#include "units/sdp/arithmetic.h"

#include "base/bits.h"
#include "registers/offsets.h"

namespace dlasim::sdp {
namespace {

/// Registers of BS or BN.
struct XOffsets {
    std::uint32_t cfg, alu_cfg, alu_value, mul_cfg, mul_value;
};
constexpr XOffsets kBs{reg::sdp::D_DP_BS_CFG, reg::sdp::D_DP_BS_ALU_CFG, reg::sdp::D_DP_BS_ALU_SRC_VALUE, reg::sdp::D_DP_BS_MUL_CFG,
                       reg::sdp::D_DP_BS_MUL_SRC_VALUE};
constexpr XOffsets kBn{reg::sdp::D_DP_BN_CFG, reg::sdp::D_DP_BN_ALU_CFG, reg::sdp::D_DP_BN_ALU_SRC_VALUE, reg::sdp::D_DP_BN_MUL_CFG,
                       reg::sdp::D_DP_BN_MUL_SRC_VALUE};

numerics::SdpXConfig decode_x(const facts::sdp::Arithmetic& silicon, bool fp, bool nan_to_zero, const RegisterFile& regs,
                              const XOffsets& at)
{
    const std::uint32_t value = regs.get(at.cfg);
    numerics::SdpXConfig x;
    x.silicon = silicon;
    x.fp = fp;
    x.nan_to_zero = nan_to_zero;
    x.alu_bypass = bits(value, 1, 1);
    x.alu = static_cast<numerics::SdpAlu>(bits(value, 2, 2));
    x.mul_bypass = bits(value, 4, 1);
    x.prelu = bits(value, 5, 1);
    x.relu_bypass = bits(value, 6, 1);
    x.alu_shift = bits(regs.get(at.alu_cfg), 8, 6);
    x.mul_shift = bits(regs.get(at.mul_cfg), 8, 6);
    x.alu_operand = static_cast<std::int16_t>(regs.get(at.alu_value));
    x.mul_operand = static_cast<std::int16_t>(regs.get(at.mul_value));
    return x;
}

numerics::LutConfig decode_lut(const RegisterFile& regs)
{
    using namespace reg::sdp;
    const auto shift = [](std::uint32_t five) { return static_cast<std::int8_t>(static_cast<std::int8_t>(five << 3) >> 3); };
    const auto slopes = [&](std::uint32_t scale, std::uint32_t shifts, numerics::LutSlope& under, numerics::LutSlope& over) {
        under = {static_cast<std::int16_t>(regs.get(scale)), shift(bits(regs.get(shifts), 0, 5))};
        over = {static_cast<std::int16_t>(regs.get(scale) >> 16), shift(bits(regs.get(shifts), 5, 5))};
    };
    const std::uint32_t cfg = regs.get(S_LUT_CFG), info = regs.get(S_LUT_INFO);
    numerics::LutConfig lut;
    lut.bypass = bits(regs.get(D_DP_EW_CFG), 6, 1);
    lut.le_linear = bits(cfg, 0, 1);
    lut.underflow_lo = bits(cfg, 4, 1);
    lut.overflow_lo = bits(cfg, 5, 1);
    lut.hybrid_lo = bits(cfg, 6, 1);
    lut.le_index_offset = static_cast<std::int8_t>(info);
    lut.le_index_select = static_cast<std::int8_t>(info >> 8);
    lut.lo_index_select = static_cast<std::int8_t>(info >> 16);
    lut.le_start = static_cast<std::int32_t>(regs.get(S_LUT_LE_START));
    lut.le_end = static_cast<std::int32_t>(regs.get(S_LUT_LE_END));
    lut.lo_start = static_cast<std::int32_t>(regs.get(S_LUT_LO_START));
    lut.lo_end = static_cast<std::int32_t>(regs.get(S_LUT_LO_END));
    slopes(S_LUT_LE_SLOPE_SCALE, S_LUT_LE_SLOPE_SHIFT, lut.le_underflow, lut.le_overflow);
    slopes(S_LUT_LO_SLOPE_SCALE, S_LUT_LO_SLOPE_SHIFT, lut.lo_underflow, lut.lo_overflow);
    return lut;
}

numerics::SdpYConfig decode_y(const facts::sdp::Arithmetic& silicon, bool fp, bool nan_to_zero, const RegisterFile& regs)
{
    using namespace reg::sdp;
    const std::uint32_t value = regs.get(D_DP_EW_CFG);
    numerics::SdpYConfig y;
    y.silicon = silicon;
    y.fp = fp;
    y.nan_to_zero = nan_to_zero;
    y.alu_bypass = bits(value, 1, 1);
    y.alu = static_cast<numerics::SdpAlu>(bits(value, 2, 2));
    y.mul_bypass = bits(value, 4, 1);
    y.prelu = bits(value, 5, 1);
    y.truncate = bits(regs.get(D_DP_EW_TRUNCATE_VALUE), 0, 10);
    y.alu_operand = static_cast<std::int32_t>(regs.get(D_DP_EW_ALU_SRC_VALUE));
    y.mul_operand = static_cast<std::int32_t>(regs.get(D_DP_EW_MUL_SRC_VALUE));
    y.alu_converter = {bits(regs.get(D_DP_EW_ALU_CFG), 1, 1) != 0, static_cast<std::int32_t>(regs.get(D_DP_EW_ALU_CVT_OFFSET_VALUE)),
                       static_cast<std::int16_t>(regs.get(D_DP_EW_ALU_CVT_SCALE_VALUE)),
                       bits(regs.get(D_DP_EW_ALU_CVT_TRUNCATE_VALUE), 0, 6)};
    y.mul_converter = {bits(regs.get(D_DP_EW_MUL_CFG), 1, 1) != 0, static_cast<std::int32_t>(regs.get(D_DP_EW_MUL_CVT_OFFSET_VALUE)),
                       static_cast<std::int16_t>(regs.get(D_DP_EW_MUL_CVT_SCALE_VALUE)),
                       bits(regs.get(D_DP_EW_MUL_CVT_TRUNCATE_VALUE), 0, 6)};
    y.lut = decode_lut(regs);
    return y;
}

}  // namespace

Arithmetic Arithmetic::decode(const facts::sdp::Facts& facts, const RegisterFile& regs, const Layer& layer)
{
    using namespace reg::sdp;
    Arithmetic all;
    const bool fp = facts.words && layer.processing == Precision::Fp16;
    all.nan_to_zero = fp && bits(regs.get(D_FEATURE_MODE_CFG), 3, 1);
    all.bs = decode_x(facts.arithmetic, fp, all.nan_to_zero, regs, kBs);
    all.bn = decode_x(facts.arithmetic, fp, all.nan_to_zero, regs, kBn);
    all.ew = decode_y(facts.arithmetic, fp, all.nan_to_zero, regs);
    all.converter.silicon = facts.arithmetic;
    all.converter.fp = fp;
    all.converter.out = layer.output;
    all.converter.equal_mode = layer.compares_lanes();
    all.converter.offset = static_cast<std::int32_t>(regs.get(D_CVT_OFFSET));
    all.converter.scale = static_cast<std::int16_t>(regs.get(D_CVT_SCALE));
    all.converter.shift = bits(regs.get(D_CVT_SHIFT), 0, 6);
    return all;
}

}  // namespace dlasim::sdp
