// The module of a unit that needs nothing but its core; its ports say which links wake it.
//
//   ports.wakes(unit) ──► readers of the links        UnitAdapter bdma("BDMA", clock, stepping, make_bdma(hardware, ports), ports);
//
// The channels to memory have two ends in different units: whoever builds the machine connects them.
#pragma once
#include <memory>
#include <utility>

#include "links/module.h"

namespace dlasim {

/// All behaviour is in the core.
class UnitAdapter final : public UnitModule {
public:
    /// `ports`: those the core was made with.
    template <class Ports>
    UnitAdapter(const sc_core::sc_module_name& name, Clock& clock, bool stepping, std::unique_ptr<Core> core, Ports&& ports)
        : UnitModule(name, clock, stepping), core_(std::move(core))
    {
        ports.wakes(*this);
    }
    Core& core() override { return *core_; }

    /// A core as after reset takes the place of the one before.
    template <class Ports>
    void renew(std::unique_ptr<Core> core, Ports&& ports)
    {
        core_ = std::move(core);
        ports.wakes(*this);
        renewed();
    }

private:
    std::unique_ptr<Core> core_;
};

}  // namespace dlasim
