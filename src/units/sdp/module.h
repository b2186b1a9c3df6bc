#pragma once
#include "links/module.h"
#include "units/sdp/core.h"

namespace dlasim {

/// SDP in the platform. All behaviour is in SdpCore. The channels are connected by the platform.
class Sdp final : public UnitModule {
public:
    Sdp(const sc_core::sc_module_name& name, const Clock& clock, bool stepping, const Hardware& hardware, const SdpPorts& ports,
        bool values = true);
    SdpCore& core() override { return core_; }

private:
    SdpCore core_;
};

}  // namespace dlasim
