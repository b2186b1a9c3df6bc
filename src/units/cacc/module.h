#pragma once
#include "links/module.h"
#include "units/cacc/core.h"

namespace dlasim {

/// CACC in the platform. All behaviour is in CaccCore. The two ends of the SDP channel are connected by the platform.
class Cacc final : public UnitModule {
public:
    Cacc(const sc_core::sc_module_name& name, const Clock& clock, bool stepping, const Hardware& hardware, const CaccPorts& ports,
         bool values = true)
        : UnitModule(name, clock, stepping), core_(hardware, ports, values)
    {
        ports.csb.request.reader = this;
        ports.sums_a.reader = this;
        ports.sums_b.reader = this;
    }
    CaccCore& core() override { return core_; }

private:
    CaccCore core_;
};

}  // namespace dlasim
