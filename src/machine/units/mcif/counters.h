// What MCIF and CVIF count.
#pragma once
#include "base/counters.h"

namespace dlasim {

struct McifCounters {
    std::uint64_t read_commands = 0, read_beats = 0, write_commands = 0, write_beats = 0;
};

template <>
inline constexpr auto counters<McifCounters> = std::array{
    counter("read_commands", &McifCounters::read_commands, "commands",
            "read commands given to the memory port, after splitting into bursts", "fabric.md 1.3"),
    counter("read_beats", &McifCounters::read_beats, "beats", "beats of read data taken from the memory port", "fabric.md 1.4"),
    counter("write_commands", &McifCounters::write_commands, "commands",
            "write commands given to the memory port, after splitting into bursts", "fabric.md 1.6"),
    counter("write_beats", &McifCounters::write_beats, "beats", "beats of write data given to the memory port", "fabric.md 1.6"),
};

}  // namespace dlasim
