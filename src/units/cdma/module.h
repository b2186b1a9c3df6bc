#pragma once
#include "links/module.h"
#include "units/cdma/core.h"

namespace dlasim {

/// CDMA in the platform. It listens to the register bus and to CSC; whoever builds the machine connects the memory
/// channels: this module is the producer of their requests and the consumer of their responses.
class Cdma final : public UnitModule {
public:
    Cdma(const sc_core::sc_module_name& name, const Clock& clock, bool stepping, const Hardware& hardware, const CdmaPorts& ports,
         bool values = true)
        : UnitModule(name, clock, stepping), core_(hardware, ports, values)
    {
        ports.csb.request.reader = this;
        ports.csc.data_released.reader = this;
        ports.csc.weight_released.reader = this;
        ports.csc.data_pending_request.reader = this;
        ports.csc.weight_pending_request.reader = this;
    }
    CdmaCore& core() override { return core_; }

private:
    CdmaCore core_;
};

}  // namespace dlasim
