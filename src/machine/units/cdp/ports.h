// The links of CDP to the rest of the machine.
#pragma once
#include <cstdint>

#include "links/wire.h"
#include "traffic/csb.h"
#include "traffic/memory.h"

namespace dlasim {

struct CdpPorts {
    CsbLink& csb;       // register window CDP
    CsbLink& csb_rdma;  // register window CDP_RDMA
    ReadLink& read_mc;
    ReadLink* read_cv;  // null where there is no secondary port
    WriteLink& write_mc;
    WriteLink* write_cv;
    Pulse<std::uint32_t>& interrupt;  // GLB bits, for the cycle at the GLB input

    /// The links that wake the unit, but for those to memory.
    void wakes(Sleeper& unit) const
    {
        csb.wakes(unit);
        csb_rdma.wakes(unit);
    }
};

}  // namespace dlasim
