#pragma once
#include "links/module.h"
#include "units/rubik/core.h"

namespace dlasim {

/// Rubik in the platform. All behaviour is in RubikCore; whoever builds the machine connects the
/// channels and pulses of the memory interfaces.
class Rubik final : public UnitModule {
public:
    Rubik(const sc_core::sc_module_name& name, const Clock& clock, bool stepping, const Hardware& hardware, const RubikPorts& ports)
        : UnitModule(name, clock, stepping), core_(hardware, ports)
    {
        ports.csb.request.reader = this;
    }
    RubikCore& core() override { return core_; }

private:
    RubikCore core_;
};

}  // namespace dlasim
