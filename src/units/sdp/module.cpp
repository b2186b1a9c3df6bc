#include "units/sdp/module.h"

namespace dlasim {

Sdp::Sdp(const sc_core::sc_module_name& name, const Clock& clock, bool stepping, const Hardware& hardware, const SdpPorts& ports,
         bool values)
    : UnitModule(name, clock, stepping), core_(hardware, ports)
{
    core_.compute_values(values);
    ports.csb.request.reader = this;
    ports.csb_rdma.request.reader = this;
}

}  // namespace dlasim
