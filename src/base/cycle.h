#pragma once
#include <cstdint>

namespace dlasim {

/// A clock cycle of the core clock, counted from reset; or a number of them.
using Cycle = std::uint64_t;

/// No cycle: nothing will be decided unless a link wakes the unit.
inline constexpr Cycle kNever = UINT64_MAX;

}  // namespace dlasim
