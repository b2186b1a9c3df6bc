// The integer arithmetic of BS, BN and the converter on a beat at a time, for speed: the numbers of
// numerics/sdp_x.h and sdp_cvt.h in double precision, where every intermediate result is exact (49
// bits at most), one simple loop an operation, so that compilers vectorise them.
//
//   shift right and round, ties away from zero:  v * 2^-n, saturate, truncate(v + copysign(1/2, v))
//
// Source  sdp.md 4.1, 4.2.
// Error   0: equal to the lane functions of numerics/ for random registers (tests/unit/sdp_lanes_test.cpp).
#pragma once
#include <array>
#include <cmath>
#include <cstdint>

#include "numerics/sdp_cvt.h"
#include "numerics/sdp_x.h"

namespace dlasim {

/// Up to 32 lanes, a multiple of 4 of them in use.
class IntegerLanes {
public:
    static constexpr unsigned kMax = 32;

    void load(const std::int32_t* lanes, unsigned count)
    {
        count_ = (count + 3) / 4 * 4;
        for (unsigned i = 0; i < count; ++i) value_[i] = lanes[i];
        for (unsigned i = count; i < count_; ++i) value_[i] = 0;
    }

    /// One of BS and BN; a null stream takes the operand of the register. pre: integer processing.
    void engine(const numerics::SdpXConfig& c, const std::int16_t* alu, const std::int16_t* mul)
    {
        if (!c.alu_bypass) operate(c, alu);
        const bool gone = c.generation == Generation::Configurable && c.mul_shift >= kGone;
        const double factor = gone ? 0.0 : std::ldexp(1.0, -static_cast<int>(c.mul_shift));
        if (!c.mul_bypass && c.prelu) {
            multiply_negative(c, mul, factor);
        } else if (!c.mul_bypass) {
            if (mul) each([&](double& v, unsigned i) { v *= mul[i] * factor; });
            else each([m = c.mul_operand * factor](double& v, unsigned) { v *= m; });
            round(kLow, kHigh);
        } else if (c.mul_shift) {
            each([=](double& v, unsigned) { v *= factor; });
            round(kLow, kHigh);
        } else {
            clamp(kLow, kHigh);
        }
        if (!c.relu_bypass) clamp(0.0, kHigh);
    }

    /// To int8 or int16; the number of lanes flagged as saturated if `counting`. pre: not compare mode.
    unsigned convert(const numerics::SdpCvtConfig& c, std::uint16_t* out, unsigned count, bool counting)
    {
        const bool full = c.generation == Generation::Full;
        const bool gone = !full && c.shift >= kGone;
        const double offset = c.offset, factor = gone ? 0.0 : c.scale * std::ldexp(1.0, -static_cast<int>(c.shift));
        each([=](double& v, unsigned) { v = (v - offset) * factor; });
        unsigned flagged = 0;
        if (counting) {
            // nv_full misses the range by one; the other generation tests negative numbers unrounded.
            const double low = full ? -65537.0 : -65536.0, high = full ? 65537.0 : 65535.5;
            for (unsigned i = 0; i < count; ++i) flagged += value_[i] < low || value_[i] >= high;
        }
        const bool wide = c.out == Precision::Int16;
        round(wide ? -32768.0 : -128.0, wide ? 32767.0 : 127.0);
        const std::int32_t mask = full || wide ? 0xffff : 0xff;
        for (unsigned i = 0; i < count; ++i) out[i] = static_cast<std::uint16_t>(static_cast<std::int32_t>(value_[i]) & mask);
        return flagged;
    }

    std::int32_t lane(unsigned i) const { return static_cast<std::int32_t>(value_[i]); }

private:
    static constexpr double kLow = INT32_MIN, kHigh = INT32_MAX;
    static constexpr unsigned kGone = 49;  // the configurable generation: a shift by the width of the product

    template <class Operation>
    void each(Operation operation)
    {
        for (unsigned i = 0, n = count_; i < n; ++i) operation(value_[i], i);
    }
    static double clamped(double v, double low, double high)
    {
        v = v > low ? v : low;
        return v < high ? v : high;
    }
    void clamp(double low, double high)
    {
        each([=](double& v, unsigned) { v = clamped(v, low, high); });
    }
    void round(double low, double high)
    {
        each([=](double& v, unsigned) {
            v = clamped(v, low, high);
            v = static_cast<std::int32_t>(v + std::copysign(0.5, v));
        });
    }
    void operate(const numerics::SdpXConfig& c, const std::int16_t* stream)
    {
        const double shift = std::ldexp(1.0, static_cast<int>(c.alu_shift)), fixed = clamped(c.alu_operand * shift, kLow, kHigh);
        const auto with = [&](auto operation) {
            if (stream) each([&](double& v, unsigned i) { v = operation(v, clamped(stream[i] * shift, kLow, kHigh)); });
            else each([&](double& v, unsigned) { v = operation(v, fixed); });
        };
        switch (c.alu) {
            case numerics::SdpAlu::Max:
                with([](double v, double o) { return v > o ? v : o; });
                break;
            case numerics::SdpAlu::Min:
                with([](double v, double o) { return v < o ? v : o; });
                break;
            default:
                with([](double v, double o) { return v + o; });
                break;  // code 3 adds, too
        }
    }
    /// PReLU: other lanes keep their low 32 bits.
    void multiply_negative(const numerics::SdpXConfig& c, const std::int16_t* stream, double factor)
    {
        each([&](double& v, unsigned i) {
            if (v >= 0) {
                v = v > kHigh ? v - 4294967296.0 : v;
                return;
            }
            const double product = clamped(v * ((stream ? stream[i] : c.mul_operand) * factor), kLow, kHigh);
            v = static_cast<std::int32_t>(product + std::copysign(0.5, product));
        });
    }

    std::array<double, kMax> value_;
    unsigned count_ = 0;
};

}  // namespace dlasim
