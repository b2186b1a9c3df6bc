// What GLB counts.
#pragma once
#include "base/counters.h"

namespace dlasim {

struct GlbCounters {
    std::uint64_t interrupt_pulses = 0;
};

template <>
inline constexpr auto counters<GlbCounters> = std::array{
    counter("interrupt_pulses", &GlbCounters::interrupt_pulses, "pulses", "done pulses of units that reached the interrupt status",
            "csb.md 2.6"),
};

}  // namespace dlasim
