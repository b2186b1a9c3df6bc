// Every cycle of a unit has exactly one owner: one of five phases. Accounting happens at changes
// only, so a unit that sleeps pays nothing, and skipping writes the same timeline as stepping.
#pragma once
#include <array>
#include <cstddef>
#include <string_view>
#include <vector>

#include "base/cycle.h"
#include "base/expects.h"

namespace dlasim {

enum class Phase { Issuing, Starved, Blocked, Draining, Gated };
inline constexpr std::size_t kPhases = 5;
inline constexpr std::array<std::string_view, kPhases> kPhaseNames{"issuing", "starved", "blocked", "draining", "gated"};

/// When a unit changed its phase; it begins gated. Recorded only where somebody asked.
class PhaseHistory {
public:
    struct Change {
        Cycle at = 0;
        Phase phase = Phase::Gated;
    };
    /// From cycle `at` on, replacing what was recorded for `at` and later.
    void enter(Phase phase, Cycle at)
    {
        while (!changes_.empty() && changes_.back().at >= at) changes_.pop_back();
        if (phase != (changes_.empty() ? Phase::Gated : changes_.back().phase)) changes_.push_back({at, phase});
    }
    /// In order of time.
    const std::vector<Change>& changes() const { return changes_; }

private:
    std::vector<Change> changes_;
};

/// Cycles by phase; after account_until(end) they add up to `end`.
class PhaseLog {
public:
    /// From cycle `at` on the unit is in `phase`. Cycles must not go backwards.
    void enter(Phase phase, Cycle at)
    {
        if (phase == phase_) return;
        account_until(at);
        phase_ = phase;
        if (history_) history_->enter(phase, at);
    }
    void record(PhaseHistory* history) { history_ = history; }
    /// Accounts all cycles before `at` to the phase they were spent in.
    void account_until(Cycle at)
    {
        DLASIM_EXPECTS(at >= since_);
        cycles_[static_cast<std::size_t>(phase_)] += at - since_;
        since_ = at;
    }
    /// What was accounted after `before` was taken of this log.
    PhaseLog since(const PhaseLog& before) const
    {
        PhaseLog left = *this;
        for (std::size_t i = 0; i < kPhases; ++i) left.cycles_[i] -= before.cycles_[i];
        return left;
    }
    /// Of all phases.
    Cycle total() const
    {
        Cycle sum = 0;
        for (const Cycle cycles : cycles_) sum += cycles;
        return sum;
    }
    bool operator==(const PhaseLog& other) const { return cycles_ == other.cycles_; }
    Phase phase() const { return phase_; }
    Cycle cycles(Phase phase) const { return cycles_[static_cast<std::size_t>(phase)]; }

private:
    std::array<Cycle, kPhases> cycles_{};
    Phase phase_ = Phase::Gated;
    Cycle since_ = 0;
    PhaseHistory* history_ = nullptr;
};

}  // namespace dlasim
