// The links of CACC to the rest of the machine.
#pragma once
#include <cstdint>

#include "links/wire.h"
#include "traffic/convolution.h"
#include "traffic/csb.h"

namespace dlasim {

struct CaccPorts {
    CsbLink& csb;
    PatientPulse<Sums>& sums_a;       // from CMAC_A: its valid steers CACC
    PatientPulse<Sums>& sums_b;       // from CMAC_B
    Channel<SumBeat>& sdp;            // valid is a function of CACC's registers
    Pulse<std::uint32_t>& credit;     // accu2sc_credit, in the cycle it is valid at the CACC port
    Pulse<std::uint32_t>& interrupt;  // to GLB: bits of S_INTR_STATUS, in the cycle of the pulse at GLB

    /// The links that wake the unit, but for those to memory.
    void wakes(Sleeper& unit) const
    {
        csb.wakes(unit);
        sums_a.reader = sums_b.reader = &unit;
    }
};

}  // namespace dlasim
