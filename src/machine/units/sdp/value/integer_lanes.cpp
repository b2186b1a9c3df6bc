#include "units/sdp/value/integer_lanes.h"

#include <cmath>

namespace dlasim::sdp {
namespace {

constexpr double kLow = INT32_MIN, kHigh = INT32_MAX;

double clamped(double v, double low, double high)
{
    v = v > low ? v : low;
    return v < high ? v : high;
}

}  // namespace

void IntegerLanes::load(const std::int32_t* lanes, unsigned count)
{
    count_ = (count + 3) / 4 * 4;
    for (unsigned i = 0; i < count; ++i) value_[i] = lanes[i];
    for (unsigned i = count; i < count_; ++i) value_[i] = 0;
}

template <class Operation>
void IntegerLanes::each(Operation operation)
{
    for (unsigned i = 0, n = count_; i < n; ++i) operation(value_[i], i);
}

void IntegerLanes::clamp(double low, double high)
{
    each([=](double& v, unsigned) { v = clamped(v, low, high); });
}

void IntegerLanes::round(double low, double high)
{
    each([=](double& v, unsigned) {
        v = clamped(v, low, high);
        v = static_cast<std::int32_t>(v + std::copysign(0.5, v));
    });
}

void IntegerLanes::operate(const numerics::SdpXConfig& c, const std::int16_t* stream)
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
void IntegerLanes::multiply_negative(const numerics::SdpXConfig& c, const std::int16_t* stream, double factor)
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

void IntegerLanes::engine(const numerics::SdpXConfig& c, const std::int16_t* alu, const std::int16_t* mul)
{
    if (!c.alu_bypass) operate(c, alu);
    const double factor = c.mul_shift >= c.silicon.dead_shift ? 0.0 : std::ldexp(1.0, -static_cast<int>(c.mul_shift));
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

unsigned IntegerLanes::convert(const numerics::SdpCvtConfig& c, std::uint16_t* out, unsigned count, bool counting)
{
    const double offset = c.offset, factor = c.shift >= c.silicon.dead_shift ? 0.0 : c.scale * std::ldexp(1.0, -static_cast<int>(c.shift));
    each([=](double& v, unsigned) { v = (v - offset) * factor; });
    unsigned flagged = 0;
    if (counting) {
        // A loose flag misses the range by one; a strict one tests negative numbers unrounded.
        const double low = c.silicon.loose_flag ? -65537.0 : -65536.0, high = c.silicon.loose_flag ? 65537.0 : 65535.5;
        for (unsigned i = 0; i < count; ++i) flagged += value_[i] < low || value_[i] >= high;
    }
    const bool wide = c.out == Precision::Int16;
    round(wide ? -32768.0 : -128.0, wide ? 32767.0 : 127.0);
    const std::int32_t mask = wide || !c.silicon.narrow_lanes ? 0xffff : 0xff;
    for (unsigned i = 0; i < count; ++i) out[i] = static_cast<std::uint16_t>(static_cast<std::int32_t>(value_[i]) & mask);
    return flagged;
}

}  // namespace dlasim::sdp
