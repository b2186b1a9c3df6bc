#pragma once
#include "links/module.h"
#include "units/csc/core.h"

namespace dlasim {

/// CSC in the platform. All behaviour is in CscCore.
class Csc final : public UnitModule {
public:
    Csc(const sc_core::sc_module_name& name, const Clock& clock, bool stepping, const Hardware& hardware, const CscPorts& ports,
        bool values = true)
        : UnitModule(name, clock, stepping), core_(hardware, ports, values)
    {
        ports.csb.request.reader = this;
        ports.cdma.data_filled.reader = this;
        ports.cdma.weight_filled.reader = this;
        ports.cdma.data_pending_ack.reader = this;
        ports.cdma.weight_pending_ack.reader = this;
        ports.credit.reader = this;
    }
    CscCore& core() override { return core_; }

private:
    CscCore core_;
};

}  // namespace dlasim
