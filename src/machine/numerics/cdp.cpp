#include "numerics/cdp.h"

#include <algorithm>
#include <cstring>

#include "base/expects.h"
#include "numerics/fp.h"
#include "numerics/rounding.h"

namespace dlasim::numerics {
namespace {

/// Widths of the integer converters.
struct Widths {
    unsigned in, in_offset, x;
    unsigned out_offset, out;
};
constexpr Widths kInt8{8, 8, 9, 25, 8};
constexpr Widths kInt16{16, 16, 17, 32, 16};

const Widths& widths(const CdpConfig& config) { return config.precision == Precision::Int8 ? kInt8 : kInt16; }

std::uint16_t half_at(const std::uint8_t* bytes)
{
    std::uint16_t half;
    std::memcpy(&half, bytes, sizeof half);
    return half;
}
/// Sums of `window` squares around each of `count` <= `most` values; `Sum` holds them.
template <class Sum, std::size_t most>
void add_squares(const std::int32_t* x, std::size_t count, unsigned window, std::int64_t* sums)
{
    Sum squares[most + 2 * kCdpReach], total[most]{};
    for (std::size_t i = 0; i < count + 2 * kCdpReach; ++i) squares[i] = Sum{(x - kCdpReach)[i]} * (x - kCdpReach)[i];
    const Sum* first = squares + kCdpReach - window / 2;
    for (unsigned k = 0; k < window; ++k)
        for (std::size_t i = 0; i < count; ++i) total[i] += first[i + k];
    for (std::size_t i = 0; i < count; ++i) sums[i] = total[i];
}

std::uint32_t pattern(std::int32_t x) { return static_cast<std::uint32_t>(x); }

}  // namespace

void CdpLanes::start(const CdpConfig& config, const LutTables& tables)
{
    config_ = config;
    tables_ = tables;
    counts_ = {};
    constexpr std::uint32_t kLayers = 1u << 12;
    if (++layer_ != kLayers) return;
    layer_ = 1;
    for (auto& sums : remembered_) sums.clear();
}

void CdpLanes::convert(const std::uint8_t* in, std::size_t count, std::int32_t* x) const
{
    if (config_.precision == Precision::Fp16) {
        for (std::size_t i = 0; i < count; ++i) {
            const std::uint16_t half = half_at(in + 2 * i);
            x[i] = config_.nan_to_zero && Fp16::is_nan(half) ? 0 : static_cast<std::int32_t>(fp16_to_fp17(half));
        }
        return;
    }
    const Widths& w = widths(config_);
    const CdpConverter& c = config_.in;
    if (c.shift >= config_.silicon.in_dead_shift) {
        std::memset(x, 0, count * sizeof *x);
        return;
    }
    const bool narrow = config_.precision == Precision::Int8;
    if (narrow && c.offset == 0 && c.scale == 1 && c.shift == 0) {
        for (std::size_t i = 0; i < count; ++i) x[i] = static_cast<std::int8_t>(in[i]);
        return;
    }
    const std::int64_t offset = sign_extend(c.offset, w.in_offset);
    for (std::size_t i = 0; i < count; ++i) {
        const std::int64_t value = narrow ? static_cast<std::int8_t>(in[i]) : static_cast<std::int16_t>(half_at(in + 2 * i));
        x[i] = static_cast<std::int32_t>(shift_right((value - offset) * c.scale, c.shift, w.x));
    }
}

void CdpLanes::sums_of(const std::int32_t* x, std::size_t count, std::int64_t* sums) const
{
    if (config_.precision == Precision::Int8) add_squares<std::int32_t, kMaxLanes>(x, count, config_.window, sums);
    else add_squares<std::int64_t, kMaxLanes>(x, count, config_.window, sums);
}

/// The adders of the silicon take the squares in this order.
void CdpLanes::sums_of_floats(const std::int32_t* x, std::size_t count, std::int64_t* sums) const
{
    constexpr auto kReach = static_cast<std::ptrdiff_t>(kCdpReach);
    std::uint32_t squares[kMaxLanes + 2 * kCdpReach];
    const auto side = static_cast<std::ptrdiff_t>(config_.window / 2), lanes = static_cast<std::ptrdiff_t>(count);
    for (std::ptrdiff_t i = -side; i < lanes + side; ++i) {
        const std::uint32_t wide = fp17_to_fp32(pattern(x[i]));
        squares[i + kReach] = fp_multiply<Fp32>(wide, wide);
    }
    for (std::ptrdiff_t i = 0; i < lanes; ++i) {
        const std::uint32_t* middle = squares + i + kReach;
        std::uint32_t sum = fp_add<Fp32>(fp_add<Fp32>(middle[-1], middle[1]), middle[0]);
        for (std::ptrdiff_t k = 2; k <= side; ++k) sum = fp_add<Fp32>(sum, fp_add<Fp32>(middle[-k], middle[k]));
        sums[i] = sum;
    }
}

CdpLooked CdpLanes::look_up(std::int64_t sum, bool odd) const
{
    if (config_.precision == Precision::Fp16) return cdp_look_up_float(config_.lut, tables_, static_cast<std::uint32_t>(sum));
    CdpIndex index = CdpIndex::Narrow;
    if (config_.precision == Precision::Int16) index = CdpIndex::Wide;
    else if (config_.silicon.even_index_cut && !odd) index = CdpIndex::Cut;
    return cdp_look_up(config_.lut, tables_, sum, index);
}

/// Even and odd channels are looked up by different units. The sums of int8 are few, and recur.
void CdpLanes::look_up_lanes(std::int64_t* values, std::size_t count)
{
    const bool remembers = config_.precision == Precision::Int8;
    if (remembers && remembered_[0].empty())
        for (auto& sums : remembered_) sums.resize(kRemembered);
    for (std::size_t i = 0; i < count; ++i) {
        const auto place = static_cast<std::uint64_t>(values[i] + kMinSum);
        std::uint32_t* known = remembers && place < kRemembered ? &remembered_[i & 1][place] : nullptr;
        if (known && *known >> 20 == layer_) {
            ++counts_[*known >> 16 & 15];
            values[i] = static_cast<std::int16_t>(*known);
            continue;
        }
        const CdpLooked looked = look_up(values[i], i & 1);
        ++counts_[static_cast<std::size_t>(looked.outcome)];
        values[i] = looked.value;
        if (known)
            *known = layer_ << 20 | static_cast<std::uint32_t>(looked.outcome) << 16 | (static_cast<std::uint32_t>(looked.value) & 0xffff);
    }
}

void CdpLanes::compute(const std::int32_t* x, std::size_t count, std::uint8_t* out)
{
    DLASIM_EXPECTS(count <= kMaxLanes);
    const bool is_float = config_.precision == Precision::Fp16;
    std::int64_t values[kMaxLanes];
    if (config_.sum_bypass)
        for (std::size_t i = 0; i < count; ++i) values[i] = is_float ? std::int64_t{fp17_to_fp32(pattern(x[i]))} : x[i];
    else if (is_float) sums_of_floats(x, count, values);
    else sums_of(x, count, values);

    look_up_lanes(values, count);
    if (is_float) {
        for (std::size_t i = 0; i < count; ++i) {
            const std::uint32_t a = pattern(x[i]), r = static_cast<std::uint32_t>(values[i]);
            const bool passes = config_.multiply_bypass;  // a NaN does, instead of what was looked up
            const std::uint16_t half = fp17_to_fp16(passes ? (Fp17::is_nan(a) ? a : r) : fp_multiply<Fp17>(a, r));
            std::memcpy(out + 2 * i, &half, sizeof half);
        }
        return;
    }
    if (!config_.multiply_bypass)
        for (std::size_t i = 0; i < count; ++i) values[i] *= x[i];
    convert_out(values, count, out);
}

void CdpLanes::convert_out(const std::int64_t* v, std::size_t count, std::uint8_t* out) const
{
    const Widths& w = widths(config_);
    const CdpConverter& c = config_.out;
    const bool dead = c.shift >= config_.silicon.out_dead_shift;
    const std::int64_t offset = sign_extend(c.offset, w.out_offset);
    std::int64_t values[kMaxLanes];
    const std::int64_t scale = dead ? 0 : c.scale;
    // shift_right() with what is the same for all lanes done once: |v * scale| < 2^50.
    const unsigned shift = std::min(c.shift, 62u);
    const std::int64_t half = (std::int64_t{1} << shift) >> 1, away = shift != 0, most = (std::int64_t{1} << (w.out - 1)) - 1;
    for (std::size_t i = 0; i < count; ++i) {
        const std::int64_t product = (v[i] - offset) * scale;
        values[i] = std::clamp((product + half - (product < 0 ? away : 0)) >> shift, -most - 1, most);
    }
    if (config_.precision == Precision::Int8) {
        for (std::size_t i = 0; i < count; ++i) out[i] = static_cast<std::uint8_t>(values[i]);
        return;
    }
    for (std::size_t i = 0; i < count; ++i) {
        const auto value = static_cast<std::uint16_t>(values[i]);
        std::memcpy(out + 2 * i, &value, sizeof value);
    }
}

}  // namespace dlasim::numerics
