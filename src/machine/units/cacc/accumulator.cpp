#include "units/cacc/accumulator.h"

#include <algorithm>

#include "numerics/cacc.h"

namespace dlasim::cacc {
namespace {

// A partial sum of words has at most 38 bits: this number of them fits 48.
constexpr std::uint64_t kWideStripes = 1u << 9;

DLASIM_FORM void add_narrow(std::int32_t* sums, const std::int32_t* more, std::size_t count)
{
    for (std::size_t i = 0; i < count; ++i) sums[i] += more[i];
}
DLASIM_FORM void add_wide(std::int64_t* sums, const std::int64_t* more, std::size_t count)
{
    for (std::size_t i = 0; i < count; ++i) sums[i] += more[i];
}
/// numerics::finish_int for sums of 32 bits, where nothing can saturate.
DLASIM_FORM void finish_narrow(const std::int32_t* sums, const std::int32_t* more, unsigned truncate, std::int32_t* results,
                               std::size_t count)
{
    const std::int32_t looked_at = truncate > 16 ? 0x7fff << (truncate - 16) : (1 << (truncate - 1)) - 1;
    for (std::size_t i = 0; i < count; ++i) {
        const std::int32_t sum = sums[i] + more[i];
        const std::int32_t up = (sum >> (truncate - 1)) & 1 & ((sum >= 0) | ((sum & looked_at) != 0));
        results[i] = (sum >> truncate) + up;
    }
}

}  // namespace

Accumulator::Accumulator(const Hardware& hw, Vectors vectors)
    : vectors_(chosen(vectors)),
      hardware_(hw),
      silicon_(facts::cacc::of(hw)),
      max_kernels_(hw.kernel_group(Precision::Int8)),
      narrow_stripes_(INT32_MAX / (std::uint64_t{hw.mac.atomic_c} * 128 * 128 * 4) - 1)  // 4: Winograd adds positions
{
}

void Accumulator::start_layer(const AccumulatorMode& mode)
{
    mode_ = mode;
    kernels_ = hardware_.kernel_group(mode.precision);
    first_ = true;
}

/// nv_full has wide adders for words and for the even kernels of bytes.
unsigned Accumulator::width(std::uint32_t kernel) const
{
    const bool wide = silicon_.words && (mode_.precision != Precision::Int8 || kernel % 2 == 0);
    return wide ? numerics::kWideSum : numerics::kNarrowSum;
}

void Accumulator::begin_stripe(const Sums& a, const Sums& b)
{
    halves_[0].sums = &a;
    halves_[0].first_kernel = 0;
    halves_[1].sums = &b;
    halves_[1].first_kernel = kernels_ / 2;
    if (first_) {
        stripes_ = 0;
        narrow_ = mode_.precision == Precision::Int8 && !a.wide && !b.wide;
    }
    for (Half& half : halves_) {
        // A half that computed something else than this layer's mode has nothing to add.
        const Sums& s = *half.sums;
        const std::size_t size = std::size_t{s.atoms} * s.outputs * s.pitch;
        if (half.narrow.size() < size) half.narrow.resize(size, 0);
        if (half.wide.size() < size) half.wide.resize(size, 0);
    }
    ++stripes_;
    if (narrow_ && (stripes_ > narrow_stripes_ || a.wide || b.wide)) widen();
}

void Accumulator::widen()
{
    for (Half& half : halves_) std::copy(half.narrow.begin(), half.narrow.end(), half.wide.begin());
    narrow_ = false;
}

void Accumulator::add()
{
    for (Half& half : halves_) add(half);
}

void Accumulator::add(Half& half)
{
    const Sums& s = *half.sums;
    const std::size_t count = std::size_t{s.atoms} * s.outputs * s.pitch;
    if (narrow_) {
        if (!s.narrow) return;
        if (first_) std::copy_n(s.narrow, count, half.narrow.begin());
        else in_form<add_narrow>(vectors_, half.narrow.data(), s.narrow, count);
        return;
    }
    std::int64_t* sums = half.wide.data();
    if (mode_.precision == Precision::Fp16) {
        if (!s.wide) return;
        for (std::size_t row = 0; row < count; row += s.pitch)
            for (std::size_t i = row; i < row + s.kernels.count(); ++i)
                sums[i] = static_cast<std::int64_t>(numerics::accumulate_fp(static_cast<numerics::CmacWord>(s.wide[i]),
                                                                            first_ ? 0 : static_cast<numerics::FpSum>(sums[i])));
        return;
    }
    const auto each = [&](const auto* more) {
        if (first_) {
            std::copy_n(more, count, sums);
            return;
        }
        for (std::size_t row = 0; row < count; row += s.pitch)
            for (std::uint32_t k = 0; k < s.pitch; ++k)
                sums[row + k] = numerics::accumulate_int(more[row + k], sums[row + k], width(half.first_kernel + k));
    };
    if (s.narrow) each(s.narrow);
    else if (s.wide && !first_ && stripes_ < kWideStripes) in_form<add_wide>(vectors_, sums, s.wide, count);
    else if (s.wide) each(s.wide);
}

std::uint32_t Accumulator::finish(const Half& half, std::uint32_t atom, std::uint32_t output, std::int32_t* results) const
{
    const Sums& s = *half.sums;
    if (output >= s.outputs || (!s.narrow && !s.wide)) return 0;
    const std::size_t at = (std::size_t{atom} * s.outputs + output) * s.pitch;
    const std::uint32_t count = std::min({s.kernels.count(), s.pitch, max_kernels_ - half.first_kernel});
    results += half.first_kernel;
    if (narrow_) {
        if (first_ && mode_.truncate == 0) {
            std::copy_n(s.narrow + at, count, results);
        } else if (first_) {
            for (std::uint32_t k = 0; k < count; ++k) results[k] = numerics::finish_int(s.narrow[at + k], mode_.truncate).value;
        } else if (mode_.truncate == 0) {
            for (std::uint32_t k = 0; k < count; ++k) results[k] = half.narrow[at + k] + s.narrow[at + k];
        } else {
            in_form<finish_narrow>(vectors_, half.narrow.data() + at, s.narrow + at, mode_.truncate, results, count);
        }
        return 0;
    }
    std::uint32_t saturated = 0;
    for (std::uint32_t k = 0; k < count; ++k) {
        const std::int64_t old = first_ ? 0 : half.wide[at + k], more = s.narrow ? s.narrow[at + k] : s.wide[at + k];
        if (mode_.precision == Precision::Fp16) {
            const numerics::FpSum sum =
                numerics::accumulate_fp(s.narrow ? 0 : static_cast<numerics::CmacWord>(more), static_cast<numerics::FpSum>(old));
            results[k] = static_cast<std::int32_t>(numerics::finish_fp(sum));
            continue;
        }
        const std::int64_t sum = numerics::accumulate_int(more, old, width(half.first_kernel + k));
        const numerics::IntResult result = numerics::finish_int(sum, mode_.truncate);
        results[k] = result.value;
        saturated += result.saturated;
    }
    return saturated;
}

std::uint32_t Accumulator::finish(std::uint32_t atom, std::int32_t* results)
{
    std::uint32_t saturated = 0;
    for (std::uint32_t output = 0; output < mode_.outputs(); ++output, results += kernels_) {
        std::fill_n(results, kernels_, 0);
        for (const Half& half : halves_) saturated += finish(half, atom, output, results);
    }
    return saturated % silicon_.saturation_modulus;
}

}  // namespace dlasim::cacc
