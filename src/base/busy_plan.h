// Phases of a pipeline whose work is known ahead of its time: busy intervals are recorded when they are
// decided and accounted when they have passed.
#pragma once
#include "base/phase.h"
#include "base/ring.h"

namespace dlasim {

class BusyPlan {
public:
    /// From `at` on the unit is in `phase`, until another call. Cycles must not go backwards.
    void enter(Phase phase, Cycle at)
    {
        end_idle(at);
        plan_.push_back({phase, at});
        idle_ = false;
    }
    /// Issuing in [start, end), `after` from `end` on unless another call follows.
    void busy(Cycle start, Cycle end, Phase after)
    {
        enter(Phase::Issuing, start);
        idle_ = true;
        idle_from_ = end;
        idle_phase_ = after;
    }
    /// Accounts the plan of cycles up to `now`: keeps the list short.
    void account_until(Cycle now)
    {
        while (!plan_.empty() && plan_.front().at <= now) {
            log_.enter(plan_.front().phase, plan_.front().at);
            plan_.pop_front();
        }
    }
    /// All cycles before `end`. For reports; the plan of later cycles is discarded.
    PhaseLog log(Cycle end)
    {
        account_until(end);
        PhaseLog log = log_;
        if (plan_.empty() && idle_ && idle_from_ < end) log.enter(idle_phase_, idle_from_);
        log.account_until(end);
        return log;
    }

    void record(PhaseHistory* history) { log_.record(history); }

private:
    struct Change {
        Phase phase = Phase::Gated;
        Cycle at = 0;
    };
    void end_idle(Cycle at)
    {
        if (idle_ && idle_from_ < at) plan_.push_back({idle_phase_, idle_from_});
    }

    PhaseLog log_;
    Ring<Change> plan_;
    bool idle_ = false;
    Cycle idle_from_ = 0;
    Phase idle_phase_ = Phase::Gated;
};

}  // namespace dlasim
