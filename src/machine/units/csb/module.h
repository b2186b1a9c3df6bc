#pragma once
#include <optional>

#include "links/module.h"
#include "units/csb/glb.h"

namespace dlasim {

/// GLB with the interrupt pin of the machine.
class Glb final : public UnitModule {
public:
    sc_core::sc_out<bool> interrupt{"interrupt"};

    Glb(const sc_core::sc_module_name& name, Clock& clock, bool stepping, const Hardware& hardware, CsbLink& csb,
        const std::vector<Pulse<std::uint32_t>*>& sources)
        : UnitModule(name, clock, stepping), pin_driver_(*this)
    {
        renew(hardware, csb, sources);
        SC_HAS_PROCESS(Glb);
        SC_METHOD(drive);
        sensitive << pin_change_;
        dont_initialize();
    }
    GlbCore& core() override { return *core_; }

    /// Everything as after reset.
    void renew(const Hardware& hardware, CsbLink& csb, const std::vector<Pulse<std::uint32_t>*>& sources)
    {
        core_.emplace(hardware, csb, sources);
        csb.wakes(*this);
        for (Pulse<std::uint32_t>* source : sources) source->reader = this;
        core_->pin.reader = &pin_driver_;
        renewed();
    }
    /// The pin falls.
    void drop() { core_->pin.put(0, false); }

private:
    /// The pin changes later than its cause: a process of its own follows it.
    struct PinDriver final : Sleeper {
        explicit PinDriver(Glb& owner) : glb(owner) {}
        void wake_at(Cycle at) override
        {
            glb.clock_.expect_activity();
            glb.pin_change_.notify(glb.clock_.until(at));
        }
        Glb& glb;
    };
    void drive()
    {
        while (core_->pin.available(clock_.now())) {
            const bool level = core_->pin.take();
            guarded([&] { interrupt.write(level); });
        }
        if (core_->pin.next() != kNever) pin_driver_.wake_at(core_->pin.next());
    }

    std::optional<GlbCore> core_;
    PinDriver pin_driver_;
    sc_core::sc_event pin_change_{"pin_change"};
};

}  // namespace dlasim
