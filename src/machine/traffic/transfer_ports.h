// The links of a unit that moves data from memory to memory, as BDMA, to the rest of the machine.
#pragma once
#include <cstdint>

#include "links/wire.h"
#include "traffic/csb.h"
#include "traffic/memory.h"

namespace dlasim {

struct TransferPorts {
    CsbLink& csb;
    ReadLink& read_mc;
    ReadLink& read_cv;
    WriteLink& write_mc;
    WriteLink& write_cv;
    Pulse<std::uint32_t>& interrupt;  // GLB bits, for the cycle at the GLB input

    /// The links that wake the unit, but for those to memory.
    void wakes(Sleeper& unit) const { csb.wakes(unit); }
};

}  // namespace dlasim
