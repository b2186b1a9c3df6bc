// The links of one half of CMAC.
#pragma once
#include "links/wire.h"
#include "traffic/convolution.h"
#include "traffic/csb.h"

namespace dlasim {

/// CMAC_A holds the first half of the MAC cells, CMAC_B the second.
enum class MacHalf { A, B };

struct CmacPorts {
    CsbLink& csb;
    PatientPulse<Stripe>& stripes;  // from CSC
    PatientPulse<Sums>& sums;       // to CACC

    /// The links that wake the unit, but for those to memory.
    void wakes(Sleeper& unit) const
    {
        csb.wakes(unit);
        stripes.reader = &unit;
    }
};

}  // namespace dlasim
