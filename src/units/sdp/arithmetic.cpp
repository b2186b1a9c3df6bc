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

/// What BS, BN and EW have alike.
template <class Config>
Config decode_engine(const facts::sdp::Arithmetic& silicon, bool fp, bool nan_to_zero, std::uint32_t cfg)
{
    Config engine;
    engine.silicon = silicon;
    engine.fp = fp;
    engine.nan_to_zero = nan_to_zero;
    engine.alu_bypass = bits(cfg, 1, 1);
    engine.alu = static_cast<numerics::SdpAlu>(bits(cfg, 2, 2));
    engine.mul_bypass = bits(cfg, 4, 1);
    engine.prelu = bits(cfg, 5, 1);
    return engine;
}

numerics::SdpXConfig decode_x(const facts::sdp::Arithmetic& silicon, bool fp, bool nan_to_zero, const RegisterFile& regs,
                              const XOffsets& at)
{
    const std::uint32_t value = regs.get(at.cfg);
    auto x = decode_engine<numerics::SdpXConfig>(silicon, fp, nan_to_zero, value);
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
    auto y = decode_engine<numerics::SdpYConfig>(silicon, fp, nan_to_zero, regs.get(D_DP_EW_CFG));
    y.truncate = bits(regs.get(D_DP_EW_TRUNCATE_VALUE), 0, 10);
    y.alu_operand = static_cast<std::int32_t>(regs.get(D_DP_EW_ALU_SRC_VALUE));
    y.mul_operand = static_cast<std::int32_t>(regs.get(D_DP_EW_MUL_SRC_VALUE));
    const auto converter = [&](std::uint32_t cfg, std::uint32_t offset, std::uint32_t scale, std::uint32_t truncate) {
        return numerics::OperandConverter{bits(regs.get(cfg), 1, 1) != 0, static_cast<std::int32_t>(regs.get(offset)),
                                          static_cast<std::int16_t>(regs.get(scale)), bits(regs.get(truncate), 0, 6)};
    };
    y.alu_converter = converter(D_DP_EW_ALU_CFG, D_DP_EW_ALU_CVT_OFFSET_VALUE, D_DP_EW_ALU_CVT_SCALE_VALUE, D_DP_EW_ALU_CVT_TRUNCATE_VALUE);
    y.mul_converter = converter(D_DP_EW_MUL_CFG, D_DP_EW_MUL_CVT_OFFSET_VALUE, D_DP_EW_MUL_CVT_SCALE_VALUE, D_DP_EW_MUL_CVT_TRUNCATE_VALUE);
    y.lut = decode_lut(regs);
    return y;
}

}  // namespace

Arithmetic Arithmetic::decode(const facts::sdp::Facts& silicon, const RegisterFile& regs, const Layer& layer)
{
    using namespace reg::sdp;
    Arithmetic all;
    const bool fp = silicon.words && layer.processing == Precision::Fp16;
    all.nan_to_zero = fp && bits(regs.get(D_FEATURE_MODE_CFG), 3, 1);
    all.bs = decode_x(silicon.arithmetic, fp, all.nan_to_zero, regs, kBs);
    all.bn = decode_x(silicon.arithmetic, fp, all.nan_to_zero, regs, kBn);
    all.ew = decode_y(silicon.arithmetic, fp, all.nan_to_zero, regs);
    all.converter.silicon = silicon.arithmetic;
    all.converter.fp = fp;
    all.converter.out = layer.output;
    all.converter.equal_mode = layer.compares_lanes();
    all.converter.offset = static_cast<std::int32_t>(regs.get(D_CVT_OFFSET));
    all.converter.scale = static_cast<std::int16_t>(regs.get(D_CVT_SCALE));
    all.converter.shift = bits(regs.get(D_CVT_SHIFT), 0, 6);
    return all;
}

}  // namespace dlasim::sdp
