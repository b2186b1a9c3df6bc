#pragma once
#include "links/module.h"
#include "units/cdp/core.h"

namespace dlasim {

/// CDP with CDP_RDMA in the platform. All behaviour is in CdpCore; whoever builds the machine connects the
/// channels and pulses of the memory interfaces.
class Cdp final : public UnitModule {
public:
    Cdp(const sc_core::sc_module_name& name, const Clock& clock, bool stepping, const Hardware& hardware, const CdpPorts& ports,
        bool values = true)
        : UnitModule(name, clock, stepping), core_(hardware, ports, values)
    {
        ports.csb.request.reader = this;
        ports.csb_rdma.request.reader = this;
    }
    CdpCore& core() override { return core_; }

private:
    CdpCore core_;
};

}  // namespace dlasim
