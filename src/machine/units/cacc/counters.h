// What CACC counts. None of it is a register, but for `saturated`, which the registers have layer by layer.
#pragma once
#include "base/counters.h"

namespace dlasim {

struct CaccCounters {
    std::uint64_t stripes = 0, atoms = 0, beats = 0, beat_waits = 0, saturated = 0, lost_stripes = 0;
    std::uint64_t op0 = 0, op1 = 0, op2 = 0, cell0 = 0;
};

template <>
inline constexpr auto counters<CaccCounters> = std::array{
    counter("stripes", &CaccCounters::stripes, "stripes", "stripes of partial sums taken from the array", "cacc.md 2.3"),
    counter("atoms", &CaccCounters::atoms, "atoms", "partial-sum atoms of these stripes: one a cycle", "cacc.md 2.3"),
    counter("beats", &CaccCounters::beats, "beats", "beats of results that SDP has taken", "cacc.md 3.4"),
    counter("beat_waits", &CaccCounters::beat_waits, "cycles", "a beat was valid and SDP did not take it", "cacc.md 3.8"),
    counter("saturated", &CaccCounters::saturated, "results", "final sums that did not fit into 32 bits and were clipped; 0 without values",
            "cacc.md 4.3"),
    counter("lost_stripes", &CaccCounters::lost_stripes, "stripes",
            "stripes that arrived while no layer was enabled: lost, as in the silicon", "cacc.md 2.1"),
    clock_domain("op0", &CaccCounters::op0, "assembly control", "cacc.md 5"),
    clock_domain("op1", &CaccCounters::op1, "assembly buffer", "cacc.md 5"),
    clock_domain("op2", &CaccCounters::op2, "calculator outside of the adders", "cacc.md 5"),
    clock_domain("cell0", &CaccCounters::cell0, "the adders", "cacc.md 5"),
};

}  // namespace dlasim
