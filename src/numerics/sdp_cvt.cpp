#include "numerics/sdp_cvt.h"

#include "numerics/fp.h"
#include "numerics/rounding.h"

namespace dlasim::numerics {

namespace {

std::uint16_t low16(std::int64_t x) { return static_cast<std::uint16_t>(x); }

constexpr std::uint16_t kLargestFp16 = 0x7bff;

CvtLane float_lane(const SdpCvtConfig& c, std::int32_t x)
{
    if (c.equal_mode) return {low16(x), false};
    const std::uint16_t half = fp32_to_fp16(static_cast<std::uint32_t>(x));
    return {c.out == Precision::Int16 ? low16(fp16_to_int16(half)) : half, false};
}

inline CvtLane full_lane(const SdpCvtConfig& c, std::int32_t x)
{
    const std::int64_t product = (std::int64_t{x} - c.offset) * c.scale;
    const std::int64_t t = saturate(shift_round(product, c.shift), 17);
    const std::int64_t distance = (product >> c.shift) - t;
    const bool flag = distance > 1 || distance < -1;
    if (c.equal_mode) return {low16(x), flag};
    if (c.out == Precision::Fp16) return {int17_to_fp16(static_cast<std::int32_t>(t)), flag};
    return {low16(saturate(t, c.out == Precision::Int16 ? 16 : 8)), flag};
}

inline CvtLane configurable_lane(const SdpCvtConfig& c, std::int32_t x)
{
    // The upper byte of an int8 lane stays 0.
    const bool wide = c.out == Precision::Int16;
    const std::uint16_t lane = wide ? 0xffff : 0xff;
    if (c.equal_mode) return {static_cast<std::uint16_t>(x & lane), false};
    if (c.shift >= 49) return {};
    const std::int64_t product = (std::int64_t{x} - c.offset) * c.scale;
    const std::int64_t q = shift_round(product, c.shift);
    // A negative product is tested before it is rounded.
    const bool flag = product < 0 ? (product >> c.shift) < -65536 : q > 65535;
    return {static_cast<std::uint16_t>(saturate(saturate(q, 17), wide ? 16 : 8) & lane), flag};
}

template <class Lane>
unsigned convert(Lane lane, const std::int32_t* in, std::uint16_t* out, std::size_t count)
{
    unsigned saturated = 0;
    for (std::size_t i = 0; i < count; ++i) {
        const CvtLane result = lane(in[i]);
        out[i] = result.value;
        saturated += result.saturated;
    }
    return saturated;
}

}  // namespace

CvtLane sdp_cvt_lane(const SdpCvtConfig& config, std::int32_t x)
{
    if (config.generation == Generation::Configurable) return configurable_lane(config, x);
    return config.fp ? float_lane(config, x) : full_lane(config, x);
}

unsigned sdp_cvt(const SdpCvtConfig& config, const std::int32_t* in, std::uint16_t* out, std::size_t count)
{
    if (config.generation == Generation::Configurable)
        return convert([&](std::int32_t x) { return configurable_lane(config, x); }, in, out, count);
    const unsigned flagged = config.fp ? convert([&](std::int32_t x) { return float_lane(config, x); }, in, out, count)
                                       : convert([&](std::int32_t x) { return full_lane(config, x); }, in, out, count);
    if (config.out != Precision::Fp16) return flagged;
    unsigned largest = 0;
    for (std::size_t i = 0; i < count; ++i) largest += (out[i] & 0x7fff) == kLargestFp16;
    return largest;
}

}  // namespace dlasim::numerics
