// What every unit core is to the module around it.
#pragma once
#include <cstdint>
#include <string>
#include <utility>

#include "base/counters.h"
#include "base/cycle.h"
#include "base/phase.h"
#include "causes/wait_log.h"
#include "links/gated_clock.h"
#include "links/probe_set.h"
#include "links/wire.h"

namespace dlasim {

/// What a unit says of itself after a run.
struct UnitReport {
    UnitReport() = default;
    /// A unit that counts nothing.
    UnitReport(std::string name_, PhaseLog phases_) : name(std::move(name_)), phases(phases_) {}
    /// `values`: a struct of declared counters.
    template <class Counters>
    UnitReport(std::string name_, PhaseLog phases_, const Counters& values)
        : name(std::move(name_)), phases(phases_), counters(values, false), clock_on(values, true)
    {
    }
    /// Of one that gates its clocks.
    template <class Counters>
    UnitReport(std::string name_, PhaseLog phases_, Counters values, const GatedClocks<Counters>& clocks, Cycle end)
        : UnitReport(std::move(name_), phases_, (clocks.count(values, end), values))
    {
        idle_runs = clocks.idle();
    }

    std::string name;
    PhaseLog phases;         // the cycles of all phases add up to the cycles reported on
    CounterValues counters;  // base/counters.h
    CounterValues clock_on;  // clock domain: cycles with its clock running
    IdleRuns idle_runs;      // of the unit, with the clocks of all domains off: between two in which one was on

    bool operator==(const UnitReport&) const = default;
    /// What happened after `before` was taken of the same unit.
    UnitReport since(const UnitReport& before) const
    {
        UnitReport left = *this;
        left.phases = phases.since(before.phases);
        left.counters = counters.since(before.counters);
        left.clock_on = clock_on.since(before.clock_on);
        left.idle_runs = idle_runs.since(before.idle_runs);
        return left;
    }
};

/// What a clock evaluates, in the cycles that it asks for or is woken for.
class Clocked {
public:
    virtual ~Clocked() = default;
    /// The next cycle in which it will decide something if nobody wakes it before; kNever: none.
    virtual Cycle evaluate(Cycle to) = 0;
};

/// A unit: plain C++, evaluated cycle by cycle or in skips, which is the same function.
///
/// advance(to) evaluates cycle `to`; the cycles since the last evaluation were quiet by contract
/// (to <= horizon()) and are accounted, not computed. In cycle `to` a core reads its input links at
/// `to` and sets its output links for later cycles. horizon() is the first cycle in which it will
/// decide something if no link wakes it before: too early is slow, too late is wrong.
class Core : public Clocked {
public:
    virtual void advance(Cycle to) = 0;
    virtual Cycle horizon() const = 0;
    /// Both, in one call.
    Cycle evaluate(Cycle to) override
    {
        advance(to);
        return horizon();
    }
    /// Applies deferred work of the cycles before `end`, when all of them have been evaluated and no later one: it has announced all that
    /// it waited for.
    virtual void catch_up(Cycle end) { static_cast<void>(end); }
    /// Accounts these cycles, of which it has done all. May be asked again later: what happened in between is the difference.
    virtual UnitReport report(Cycle end) = 0;
    /// Why the machine can never go on, where this unit knows it. The first line of a diagnosis.
    virtual std::string stuck() const { return ""; }
    /// One line for the diagnosis of a hang: what the unit does and what it waits for.
    virtual std::string waiting_for() const = 0;
    /// For the progress of a run: atoms through the MAC array, bytes written by units that move data from memory to memory; 0 in all other
    /// units.
    virtual std::uint64_t work() const { return 0; }
    /// Hangs the unit's own probes (those that are not on a link) on it.
    virtual void attach(ProbeSet&) {}
    /// From now on it records what it waits for.
    virtual void follow(WaitLogs&) {}
};

}  // namespace dlasim
