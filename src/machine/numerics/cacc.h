// The adders of CACC: sums of stripes saturate silently in 48 or 34 bits; the last one is shifted,
// rounded and saturated to 32 bits. fp16 sums are 48-bit words {exponent[7:0], mantissa[39:0]}, value =
// mantissa * 2^(exponent - 101); the result is fp32.
//
// Source  cacc.md 4.
// Error   0: every vector of tests/golden/numerics_test.cpp.
#pragma once
#include <cstdint>

#include "numerics/cmac.h"
#include "numerics/rounding.h"

namespace dlasim::numerics {

inline constexpr unsigned kWideSum = 48;    // int16 and the even kernels of int8, nv_full
inline constexpr unsigned kNarrowSum = 34;  // odd kernels of int8, and the configurable generation

/// A sum is 0 before the first stripe.
constexpr std::int64_t accumulate_int(std::int64_t partial, std::int64_t sum, unsigned width) { return saturate(partial + sum, width); }

struct IntResult {
    std::int32_t value = 0;
    bool saturated = false;
    bool operator==(const IntResult&) const = default;
};

/// The result of a complete sum (after its last accumulate_int). truncate 0..31
constexpr IntResult finish_int(std::int64_t sum, unsigned truncate)
{
    const std::int64_t q = sum >> truncate;
    bool up = false;
    if (truncate != 0) {
        const std::uint64_t below = static_cast<std::uint64_t>(sum) & ((std::uint64_t{1} << (truncate - 1)) - 1);
        // The rounding looks at no more than 15 bits below the guard bit.
        const bool sticky = (truncate > 16 ? below >> (truncate - 16) : below) != 0;
        up = ((sum >> (truncate - 1)) & 1) && (sum >= 0 || sticky);
    }
    const std::int64_t rounded = q + up;
    if (sum < 0 ? q < INT32_MIN : rounded > INT32_MAX) return {sum < 0 ? INT32_MIN : INT32_MAX, true};
    return {static_cast<std::int32_t>(rounded), false};
}

using FpSum = std::uint64_t;  // 48 bits; 0 before the first stripe

/// Adds the word of a cell, rounding to 40 bits.
FpSum accumulate_fp(CmacWord partial, FpSum sum);
/// fp32 of a complete sum (after its last accumulate_fp).
std::uint32_t finish_fp(FpSum sum);

}  // namespace dlasim::numerics
