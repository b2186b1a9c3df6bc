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

bool writes_fp16(const SdpCvtConfig& c) { return c.out == Precision::Fp16 && c.silicon.fp16_results; }

inline CvtLane int_lane(const SdpCvtConfig& c, std::int32_t x)
{
    const bool wide = c.out == Precision::Int16;
    const std::uint16_t kept = c.silicon.narrow_lanes && !wide ? 0xff : 0xffff;
    if (c.equal_mode && !c.silicon.loose_flag) return {static_cast<std::uint16_t>(x & kept), false};
    if (c.shift >= c.silicon.dead_shift) return {};
    const std::int64_t product = (std::int64_t{x} - c.offset) * c.scale, floor = product >> c.shift;
    const std::int64_t rounded = shift_round(product, c.shift), t = saturate(rounded, 17), distance = floor - t;
    // A strict flag tests a negative product before it is rounded.
    const bool flag = c.silicon.loose_flag ? distance > 1 || distance < -1 : product < 0 ? floor < -65536 : rounded > 65535;
    if (c.equal_mode) return {static_cast<std::uint16_t>(x & kept), flag};
    if (writes_fp16(c)) return {int17_to_fp16(static_cast<std::int32_t>(t)), flag};
    return {static_cast<std::uint16_t>(saturate(t, wide ? 16 : 8) & kept), flag};
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

CvtLane sdp_cvt_lane(const SdpCvtConfig& config, std::int32_t x) { return config.fp ? float_lane(config, x) : int_lane(config, x); }

unsigned sdp_cvt(const SdpCvtConfig& config, const std::int32_t* in, std::uint16_t* out, std::size_t count)
{
    const unsigned flagged = config.fp ? convert([&](std::int32_t x) { return float_lane(config, x); }, in, out, count)
                                       : convert([&](std::int32_t x) { return int_lane(config, x); }, in, out, count);
    if (!writes_fp16(config)) return flagged;
    unsigned largest = 0;
    for (std::size_t i = 0; i < count; ++i) largest += (out[i] & 0x7fff) == kLargestFp16;
    return largest;
}

}  // namespace dlasim::numerics
