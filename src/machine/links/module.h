// The SystemC module of a core, which sleeps until the core's horizon or until a link wakes it. While a
// unit has nothing to do it is not scheduled at all. The first module of a clock has the process that
// evaluates them all (wake_queue.h). Where the owner of the simulation allows it, that process evaluates cycles
// ahead of SystemC's time, as long as no other process has work.
#pragma once
#include <algorithm>
#include <bit>
#include <functional>
#include <memory>
#include <systemc>
#include <vector>

#include "base/divisor.h"
#include "base/expects.h"
#include "links/core.h"
#include "links/failures.h"
#include "links/guard.h"
#include "links/wake_queue.h"

namespace dlasim {

class ClockedModule;

/// Modules that one process evaluates, at most WakeQueue::kUnits.
struct ClockedGroup {
    std::vector<ClockedModule*> modules;
    WakeQueue wake_queue;
    sc_core::sc_event due{"due"};
    Cycle notified = kNever;  // what `due` is notified for
    bool running = false;
    bool stepping = false;
    Cycle moved = 0;  // stepping: the last cycle after which anybody had anything to do
};

/// The core clock: turns cycles into SystemC time and back. Cycle 0 begins at time 0, and again with every reset. Cycles may run
/// ahead of SystemC's time: delays of transactions and notifications count from the latter, until() and edge_after() know that.
class Clock {
public:
    explicit Clock(sc_core::sc_time period) : period_(period), in_periods_(period.value()) {}
    const sc_core::sc_time& period() const { return period_; }
    /// The cycle that is evaluated, or was last; else the one whose edge is now, or was last.
    Cycle now() const
    {
        const std::uint64_t time = time_stamp().value();
        return std::max<Cycle>(time > start_ ? in_periods_(time - start_) : 0, ahead_);
    }
    /// The duration of a number of cycles.
    sc_core::sc_time span(Cycle cycles) const { return sc_core::sc_time::from_value(period_.value() * cycles); }
    /// The edge of a cycle.
    sc_core::sc_time at(Cycle cycle) const { return sc_core::sc_time::from_value(start_ + period_.value() * cycle); }
    /// The first cycle whose edge is `delay` from now or later: what a caller between two edges, or ahead of time, meets.
    Cycle edge_after(const sc_core::sc_time& delay) const
    {
        // edge 0 is less than a period from now at the most
        return in_periods_(time_stamp().value() + delay.value() + period_.value() - 1 - start_);
    }
    /// From now to the edge of `cycle`; nothing if it is past.
    sc_core::sc_time until(Cycle cycle) const
    {
        const sc_core::sc_time edge = at(cycle), &now = time_stamp();
        return edge > now ? edge - now : sc_core::SC_ZERO_TIME;
    }
    /// The first cycle that has not run: the one of now if somebody still has to be evaluated in it.
    Cycle first_not_run() const
    {
        const Cycle at = now();
        return std::ranges::any_of(groups_, [at](const auto& group) { return group->running || group->wake_queue.next() <= at; }) ? at
                                                                                                                                  : at + 1;
    }
    /// The group that the next module joins.
    ClockedGroup& group()
    {
        if (groups_.empty() || groups_.back()->modules.size() == WakeQueue::kUnits) groups_.push_back(std::make_unique<ClockedGroup>());
        return *groups_.back();
    }

    /// Reset: nobody is evaluated until restart(), and whoever was due is no longer.
    void hold();
    /// Cycle 0 begins at the next edge, which may be now, and everybody is evaluated in it. Edges are where they would be without a reset.
    void restart();

    /// Cycles before `end` may be evaluated ahead of SystemC's time. 0: none. Whoever calls sc_start() says so, who then reads
    /// the time of the machine from now().
    void run_ahead(Cycle end)
    {
        ahead_end_ = end;
        expect_activity();
    }
    /// Whoever notifies an event of SystemC while cycles are evaluated says so: others have something to do then.
    void expect_activity() { activity_expected_ = true; }
    /// Goes ahead to `cycle` if nothing else of the simulation happens before it or at its edge.
    bool go_ahead(Cycle cycle)
    {
        if (activity_expected_) ask_kernel();
        if (cycle >= others_) return false;
        ahead_ = cycle;
        return true;
    }

    /// The first cycle before which, or at whose edge, something else than the modules of this clock may happen.
    Cycle others()
    {
        if (sc_core::sc_pending_activity_at_current_time(kernel_)) return 0;
        return sc_core::sc_pending_activity_at_future_time(kernel_) ? edge_after(sc_core::sc_time_to_pending_activity(kernel_)) : kNever;
    }

private:
    const sc_core::sc_time& time_stamp() const { return kernel_->time_stamp(); }
    void ask_kernel()
    {
        activity_expected_ = false;
        others_ = ahead_end_ == 0 ? 0 : std::min(ahead_end_, others());
    }

    sc_core::sc_time period_;
    Divisor in_periods_;
    std::uint64_t start_ = 0;  // time of edge 0
    const sc_core::sc_simcontext* kernel_ = sc_core::sc_get_curr_simcontext();
    Cycle ahead_end_ = 0;
    Cycle ahead_ = 0;                // the cycle that was gone ahead to
    Cycle others_ = 0;               // the first cycle before which, or at whose edge, something else may happen
    bool activity_expected_ = true;  // `others_` must be computed again
    std::vector<std::unique_ptr<ClockedGroup>> groups_;
};

/// Runs what its clock evaluates. `stepping` evaluates it in every cycle: slow, and by law the same result. When nobody has had anything to
/// do for a very long time stepping goes to sleep too, so that a hung simulation ends; a wake-up resumes it.
class ClockedModule : public sc_core::sc_module, public Sleeper {
public:
    ClockedModule(const sc_core::sc_module_name& name, Clock& clock, bool stepping)
        : sc_module(name), clock_(clock), group_(clock.group()), place_(static_cast<unsigned>(group_.modules.size()))
    {
        group_.modules.push_back(this);
        if (place_ != 0) return;
        group_.stepping = stepping;
        SC_HAS_PROCESS(ClockedModule);
        SC_METHOD(run);
        sensitive << group_.due;
        dont_initialize();
    }

    void wake_at(Cycle at) override
    {
        group_.wake_queue.add(place_, at);
        if (!group_.running && at < group_.notified) notify(at);
    }

    /// Evaluations so far: what a run costs, and whether anything still moves.
    std::uint64_t evaluations() const { return evaluations_; }

    /// Where an exception of the core goes; null: SC_REPORT_ERROR.
    Failures* failures = nullptr;

protected:
    virtual Clocked& clocked() = 0;
    /// It is another one than before.
    void renewed() { evaluated_ = &clocked(); }
    void start_of_simulation() override
    {
        renewed();
        wake_at(0);
    }
    /// What calls into the platform: whatever that throws ends here, but for what is the platform's own business.
    template <class Call>
    void guarded(Call call)
    {
        try {
            guard_kernel(call, [this](const char* what) { fail(what); });
        } catch (...) {
            group_.running = false;
            throw;
        }
    }

    Clock& clock_;

private:
    /// Of the first of a group: everybody who is due.
    void run()
    {
        if (group_.running) return;  // reset in the same moment
        group_.notified = kNever;
        group_.running = true;
        clock_.expect_activity();
        Cycle next = clock_.now();
        do next = evaluate_due(next);
        while (clock_.go_ahead(next));
        group_.running = false;
        if (next != kNever) notify(next);
    }
    /// The next cycle in which somebody is due.
    Cycle evaluate_due(Cycle now)
    {
        for (std::uint64_t due = group_.wake_queue.take(now); due != 0; due &= due - 1)
            group_.modules[static_cast<unsigned>(std::countr_zero(due))]->evaluate(now);
        if (group_.stepping) step(now);
        return group_.wake_queue.next();
    }
    /// Everybody in the next cycle, due or not.
    void step(Cycle now)
    {
        if (group_.wake_queue.next() != kNever) group_.moved = now;
        if (now - group_.moved >= kMaxIdleCycles) return;
        for (unsigned place = 0; place < group_.modules.size(); ++place) group_.wake_queue.add(place, now + 1);
    }
    void evaluate(Cycle now)
    {
        if (failures && failures->any()) return;
        guarded([&] {
            ++evaluations_;
            const Cycle next = evaluated_->evaluate(now);
            DLASIM_EXPECTS(next > now);
            if (next != kNever) group_.wake_queue.add(place_, next);
        });
    }
    void fail(const char* what)
    {
        if (!failures) SC_REPORT_ERROR("/dlasim", what);
        else failures->report(basename(), what);
    }
    void notify(Cycle at)
    {
        group_.notified = at;
        clock_.expect_activity();
        group_.due.notify(clock_.until(at));
    }

    static constexpr Cycle kMaxIdleCycles = 1u << 16;

    ClockedGroup& group_;
    unsigned place_;  // in the group
    Clocked* evaluated_ = nullptr;
    std::uint64_t evaluations_ = 0;
};

/// Of a unit.
class UnitModule : public ClockedModule {
public:
    using ClockedModule::ClockedModule;
    virtual Core& core() = 0;

protected:
    Clocked& clocked() override { return core(); }
};

inline void Clock::hold()
{
    for (const auto& group : groups_) {
        group->due.cancel();
        group->wake_queue = WakeQueue();
        group->moved = 0;
        group->running = true;  // nobody is woken
    }
    ahead_ = 0;
}

inline void Clock::restart()
{
    start_ = in_periods_(time_stamp().value() + period_.value() - 1) * period_.value();
    for (const auto& group : groups_) {
        group->notified = kNever;
        group->running = false;
        for (ClockedModule* module : group->modules) module->wake_at(0);
    }
}

}  // namespace dlasim
