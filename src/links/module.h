// The SystemC coat of a core: a process that sleeps until the core's horizon or until a link wakes
// it. While a unit has nothing to do it is not scheduled at all.
#pragma once
#include <algorithm>
#include <queue>
#include <systemc>
#include <vector>

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
    UnitModule(const sc_core::sc_module_name& name, const Clock& clock, bool stepping) : sc_module(name), clock_(clock), stepping_(stepping)
    {
        SC_HAS_PROCESS(UnitModule);
        SC_METHOD(run);
        sensitive << wake_;
        dont_initialize();
    }

    void wake_at(Cycle at) override
    {
        if (at < scheduled_) {
            if (scheduled_ != kNever) later_.push(scheduled_);
            schedule(at);
        } else if (at != scheduled_) {
            later_.push(at);
        }
    }

    /// Evaluations so far: what a run costs, and whether anything still moves.
    std::uint64_t evaluations() const { return evaluations_; }

    virtual Core& core() = 0;

protected:
    void start_of_simulation() override { schedule(0); }

    const Clock& clock_;

private:
    void run()
    {
        const Cycle now = clock_.now();
        ++evaluations_;
        scheduled_ = kNever;
        while (!later_.empty() && later_.top() <= now) later_.pop();
        core().advance(now);
        Cycle next = stepping_ ? now + 1 : core().horizon();
        DLASIM_EXPECTS(next > now);
        if (!later_.empty()) next = std::min(next, later_.top());
        if (next < scheduled_) schedule(next);
    }
    void schedule(Cycle at)
    {
        scheduled_ = at;
        wake_.notify(clock_.at(at) - sc_core::sc_time_stamp());
    }

    sc_core::sc_event wake_{"wake"};
    bool stepping_;
    Cycle scheduled_ = kNever;                                              // what wake_ is notified for
    std::priority_queue<Cycle, std::vector<Cycle>, std::greater<>> later_;  // wakes after that
    std::uint64_t evaluations_ = 0;
};

}  // namespace dlasim
