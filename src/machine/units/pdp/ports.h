// The links of PDP and PDP_RDMA to the rest of the machine.
#pragma once
#include <cstdint>

#include "links/wire.h"
#include "traffic/convolution.h"
#include "traffic/csb.h"
#include "traffic/memory.h"

namespace dlasim {

struct PdpPorts {
    CsbLink& csb;            // register window PDP
    CsbLink& csb_rdma;       // register window PDP_RDMA
    Channel<PoolBeat>& sdp;  // on the fly; ready is a register of PDP
    ReadLink& read_mc;
    ReadLink* read_cv;  // null where there is no secondary port
    WriteLink& write_mc;
    WriteLink* write_cv;
    Pulse<std::uint32_t>& interrupt;  // to GLB: bits of S_INTR_STATUS, in the cycle of the pulse at GLB

    /// The links that wake the unit, but for those to memory.
    void wakes(Sleeper& unit) const
    {
        csb.wakes(unit);
        csb_rdma.wakes(unit);
    }
};

}  // namespace dlasim
