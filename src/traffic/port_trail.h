// What every burst of a memory port waited for: the cycles in which it went from stage to stage. Kept by MCIF or CVIF and the
// bridge at its port; read by platform/path_rules.h.
//
//   read    request enters ─► credits, chunk ─► granted ─► offered at the port ─► accepted ─► answer due ─► first beat ─► last beat
//   write   data enter ─► chunk complete ─► granted ─► offered ─► accepted ─► answer due ─► answer taken
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

#include "base/block_list.h"
#include "base/cause.h"
#include "base/cycle.h"
#include "facts/client.h"

namespace dlasim {

/// What is known of a burst in front of the arbiter.
struct TrailChunk {
    Cycle entered;  // the request; of a write its last data
    Cycle chunked;  // the chunk stands in front of the arbiter
    std::uint8_t client;
    bool refused;  // read: the request was offered before it could enter
    bool credits;  // read: it waited for a credit
};

/// A cycle is kNever until what it tells has happened.
struct TrailBurst : TrailChunk {
    std::uint8_t beats;
    bool limited;  // it waited for a beat on its way: CFG_OUTSTANDING_CNT
    // How many bursts of the same client it follows as closely as the way allows, kMostAfter at most: their time is bandwidth.
    std::uint8_t granted_after, accepted_after, answered_after;
    Cycle granted;  // by the arbiter
    Cycle offered;  // at the port: the command of a read, the first data of a write
    Cycle accepted;
    Cycle due;    // the answer, if the port were free
    Cycle first;  // its first beat is taken; of a write the answer
    Cycle last;   // its last one
    // Numbers, relative to its own; 0: none.
    std::int32_t same_granted;   // granted before it for its client
    std::int32_t same_answered;  // answered before it for its client
    std::int32_t answered;       // answered before it
    std::int32_t stream;         // with which the stream of answers began that it is part of
};

/// What a memory that explains itself did with a burst.
struct BurstWaits {
    DramCycles taken;   // before it took it
    DramCycles waited;  // before it answered
    Cycle accepted;     // of a write: it took it
};

/// The last one of a client that is known no longer.
struct ForgottenBurst {
    std::uint64_t number;
    TrailBurst burst;
};

/// Bursts of one direction, numbered from 0 in the order in which they are granted. Answers come in another one.
class BurstTrail {
public:
    using Number = std::uint64_t;
    static constexpr std::uint8_t kMostAfter = 63;
    static constexpr Number kNone = ~Number{0};

    TrailBurst& operator[](Number number) { return bursts_[number]; }
    const TrailBurst& operator[](Number number) const { return bursts_[number]; }
    bool has(Number number) const { return bursts_.has(number); }
    Number base() const { return bursts_.base(); }
    Number end() const { return bursts_.end(); }
    /// The last one of a client, by grants and by answers. kNone: none.
    Number granted(unsigned client) const { return granted_[client]; }
    Number answered(unsigned client) const { return answered_[client]; }
    /// The one before a burst, by grants or answers of its client, or answers of all; kNone: none, or it is known no longer.
    Number granted_before(Number number) const { return known(number, (*this)[number].same_granted); }
    Number answered_before(Number number) const { return known(number, (*this)[number].same_answered); }
    Number any_answered_before(Number number) const { return known(number, (*this)[number].answered); }

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
        if (streams && number != base() && !chunk.credits && chunk.chunked + 1 == at) {
            const TrailBurst& before = *newest_;
            if (before.client == chunk.client && before.granted == chunk.chunked && before.granted > chunk.entered)
                burst.granted_after = one_more(before.granted_after);
        }
        newest_ = &burst;
        burst.same_granted = relative(number, granted_[chunk.client]);
        burst.same_answered = burst.answered = burst.stream = 0;
        granted_[chunk.client] = number;
        if (explained) waits_.extend() = {.taken = {}, .waited = {}, .accepted = kNever};
    }
    BurstWaits& waits(Number number) { return waits_[number]; }
    const BurstWaits& waits(Number number) const { return waits_[number]; }
    /// At the port.
    Number offer(Cycle at)
    {
        bursts_[offered_].offered = at;
        return offered_++;
    }
    /// That was offered last.
    Number last_number() const { return offered_ - 1; }
    /// `burst`: that of the number. `interval`: of the port's commands.
    void accept(TrailBurst& burst, Number number, Cycle at, Cycle interval)
    {
        burst.accepted = at;
        if (!streams || number == base() || at <= burst.offered) return;
        const TrailBurst& before = (*this)[number - 1];
        if (before.client == burst.client && before.accepted < at && before.accepted + interval >= at)
            burst.accepted_after = one_more(before.accepted_after);
    }
    /// `busy`: how long the port is after a beat; `follows`: so much later may one still come that was there before.
    void answer(TrailBurst& burst, Number number, Cycle at, Cycle busy, Cycle follows)
    {
        burst.first = at;
        burst.answered = relative(number, latest_);
        if (streams && has(latest_)) {
            const TrailBurst& before = *latest_burst_;
            if (before.client == burst.client && before.last < at && before.last + busy + (burst.due < at ? follows : 0) >= at) {
                burst.answered_after = one_more(before.answered_after);
                burst.stream = burst.answered_after == 0 ? 0 : burst.answered + before.stream;
            }
        }
        burst.same_answered = relative(number, answered_[burst.client]);
        answered_[burst.client] = latest_ = number;
        latest_burst_ = &burst;
    }
    /// The one that was answered last: later ones may have waited for it. kNone: none.
    Number latest() const { return latest_; }
    /// All before it have ended.
    Number ended()
    {
        ended_ = std::max(ended_, base());
        while (ended_ < end() && (*this)[ended_].last != kNever) ++ended_;
        return ended_;
    }

    /// In this cycle, of which all has been told and of no later one, a floor of walks will be.
    void mark() { marked_ = {ended(), latest_, granted_, answered_}; }
    /// The cycle of the last mark() is the floor now: bursts are forgotten that a walk in the cycles behind it asks nothing of but when a
    /// client's last one was. `margin`: what follows something at the port does so within so many cycles.
    void forget(Cycle floor, Cycle margin)
    {
        Cycle since = floor;  // what was on its way then had entered
        for (Number n = std::max(marked_.ended, base()); n < end() && (*this)[n].granted <= floor; ++n)
            if ((*this)[n].last >= floor) since = std::min(since, (*this)[n].entered);
        since -= std::min(since, margin);
        Number keep = std::max(marked_.ended, base());
        unsigned ended = 0;
        for (Number n = marked_.latest; has(n) && ended <= kMostAfter; n = any_answered_before(n)) {
            keep = std::min(keep, n);
            if ((*this)[n].last < since) ++ended;
        }
        keep -= std::min<Number>(keep - base(), kMostAfter + 1);
        for (unsigned client = 0; client < kClients; ++client) {
            Number grant = marked_.granted[client], answer = marked_.answered[client];
            while (has(grant) && grant >= keep) grant = granted_before(grant);
            while (has(answer) && answer >= keep) answer = answered_before(answer);
            if (has(grant)) forgotten_grants_[client] = {grant, (*this)[grant]};
            if (has(answer)) forgotten_answers_[client] = {answer, (*this)[answer]};
        }
        bursts_.forget(keep);
        if (explained) waits_.forget(keep);
    }
    const std::optional<ForgottenBurst>& forgotten_grant(unsigned client) const { return forgotten_grants_[client]; }
    const std::optional<ForgottenBurst>& forgotten_answer(unsigned client) const { return forgotten_answers_[client]; }

    bool explained = false;  // by the memory: set before the first burst
    bool streams = false;    // bursts that follow each other closely are looked for: of reads

private:
    static constexpr std::array<Number, kClients> none()
    {
        std::array<Number, kClients> all{};
        all.fill(kNone);
        return all;
    }
    /// 0 also for one so long ago that it has been forgotten.
    static std::int32_t relative(Number number, Number before)
    {
        const auto apart = static_cast<std::int64_t>(before - number);
        return before != kNone && apart == static_cast<std::int32_t>(apart) ? static_cast<std::int32_t>(apart) : 0;
    }
    Number known(Number number, std::int32_t relative) const
    {
        const Number other = number + static_cast<Number>(static_cast<std::int64_t>(relative));
        return relative != 0 && has(other) ? other : kNone;
    }
    /// A stream that is longer begins anew.
    static std::uint8_t one_more(std::uint8_t after)
    {
        return after == kMostAfter ? std::uint8_t{0} : static_cast<std::uint8_t>(after + 1);
    }

    BlockList<TrailBurst> bursts_;
    BlockList<BurstWaits> waits_;  // where explained
    std::array<Number, kClients> granted_ = none(), answered_ = none();
    struct {
        Number ended = 0, latest = kNone;
        std::array<Number, kClients> granted = none(), answered = none();
    } marked_;
    std::array<std::optional<ForgottenBurst>, kClients> forgotten_grants_, forgotten_answers_;
    Number offered_ = 0, ended_ = 0, latest_ = kNone;
    const TrailBurst *newest_ = nullptr, *latest_burst_ = nullptr;  // while they are known
};

/// Of one port.
struct PortTrail {
    static constexpr Cycle kBetweenAnswers = 3;  // answers no further apart than the port's interval and these follow each other

    PortTrail() { reads.streams = true; }
    BurstTrail reads, writes;
    std::uint32_t beat_interval = 1, command_interval = 1, write_interval = 1;
};

}  // namespace dlasim
