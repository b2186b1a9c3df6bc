#pragma once
#include "links/module.h"
#include "units/pdp/core.h"

namespace dlasim {

/// PDP and PDP_RDMA in the platform. All behaviour is in PdpCore; whoever builds the machine connects the channels.
class Pdp final : public UnitModule {
public:
    Pdp(const sc_core::sc_module_name& name, const Clock& clock, bool stepping, const Hardware& hardware, const PdpPorts& ports,
        bool values)
        : UnitModule(name, clock, stepping), core_(hardware, ports)
    {
        core_.compute_values(values);
        ports.csb.request.reader = this;
        ports.csb_rdma.request.reader = this;
    }
    PdpCore& core() override { return core_; }

private:
    PdpCore core_;
};

}  // namespace dlasim
