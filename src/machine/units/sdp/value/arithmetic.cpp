#include "units/sdp/value/arithmetic.h"

#include "registers/lut_fields.h"
#include "registers/sdp_engines.h"

namespace dlasim::sdp {
namespace {

constexpr std::uint32_t kMulShifts = 64;  // BS and BN: the register has two bits more

/// What BS, BN and EW have alike.
template <class Config>
Config decode_engine(const facts::sdp::Arithmetic& silicon, bool fp, bool nan_to_zero, const RegisterFile& regs, const reg::sdp::Engine& at)
{
    Config engine;
    engine.silicon = silicon;
    engine.fp = fp;
    engine.nan_to_zero = nan_to_zero;
    engine.alu_bypass = regs.get(at.alu_bypass);
    engine.alu = static_cast<numerics::SdpAlu>(regs.get(at.algorithm));
    engine.mul_bypass = regs.get(at.mul_bypass);
    engine.prelu = regs.get(at.prelu);
    return engine;
}

numerics::SdpXConfig decode_x(const facts::sdp::Arithmetic& silicon, bool fp, bool nan_to_zero, const RegisterFile& regs, unsigned engine)
{
    const reg::sdp::XEngine& at = reg::sdp::kXEngines[engine];
    auto x = decode_engine<numerics::SdpXConfig>(silicon, fp, nan_to_zero, regs, reg::sdp::kEngines[engine]);
    x.relu_bypass = regs.get(reg::sdp::kEngines[engine].last_bypass);
    x.alu_shift = regs.get(at.alu_shift);
    x.mul_shift = regs.get(at.mul_shift) % kMulShifts;
    x.alu_operand = static_cast<std::int16_t>(regs.get(at.alu_operand));
    x.mul_operand = static_cast<std::int16_t>(regs.get(at.mul_operand));
    return x;
}

numerics::LutConfig decode_lut(const RegisterFile& regs)
{
    using namespace reg::sdp;
    const auto slopes = [&](const reg::LutTable& at, numerics::LutSlope& under, numerics::LutSlope& over) {
        const auto slope = [&](reg::Field scale, reg::Field shift) {
            return numerics::LutSlope{static_cast<std::int16_t>(regs.get(scale)), static_cast<std::int8_t>(regs.get_signed(shift))};
        };
        under = slope(at.underflow_scale, at.underflow_shift);
        over = slope(at.overflow_scale, at.overflow_shift);
    };
    numerics::LutConfig lut;
    lut.bypass = regs.get(kEw.last_bypass);
    lut.le_linear = regs.get(S_LUT_CFG::LUT_LE_FUNCTION);
    lut.underflow_lo = regs.get(S_LUT_CFG::LUT_UFLOW_PRIORITY);
    lut.overflow_lo = regs.get(S_LUT_CFG::LUT_OFLOW_PRIORITY);
    lut.hybrid_lo = regs.get(S_LUT_CFG::LUT_HYBRID_PRIORITY);
    lut.le_index_offset = static_cast<std::int8_t>(regs.get(S_LUT_INFO::LUT_LE_INDEX_OFFSET));
    lut.le_index_select = static_cast<std::int8_t>(regs.get(S_LUT_INFO::LUT_LE_INDEX_SELECT));
    lut.lo_index_select = static_cast<std::int8_t>(regs.get(S_LUT_INFO::LUT_LO_INDEX_SELECT));
    lut.le_start = static_cast<std::int32_t>(regs.get(S_LUT_LE_START));
    lut.le_end = static_cast<std::int32_t>(regs.get(S_LUT_LE_END));
    lut.lo_start = static_cast<std::int32_t>(regs.get(S_LUT_LO_START));
    lut.lo_end = static_cast<std::int32_t>(regs.get(S_LUT_LO_END));
    slopes(kLutTables[0], lut.le_underflow, lut.le_overflow);
    slopes(kLutTables[1], lut.lo_underflow, lut.lo_overflow);
    return lut;
}

numerics::SdpYConfig decode_y(const facts::sdp::Arithmetic& silicon, bool fp, bool nan_to_zero, const RegisterFile& regs)
{
    using namespace reg::sdp;
    auto y = decode_engine<numerics::SdpYConfig>(silicon, fp, nan_to_zero, regs, kEw);
    y.truncate = regs.get(D_DP_EW_TRUNCATE_VALUE);
    const auto operand = [&](const YOperand& at, std::int32_t& value, numerics::OperandConverter& converter) {
        value = static_cast<std::int32_t>(regs.get(at.operand));
        converter = {regs.get(at.convert_bypass) != 0, static_cast<std::int32_t>(regs.get(at.offset)),
                     static_cast<std::int16_t>(regs.get(at.scale)), regs.get(at.truncate)};
    };
    operand(kYOperands[0], y.alu_operand, y.alu_converter);
    operand(kYOperands[1], y.mul_operand, y.mul_converter);
    y.lut = decode_lut(regs);
    return y;
}

}  // namespace

Arithmetic Arithmetic::decode(const facts::sdp::Facts& silicon, const RegisterFile& regs, const LayerConfig& layer)
{
    using namespace reg::sdp;
    Arithmetic all;
    const bool fp = silicon.words && layer.processing == Precision::Fp16;
    all.nan_to_zero = fp && regs.get(D_FEATURE_MODE_CFG::NAN_TO_ZERO);
    all.bs = decode_x(silicon.arithmetic, fp, all.nan_to_zero, regs, 0);
    all.bn = decode_x(silicon.arithmetic, fp, all.nan_to_zero, regs, 1);
    all.ew = decode_y(silicon.arithmetic, fp, all.nan_to_zero, regs);
    all.converter.silicon = silicon.arithmetic;
    all.converter.fp = fp;
    all.converter.out = layer.output;
    all.converter.equal_mode = layer.compares_lanes();
    all.converter.offset = static_cast<std::int32_t>(regs.get(D_CVT_OFFSET));
    all.converter.scale = static_cast<std::int16_t>(regs.get(D_CVT_SCALE));
    all.converter.shift = regs.get(D_CVT_SHIFT);
    return all;
}

}  // namespace dlasim::sdp
