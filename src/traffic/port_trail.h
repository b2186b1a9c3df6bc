// What every burst of a memory port waited for: the cycles in which it went from stage to stage. Kept by MCIF or CVIF and the
// bridge at its port; read by platform/critical_path.h.
//
//   read    request enters ─► credits, chunk ─► granted ─► offered at the port ─► accepted ─► answer due ─► first beat ─► last beat
//   write   data enter ─► chunk complete ─► granted ─► offered ─► accepted ─► answer due ─► answer taken
#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

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
    // How many bursts of the same client it follows as closely as the way allows: their time is bandwidth, whichever of them it is.
    std::uint32_t granted_after = 0, accepted_after = 0, answered_after = 0;
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
    /// Those of a client that are known, in the order of their grants and of their answers.
    const std::vector<Number>& granted(unsigned client) const { return granted_[client]; }
    const std::vector<Number>& answered(unsigned client) const { return answered_[client]; }

    void grant(const TrailChunk& chunk, Cycle at, std::uint32_t beats)
    {
        const Number number = end();
        TrailBurst& burst = bursts_.extend();
        static_cast<TrailChunk&>(burst) = chunk;
        burst.beats = static_cast<std::uint8_t>(beats);
        burst.limited = false;
        burst.granted = at;
        burst.offered = burst.accepted = burst.due = burst.first = burst.last = kNever;
        burst.granted_after = burst.accepted_after = burst.answered_after = 0;
        if (streams && number != base_ && !chunk.credits && chunk.chunked + 1 == at) {
            const TrailBurst& before = (*this)[number - 1];
            if (before.client == chunk.client && before.granted == chunk.chunked && before.granted > chunk.entered)
                burst.granted_after = before.granted_after + 1;
        }
        granted_[chunk.client].push_back(number);
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
    /// `interval`: of the port's commands.
    void accept(Number number, Cycle at, Cycle interval)
    {
        TrailBurst& burst = (*this)[number];
        burst.accepted = at;
        if (!streams || number == base_ || at <= burst.offered) return;
        const TrailBurst& before = (*this)[number - 1];
        if (before.client == burst.client && before.accepted < at && before.accepted + interval >= at)
            burst.accepted_after = before.accepted_after + 1;
    }
    /// `busy`: how long the port is after a beat; `follows`: so much later may one still come that was there before.
    void answer(Number number, Cycle at, Cycle busy, Cycle follows)
    {
        TrailBurst& burst = (*this)[number];
        burst.first = at;
        burst.turn = base_answers_ + answers_.size();
        if (streams && !answers_.empty() && has(answers_.back())) {
            const TrailBurst& before = (*this)[answers_.back()];
            if (before.client == burst.client && before.last < at && before.last + busy + (burst.due < at ? follows : 0) >= at)
                burst.answered_after = before.answered_after + 1;
        }
        answers_.push_back(number);
        answered_[burst.client].push_back(number);
    }
    /// Its last beat; of a write its answer.
    void end(Number number, Cycle at)
    {
        (*this)[number].last = at;
        while (ended_ < end() && (*this)[ended_].last != kNever) ++ended_;
    }
    /// All before it have ended.
    Number ended() const { return ended_; }
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
        for (std::vector<Number>& list : granted_) list.erase(list.begin(), std::lower_bound(list.begin(), list.end(), base_));
        for (std::vector<Number>& list : answered_) std::erase_if(list, [this](Number n) { return n < base_; });
    }

    bool explained = false;  // by the memory: set before the first burst
    bool streams = false;    // bursts that follow each other closely are looked for: of reads

private:
    Ring<TrailBurst> bursts_{256};
    Ring<BurstWaits> waits_;  // where explained
    Ring<Number> answers_{256};
    std::array<std::vector<Number>, kClients> granted_, answered_;
    Number base_ = 0, offered_ = 0, ended_ = 0;
    std::uint64_t base_answers_ = 0;
};

/// Of one port.
struct PortTrail {
    static constexpr Cycle kBetweenAnswers = 3;  // answers no further apart than the port's interval and these follow each other

    PortTrail() { reads.streams = true; }
    BurstTrail reads, writes;
    std::uint32_t beat_interval = 1, command_interval = 1, write_interval = 1;
};

}  // namespace dlasim
