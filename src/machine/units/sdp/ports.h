// The links of SDP to the rest of the machine.
#pragma once
#include <array>
#include <cstdint>

#include "links/wire.h"
#include "traffic/convolution.h"
#include "traffic/csb.h"
#include "traffic/memory.h"

namespace dlasim {

/// Everything SDP is wired to. Requests leave the DMA interface stages of the unit, so their valid is
/// what the memory interface sees; responses are always taken by the response stages.
struct SdpPorts {
    CsbLink& csb;                      // register window SDP
    CsbLink& csb_rdma;                 // register window SDP_RDMA
    Channel<SumBeat>& cacc;            // from CACC; ready is a register of SDP
    WriteLink& write_mc;               // to MCIF
    WriteLink* write_cv;               // to CVIF, null where there is none
    std::array<ReadLink*, 4> read_mc;  // MRDMA, BRDMA, NRDMA, ERDMA; null where absent
    std::array<ReadLink*, 4> read_cv;
    Pulse<std::uint32_t>& interrupt;   // to GLB: bits of S_INTR_STATUS, in the cycle of the pulse at GLB
    Channel<PoolBeat>* pdp = nullptr;  // to PDP; null: every beat is taken

    /// The links that wake the unit, but for those to memory.
    void wakes(Sleeper& unit) const
    {
        csb.wakes(unit);
        csb_rdma.wakes(unit);
    }
};

}  // namespace dlasim
