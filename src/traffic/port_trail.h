// What every burst of a memory port waited for: the cycles in which it went from stage to stage. Kept by MCIF or CVIF and the
// bridge at its port; read by platform/critical_path.h.
//
//   read    request enters ─► credits, chunk ─► granted ─► offered at the port ─► accepted ─► answer due ─► first beat ─► last beat
//   write   data enter ─► chunk complete ─► granted ─► offered ─► accepted ─► answer due ─► answer taken
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>

#include "base/cause.h"
#include "base/cycle.h"
#include "base/ring.h"
#include "facts/client.h"

namespace dlasim {

/// What is known of a burst in front of the arbiter.
struct TrailChunk {
    std::uint8_t client = 0;
    bool refused = false;  // read: the request was offered before it could enter
    bool credits = false;  // read: it waited for a credit
    Cycle entered = 0;     // the request; of a write its last data
    Cycle chunked = 0;     // the chunk stands in front of the arbiter
};

struct TrailBurst : TrailChunk {
    std::uint8_t beats = 0;
    bool limited = false;    // it waited for a beat on its way: CFG_OUTSTANDING_CNT
    Cycle granted = kNever;  // by the arbiter
    Cycle offered = kNever;  // at the port: the command of a read, the first data of a write
    Cycle accepted = kNever;
    Cycle due = kNever;      // the answer, if the port were free
    Cycle first = kNever;    // its first beat is taken; of a write the answer
    Cycle last = kNever;     // its last one
    std::uint64_t turn = 0;  // of all answers of its direction, the n-th
    std::uint32_t nth = 0;   // of those of its client that are looked at
};

/// What a memory that explains itself did with a burst.
struct BurstWaits {
    DramCycles taken{};       // before it took it
    DramCycles waited{};      // before it answered
    Cycle accepted = kNever;  // of a write: it took it
};

/// Bursts of one direction, numbered from 0 in the order in which they are granted. Answers come in another one.
class BurstTrail {
public:
    using Number = std::uint64_t;

    TrailBurst& operator[](Number number) { return bursts_[number - base_]; }
    const TrailBurst& operator[](Number number) const { return bursts_[number - base_]; }
    bool has(Number number) const { return number >= base_ && number < end(); }
    Number base() const { return base_; }
    Number end() const { return base_ + bursts_.size(); }

    void grant(const TrailChunk& chunk, Cycle at, std::uint32_t beats)
    {
        TrailBurst& burst = bursts_.extend();
        burst = {};
        static_cast<TrailChunk&>(burst) = chunk;
        burst.granted = at;
        burst.beats = static_cast<std::uint8_t>(beats);
        if (explained) waits_.push_back({});
    }
    BurstWaits& waits(Number number) { return waits_[number - base_]; }
    const BurstWaits& waits(Number number) const { return waits_[number - base_]; }
    /// At the port.
    Number offer(Cycle at)
    {
        bursts_[offered_ - base_].offered = at;
        return offered_++;
    }
    /// That was offered last.
    Number last_number() const { return offered_ - 1; }
    void answer(Number number, Cycle at)
    {
        TrailBurst& burst = (*this)[number];
        burst.first = at;
        burst.turn = base_answers_ + answers_.size();
        answers_.push_back(number);
    }
    /// The burst that was answered in that turn.
    bool answered(std::uint64_t turn) const { return turn >= base_answers_ && turn < base_answers_ + answers_.size(); }
    Number of_turn(std::uint64_t turn) const { return answers_[turn - base_answers_]; }
    std::uint64_t first_turn() const { return base_answers_; }
    std::uint64_t turns() const { return base_answers_ + answers_.size(); }

    /// The one that was answered last: later ones may have waited for it. The first one where none was.
    Number latest() const { return answers_.empty() ? base_ : answers_.back(); }

    /// Of those whose last step is before that cycle only the last ones are asked for again.
    void forget(Cycle before)
    {
        while (bursts_.size() > 2 && base_ + 1 < offered_ && base_ < latest() && bursts_.front().last < before) {
            bursts_.pop_front();
            if (explained) waits_.pop_front();
            ++base_;
        }
        while (!answers_.empty() && answers_.front() < base_) {
            answers_.pop_front();
            ++base_answers_;
        }
    }

    bool explained = false;  // by the memory: set before the first burst

private:
    Ring<TrailBurst> bursts_{256};
    Ring<BurstWaits> waits_;  // where explained
    Ring<Number> answers_{256};
    Number base_ = 0, offered_ = 0;
    std::uint64_t base_answers_ = 0;
};

/// Of one port.
struct PortTrail {
    BurstTrail reads, writes;
    std::uint32_t beat_interval = 1, command_interval = 1, write_interval = 1;
};

}  // namespace dlasim
