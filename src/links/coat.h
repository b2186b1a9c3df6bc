// The coat of a unit that needs nothing but its core: which links wake it is said by its ports.
//
//   ports.wakes(unit) ──► readers of the links        Coat<BdmaCore> bdma("BDMA", clock, stepping, hardware, TransferPorts{...});
//
// The channels to memory have two ends in different units: whoever builds the machine connects them.
#pragma once
#include "links/module.h"

namespace dlasim {

/// All behaviour is in the core.
template <class Unit>
class Coat final : public UnitModule {
public:
    /// `what` is it built as (Hardware), `ports`, and what else its constructor takes.
    template <class What, class Ports, class... Rest>
    Coat(const sc_core::sc_module_name& name, Clock& clock, bool stepping, const What& what, Ports&& ports, Rest... rest)
        : UnitModule(name, clock, stepping), core_(what, ports, rest...)
    {
        ports.wakes(*this);
    }
    Unit& core() override { return core_; }

private:
    Unit core_;
};

}  // namespace dlasim
