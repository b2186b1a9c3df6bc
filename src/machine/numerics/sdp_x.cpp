#include "numerics/sdp_x.h"

#include <algorithm>

#include "numerics/fp.h"
#include "numerics/rounding.h"

namespace dlasim::numerics {

namespace {

std::int32_t float_lane(const SdpXConfig& c, std::int32_t x, std::int16_t alu, std::int16_t mul)
{
    const auto operand = [&](std::int16_t h) {
        const auto bits = static_cast<std::uint16_t>(h);
        return c.nan_to_zero && Fp16::is_nan(bits) ? 0 : fp16_to_fp32(bits);
    };
    auto v = static_cast<std::uint32_t>(x);
    if (!c.alu_bypass) {
        const std::uint32_t o = operand(alu);
        switch (c.alu) {
            case SdpAlu::Max:
                v = fp32_max(v, o);
                break;
            case SdpAlu::Min:
                v = fp32_min(v, o);
                break;
            case SdpAlu::Sum:
                v = fp_add<Fp32>(v, o);
                break;
            case SdpAlu::Equal:
                v = v != o;
                break;
        }
    }
    if (!c.mul_bypass && !(c.prelu && !(v >> 31))) v = fp_multiply<Fp32>(v, operand(mul));
    if (!c.relu_bypass && (v >> 31) && !Fp32::is_nan(v)) v = 0;
    return static_cast<std::int32_t>(v);
}

inline std::int32_t int_lane(const SdpXConfig& c, std::int32_t x, std::int16_t alu, std::int16_t mul)
{
    std::int64_t v = x;
    if (!c.alu_bypass) {
        const std::int64_t o = shift_left(alu, c.alu_shift, 32);
        switch (c.alu) {
            case SdpAlu::Max:
                v = std::max(v, o);
                break;
            case SdpAlu::Min:
                v = std::min(v, o);
                break;
            default:
                v += o;
                break;  // code 3 adds, too
        }
    }
    if (!c.mul_bypass && c.prelu && v >= 0) {
        v = static_cast<std::int32_t>(v);  // a 33-bit sum wraps here
    } else {
        if (!c.mul_bypass) v *= mul;
        v = c.mul_shift >= c.silicon.dead_shift ? 0 : shift_right(v, c.mul_shift, 32);
    }
    if (!c.relu_bypass) v = std::max<std::int64_t>(v, 0);
    return static_cast<std::int32_t>(v);
}

}  // namespace

std::int32_t sdp_x_lane(const SdpXConfig& config, std::int32_t x, std::int16_t alu, std::int16_t mul)
{
    return config.fp ? float_lane(config, x, alu, mul) : int_lane(config, x, alu, mul);
}

void sdp_x(const SdpXConfig& config, std::int32_t* lanes, const std::int16_t* alu, const std::int16_t* mul, std::size_t count)
{
    const auto each = [&](auto lane) {
        for (std::size_t i = 0; i < count; ++i)
            lanes[i] = lane(lanes[i], alu ? alu[i] : config.alu_operand, mul ? mul[i] : config.mul_operand);
    };
    if (config.fp) {
        each([&](std::int32_t x, std::int16_t a, std::int16_t m) { return float_lane(config, x, a, m); });
    } else if (config.alu_bypass && config.mul_bypass && config.mul_shift == 0) {
        if (!config.relu_bypass)
            for (std::size_t i = 0; i < count; ++i) lanes[i] = std::max(lanes[i], 0);
    } else if (config.mul_bypass && config.mul_shift == 0 && config.alu == SdpAlu::Sum) {
        // The bias of nearly every convolution: 33-bit sum, saturated.
        const std::int64_t low = config.relu_bypass ? INT32_MIN : 0;
        for (std::size_t i = 0; i < count; ++i) {
            const std::int64_t o = shift_left(alu ? alu[i] : config.alu_operand, config.alu_shift, 32);
            lanes[i] = static_cast<std::int32_t>(std::clamp<std::int64_t>(lanes[i] + o, low, INT32_MAX));
        }
    } else {
        each([&](std::int32_t x, std::int16_t a, std::int16_t m) { return int_lane(config, x, a, m); });
    }
}

}  // namespace dlasim::numerics
