// What BDMA counts.
#pragma once
#include "base/counters.h"

namespace dlasim {

struct BdmaCounters {
    std::uint64_t groups = 0, lines = 0, beats = 0;
    std::uint64_t engine = 0;
};

template <>
inline constexpr auto counters<BdmaCounters> = std::array{
    counter("groups", &BdmaCounters::groups, "groups", "launched groups of descriptors whose last write was acknowledged", "bdma.md 1.5"),
    counter("lines", &BdmaCounters::lines, "commands", "lines of blocks requested: one read request each", "bdma.md 1.3"),
    counter("beats", &BdmaCounters::beats, "beats", "packets of write data, of one or two atoms, given to MCIF or CVIF", "bdma.md 1.4"),
    clock_domain("bdma", &BdmaCounters::engine, "loader, store and command queue", "bdma.md 3"),
};

}  // namespace dlasim
