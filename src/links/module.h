// The SystemC coat of a core: a process that sleeps until the core's horizon or until a link wakes
// it. While a unit has nothing to do it is not scheduled at all.
#pragma once
#include <algorithm>
#include <queue>
#include <systemc>
#include <vector>

#include "base/expects.h"
#include "links/core.h"
#include "links/failures.h"

namespace dlasim {

/// The core clock: turns cycles into SystemC time and back. Edge 0 is at time 0.
class Clock {
public:
    explicit Clock(sc_core::sc_time period) : period_(period) {}
    const sc_core::sc_time& period() const { return period_; }
    /// The cycle whose edge is now, or was last.
    Cycle now() const { return sc_core::sc_time_stamp().value() / period_.value(); }
    sc_core::sc_time at(Cycle cycle) const { return sc_core::sc_time::from_value(period_.value() * cycle); }
    /// The first cycle whose edge is `delay` from now or later: what a caller between two edges, or ahead of time, meets.
    Cycle edge_after(const sc_core::sc_time& delay) const
    {
        return (sc_core::sc_time_stamp().value() + delay.value() + period_.value() - 1) / period_.value();
    }
    /// From now to the edge of `cycle`; nothing if it is past.
    sc_core::sc_time until(Cycle cycle) const
    {
        const sc_core::sc_time edge = at(cycle), now = sc_core::sc_time_stamp();
        return edge > now ? edge - now : sc_core::SC_ZERO_TIME;
    }

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

    /// Where an exception of the core goes; null: SC_REPORT_ERROR.
    Failures* failures = nullptr;

protected:
    void start_of_simulation() override { schedule(0); }

    const Clock& clock_;

private:
    void run()
    {
        if (failures && failures->any()) return;
        try {
            evaluate();
        } catch (const sc_core::sc_report&) {  // of the platform, from a call of ours into it
            throw;
        } catch (const std::exception& error) {
            if (!failures) SC_REPORT_ERROR("/dlasim", error.what());
            else failures->report(basename(), error.what());
        }
    }
    void evaluate()
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
        wake_.notify(clock_.until(at));
    }

    sc_core::sc_event wake_{"wake"};
    bool stepping_;
    Cycle scheduled_ = kNever;                                              // what wake_ is notified for
    std::priority_queue<Cycle, std::vector<Cycle>, std::greater<>> later_;  // wakes after that
    std::uint64_t evaluations_ = 0;
};

}  // namespace dlasim
