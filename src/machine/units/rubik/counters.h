// What Rubik counts.
#pragma once
#include "base/counters.h"

namespace dlasim {

struct RubikCounters {
    std::uint64_t layers = 0, beats_in = 0, beats_out = 0;
    std::uint64_t engine = 0;
};

template <>
inline constexpr auto counters<RubikCounters> = std::array{
    counter("layers", &RubikCounters::layers, "layers", "operations whose last beat was sent", "rubik.md 2.4"),
    counter("beats_in", &RubikCounters::beats_in, "beats", "beats of read data, two atoms each, written into the register file",
            "rubik.md 2.2"),
    counter("beats_out", &RubikCounters::beats_out, "beats", "packets of write data, of one or two atoms, given to MCIF or CVIF",
            "rubik.md 2.3"),
    clock_domain("rubik", &RubikCounters::engine, "the three domains, which run together: sequencer and sender, read FIFOs, register file",
                 "rubik.md 3"),
};

}  // namespace dlasim
