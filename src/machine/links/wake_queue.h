// Which units are due in which cycle. All units of a clock share one SystemC event and one process, so a cycle costs
// SystemC one notification, however many units are evaluated in it.
//
//   near  a ring of the 64 cycles after the one evaluated last: a set of units each
//   far   a heap of what is later than that
#pragma once
#include <array>
#include <bit>
#include <cstdint>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

#include "base/cycle.h"

namespace dlasim {

class WakeQueue {
public:
    static constexpr unsigned kUnits = 64;

    /// `unit` below kUnits. Cycles that have been evaluated are due at once.
    void add(unsigned unit, Cycle at)
    {
        if (at <= done_) {
            again_ |= bit(unit);
        } else if (at - done_ <= kNear) {
            put(unit, at);
        } else if (last_far_[unit] != at) {
            last_far_[unit] = at;
            far_.push({at, unit});
        }
    }
    /// The earliest cycle in which a unit is due; kNever if none is.
    Cycle next() const
    {
        if (again_) return done_;
        if (taken_) {
            const auto first = static_cast<int>((done_ + 1) % kNear);
            return done_ + 1 + static_cast<Cycle>(std::countr_zero(std::rotr(taken_, first)));
        }
        return far_.empty() ? kNever : far_.top().at;
    }
    /// The units due in cycle `now` or before; they are so no longer.
    std::uint64_t take(Cycle now)
    {
        std::uint64_t due = again_;
        again_ = 0;
        if (now == done_ + 1) return due | take_next();
        for (Cycle at = next(); at <= now; at = next()) {
            done_ = at;
            const auto slot = static_cast<unsigned>(at % kNear);
            due |= near_[slot];
            near_[slot] = 0;
            taken_ &= ~bit(slot);
            due |= fetch();
        }
        return due;
    }

private:
    static constexpr unsigned kNear = 64;

    struct Far {
        Cycle at = 0;
        unsigned unit = 0;
        bool operator>(const Far& other) const { return at > other.at; }
    };
    /// The units due in the cycle after the one evaluated last, which is evaluated now.
    std::uint64_t take_next()
    {
        const auto slot = static_cast<unsigned>(++done_ % kNear);
        const std::uint64_t due = near_[slot];
        near_[slot] = 0;
        taken_ &= ~bit(slot);
        return far_.empty() ? due : due | fetch();
    }
    static std::uint64_t bit(unsigned i) { return std::uint64_t{1} << i; }
    void put(unsigned unit, Cycle at)
    {
        const auto slot = static_cast<unsigned>(at % kNear);
        near_[slot] |= bit(unit);
        taken_ |= bit(slot);
    }
    /// Moves what has come near; the units that are due in the cycle evaluated now.
    std::uint64_t fetch()
    {
        std::uint64_t due = 0;
        for (; !far_.empty() && far_.top().at - done_ <= kNear; far_.pop()) {
            if (far_.top().at == done_) due |= bit(far_.top().unit);
            else put(far_.top().unit, far_.top().at);
        }
        return due;
    }

    Cycle done_ = 0;  // evaluated last
    std::uint64_t again_ = 0, taken_ = 0;
    std::array<std::uint64_t, kNear> near_{};
    std::array<Cycle, kUnits> last_far_{};
    std::priority_queue<Far, std::vector<Far>, std::greater<>> far_;
};

}  // namespace dlasim
