// The links of CSC to the rest of the machine.
#pragma once
#include <cstdint>

#include "links/wire.h"
#include "traffic/convolution.h"
#include "traffic/csb.h"
#include "units/cbuf/cbuf.h"

namespace dlasim {

struct CscPorts {
    CsbLink& csb;
    CdmaCscLink& cdma;
    Cbuf& cbuf;
    PatientPulse<Stripe>& cmac_a;
    PatientPulse<Stripe>& cmac_b;
    Pulse<std::uint32_t>& credit;  // accu2sc_credit, in the cycle it is valid at the CACC port

    /// The links that wake the unit, but for those to memory.
    void wakes(Sleeper& unit) const
    {
        csb.wakes(unit);
        cdma.data_filled.reader = cdma.weight_filled.reader = &unit;
        cdma.data_pending_ack.reader = cdma.weight_pending_ack.reader = &unit;
        credit.reader = &unit;
    }
};

}  // namespace dlasim
