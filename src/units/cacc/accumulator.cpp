#include "units/cacc/accumulator.h"

#include <algorithm>

#include "facts/cacc.h"
#include "numerics/cacc.h"

namespace dlasim {

Accumulator::Accumulator(const Hardware& hw)
    : hardware_(hw),
      max_kernels_(hw.kernel_group(Precision::Int8)),
      positions_(facts::cacc::kPositions),
      assembly_(std::size_t{positions_} * 4 * max_kernels_, 0)
{
}

void Accumulator::start_layer(const AccumulatorMode& mode)
{
    mode_ = mode;
    kernels_ = hardware_.kernel_group(mode.precision);
    first_ = true;
    stripes_ = 0;
}

/// nv_full has wide adders for int16 and for the even kernels of int8.
unsigned Accumulator::width(std::uint32_t kernel) const
{
    const bool wide = hardware_.full() && (mode_.precision != Precision::Int8 || kernel % 2 == 0);
    return wide ? numerics::kWideSum : numerics::kNarrowSum;
}

void Accumulator::add_row(const Sums& half, std::uint32_t atom, std::uint32_t output, std::uint32_t first, std::int64_t* row)
{
    if (output >= half.outputs) return;
    const std::size_t at = (std::size_t{atom} * half.outputs + output) * half.pitch;
    const std::uint32_t count = std::min(half.kernels, max_kernels_ - first);
    row += first;
    if (mode_.precision == Precision::Fp16) {
        if (!half.wide) return;
        for (std::uint32_t k = 0; k < count; ++k)
            row[k] = static_cast<std::int64_t>(numerics::accumulate_fp(
                static_cast<numerics::CmacWord>(half.wide[at + k]), first_ ? 0 : static_cast<numerics::FpSum>(row[k])));
        return;
    }
    // A partial sum has at most 38 (22) bits: so many stripes cannot saturate the adder.
    const bool exact = stripes_ < (half.wide ? 1u << 9 : 1u << 11);
    const auto add = [&](const auto* sums) {
        if (first_) {
            for (std::uint32_t k = 0; k < count; ++k) row[k] = sums[k];
        } else if (exact) {
            for (std::uint32_t k = 0; k < count; ++k) row[k] += sums[k];
        } else {
            for (std::uint32_t k = 0; k < count; ++k) row[k] = numerics::accumulate_int(sums[k], row[k], width(first + k));
        }
    };
    if (half.narrow) add(half.narrow + at);
    else if (half.wide) add(half.wide + at);
}

void Accumulator::add(const Sums& a, const Sums& b)
{
    stripes_ = first_ ? 0 : stripes_ + 1;
    for (std::uint32_t atom = 0; atom < a.atoms; ++atom)
        for (std::uint32_t output = 0; output < mode_.outputs(); ++output) {
            std::int64_t* row = assembly(atom, output);
            add_row(a, atom, output, 0, row);
            add_row(b, atom, output, kernels_ / 2, row);
        }
}

std::uint32_t Accumulator::finish_row(const Sums& half, std::uint32_t atom, std::uint32_t output, std::uint32_t first,
                                      const std::int64_t* row, std::int32_t* results) const
{
    if (output >= half.outputs) return 0;
    const std::size_t at = (std::size_t{atom} * half.outputs + output) * half.pitch;
    const std::uint32_t count = std::min(half.kernels, max_kernels_ - first);
    std::uint32_t saturated = 0;
    for (std::uint32_t k = 0; k < count; ++k) {
        const std::int64_t old = first_ ? 0 : row[first + k];
        if (mode_.precision == Precision::Fp16) {
            const numerics::CmacWord word = half.wide ? static_cast<numerics::CmacWord>(half.wide[at + k]) : 0;
            results[first + k] = static_cast<std::int32_t>(
                numerics::finish_fp(numerics::accumulate_fp(word, static_cast<numerics::FpSum>(old))));
            continue;
        }
        const std::int64_t sum = half.narrow ? half.narrow[at + k] : half.wide ? half.wide[at + k] : 0;
        const numerics::IntResult result =
            numerics::finish_int(numerics::accumulate_int(sum, old, width(first + k)), mode_.truncate);
        results[first + k] = result.value;
        saturated += result.saturated;
    }
    return saturated;
}

std::uint32_t Accumulator::finish(const Sums& a, const Sums& b, std::uint32_t atom, std::int32_t* results)
{
    std::uint32_t saturated = 0;
    for (std::uint32_t output = 0; output < mode_.outputs(); ++output, results += kernels_) {
        std::fill_n(results, kernels_, 0);
        const std::int64_t* row = assembly(atom, output);
        saturated += finish_row(a, atom, output, 0, row, results);
        saturated += finish_row(b, atom, output, kernels_ / 2, row, results);
    }
    return saturated % facts::cacc::saturation_modulus(hardware_);
}

}  // namespace dlasim
