#pragma once
#include "links/module.h"
#include "units/bdma/core.h"

namespace dlasim {

/// BDMA in the platform. All behaviour is in BdmaCore; whoever builds the machine connects the
/// channels and pulses of the memory interfaces.
class Bdma final : public UnitModule {
public:
    Bdma(const sc_core::sc_module_name& name, const Clock& clock, bool stepping, const Hardware& hardware, const BdmaPorts& ports)
        : UnitModule(name, clock, stepping), core_(hardware, ports)
    {
        ports.csb.request.reader = this;
    }
    BdmaCore& core() override { return core_; }

private:
    BdmaCore core_;
};

}  // namespace dlasim
