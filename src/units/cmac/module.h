#pragma once
#include "links/module.h"
#include "units/cmac/core.h"

namespace dlasim {

/// One half of CMAC in the platform. All behaviour is in CmacCore.
class Cmac final : public UnitModule {
public:
    Cmac(const sc_core::sc_module_name& name, const Clock& clock, bool stepping, const Hardware& hardware, MacHalf half,
         const CmacPorts& ports, bool values = true)
        : UnitModule(name, clock, stepping), core_(hardware, half, ports, values)
    {
        ports.csb.request.reader = this;
        ports.stripes.reader = this;
    }
    CmacCore& core() override { return core_; }

private:
    CmacCore core_;
};

}  // namespace dlasim
