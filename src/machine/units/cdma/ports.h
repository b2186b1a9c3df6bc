// What CDMA is wired to.
#pragma once
#include <cstdint>

#include "traffic/convolution.h"
#include "traffic/csb.h"
#include "traffic/memory.h"
#include "units/cbuf/cbuf.h"

namespace dlasim {

struct CdmaPorts {
    CsbLink& csb;
    ReadLink& data_mc;
    ReadLink& weight_mc;
    ReadLink* data_cv;  // null: the machine has no secondary memory
    ReadLink* weight_cv;
    CdmaCscLink& csc;
    Cbuf& cbuf;
    /// Mask of GLB S_INTR_STATUS bits (csb.md 3), put for the cycle the pulse is at the GLB input.
    Pulse<std::uint32_t>& interrupt;

    /// The links that wake the unit, but for those to memory.
    void wakes(Sleeper& unit) const
    {
        csb.wakes(unit);
        csc.data_released.reader = csc.weight_released.reader = &unit;
        csc.data_pending_request.reader = csc.weight_pending_request.reader = &unit;
    }
};

}  // namespace dlasim
