// The SystemC coat of a core: a process that sleeps until the core's horizon or until a link wakes
// it. While a unit has nothing to do it is not scheduled at all.
#pragma once
#include <systemc>

#include "links/core.h"

namespace dlasim {

/// The core clock: turns cycles into SystemC time and back.
class Clock {
public:
    explicit Clock(sc_core::sc_time period) : period_(period) {}
    const sc_core::sc_time& period() const { return period_; }
    Cycle now() const { return sc_core::sc_time_stamp().value() / period_.value(); }
    sc_core::sc_time at(Cycle cycle) const { return sc_core::sc_time::from_value(period_.value() * cycle); }

private:
    sc_core::sc_time period_;
};

/// Runs a core. `stepping` evaluates it in every cycle: slow, and by law the same result.
class UnitModule : public sc_core::sc_module, public Sleeper {
public:
    UnitModule(const sc_core::sc_module_name& name, const Clock& clock, bool stepping)
        : sc_module(name), clock_(clock), stepping_(stepping)
    {
        SC_HAS_PROCESS(UnitModule);
        SC_METHOD(run);
        sensitive << wake_;
        dont_initialize();
    }

    void wake_at(Cycle at) override
    {
        wake_.notify(clock_.at(at) - sc_core::sc_time_stamp());
    }

    virtual Core& core() = 0;

protected:
    void start_of_simulation() override { wake_.notify(sc_core::SC_ZERO_TIME); }

    const Clock& clock_;

private:
    void run()
    {
        const Cycle now = clock_.now();
        core().advance(now);
        const Cycle next = stepping_ ? now + 1 : core().horizon();
        if (next != kNever) wake_.notify(clock_.at(next) - sc_core::sc_time_stamp());
    }

    sc_core::sc_event wake_{"wake"};
    bool stepping_;
};

}  // namespace dlasim
