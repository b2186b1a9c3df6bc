// What every burst of a memory port waited for: the cycles in which it went from stage to stage. Kept by MCIF or CVIF and the
// bridge at its port; read by cause_walk.h.
//
//   read    request enters ─► credits, chunk ─► granted ─► offered at the port ─► accepted ─► answer due ─► first beat ─► last beat
//   write   data enter ─► chunk complete ─► granted ─► offered ─► accepted ─► answer due ─► answer taken
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <utility>

#include "base/block_list.h"
#include "base/cause.h"
#include "base/cycle.h"
#include "facts/client.h"

namespace dlasim {

/// Attributes of a burst other than its cycles.
struct BurstFlags {
    std::uint8_t client, beats;
    bool refused;  // read: the request was offered before it could enter
    bool credits;  // read: it waited for a credit
    bool limited;  // it waited for a beat on its way: CFG_OUTSTANDING_CNT
    // How many bursts of the same client it follows as closely as the way allows, kMostAfter at most: their time is bandwidth.
    std::uint8_t granted_after, accepted_after, answered_after;
};

/// What is known of a burst in front of the arbiter.
struct PendingChunk {
    Cycle entered;  // the request; of a write its last data
    Cycle chunked;  // the chunk is at the arbiter
    BurstFlags marks;
};

/// Notes are on the path of every burst: it is one line of the processor's cache, and of cycles and numbers only the lower half is kept.
/// Nothing is further apart than that: numbers so old have been forgotten, and no memory answers after four thousand million cycles.
/// A cycle is kNever until its event has occurred.
class alignas(64) BurstRecord : public BurstFlags {
public:
    using Number = std::uint64_t;
    static constexpr Number kNone = ~Number{0};

    Cycle granted;  // by the arbiter

    Cycle entered() const { return granted - (low(granted) - entered_); }
    Cycle chunked() const { return granted - (low(granted) - chunked_); }
    Cycle offered() const { return after_granted(offered_); }  // at the port: the command of a read, the first data of a write
    Cycle accepted() const { return after_granted(accepted_); }
    Cycle due() const { return after_granted(due_); }      // the answer, if the port were free
    Cycle first() const { return after_granted(first_); }  // its first beat is taken; of a write the answer
    Cycle last() const { return after_granted(last_); }    // its last one
    // Of others, by its own number; kNone: none.
    Number same_granted(Number own) const { return near(own, same_granted_); }    // granted before it for its client
    Number same_answered(Number own) const { return near(own, same_answered_); }  // answered before it for its client
    Number answered(Number own) const { return near(own, answered_); }            // answered before it
    Number stream(Number own) const { return near(own, stream_); }  // with which the stream of answers that it is part of began

    void grant(const PendingChunk& chunk, Cycle at, Number own, Number same)
    {
        static_cast<BurstFlags&>(*this) = chunk.marks;
        granted = at;
        entered_ = low(chunk.entered);
        chunked_ = low(chunk.chunked);
        offered_ = accepted_ = due_ = first_ = last_ = low(at) - 1;
        same_granted_ = other(own, same);
        stream_ = low(own);
    }
    void offer(Cycle at) { offered_ = low(at); }
    void accept(Cycle at) { accepted_ = low(at); }
    void begin_answer(Cycle due, Cycle at, Number own, Number before, Number same)
    {
        due_ = low(due);
        first_ = low(at);
        answered_ = other(own, before);
        same_answered_ = other(own, same);
    }
    void begin_stream(Number own) { stream_ = low(own); }
    void join_stream(const BurstRecord& before) { stream_ = before.stream_; }
    void end_answer(Cycle at) { last_ = low(at); }

    // Of one that has come so far; quicker than the cycles.
    bool accepted_at_once() const { return accepted_ == offered_; }
    std::uint32_t since_accepted(Cycle at) const { return low(at) - accepted_; }
    std::uint32_t since_answered(Cycle at) const { return low(at) - last_; }

private:
    static std::uint32_t low(std::uint64_t value) { return static_cast<std::uint32_t>(value); }
    Cycle after_granted(std::uint32_t at) const
    {
        const std::uint32_t distance = at - low(granted);
        return distance == UINT32_MAX ? kNever : granted + distance;
    }
    static std::uint32_t other(Number own, Number number) { return low(number == kNone ? own : number); }
    static Number near(Number own, std::uint32_t other)
    {
        const auto apart = static_cast<std::int32_t>(other - low(own));
        return apart == 0 ? kNone : own + static_cast<Number>(std::int64_t{apart});
    }

    std::uint32_t entered_, chunked_, offered_, accepted_, due_, first_, last_;
    std::uint32_t same_granted_, same_answered_, answered_, stream_;
};
static_assert(sizeof(BurstRecord) == 64);

/// What a memory that explains itself did with a burst.
struct alignas(64) BurstWaits {
    DramCycles taken;   // before it took it
    DramCycles waited;  // before it answered
    Cycle accepted;     // it took it
};

/// The last one of a client that is known no longer.
struct ForgottenBurst {
    std::uint64_t number;
    BurstRecord burst;
};

/// Bursts of one direction, numbered from 0 in the order in which they are granted. Answers come in another one.
class BurstLog {
public:
    using Number = BurstRecord::Number;
    static constexpr std::uint8_t kMostAfter = 63;
    static constexpr Number kNone = BurstRecord::kNone;
    static constexpr Number kNear = 64;  // how far a burst of a client is looked for among others

    BurstRecord& operator[](Number number) { return bursts_[number]; }
    const BurstRecord& operator[](Number number) const { return bursts_[number]; }
    bool has(Number number) const { return bursts_.has(number); }
    /// The burst, also if it is the last one known of a client that has not been forgotten with the others; null: it is not known.
    const BurstRecord* find(Number number) const
    {
        if (has(number)) return &bursts_[number];
        for (const std::optional<ForgottenBurst>& kept : forgotten_)
            if (kept && kept->number == number) return &kept->burst;
        return nullptr;
    }
    Number base() const { return bursts_.base(); }
    Number end() const { return bursts_.end(); }
    /// The last one of a client, by grants and by answers. kNone: none.
    Number granted(unsigned client) const { return granted_[client]; }
    Number answered(unsigned client) const { return answered_[client]; }
    /// The one before a burst, by grants or answers of its client, or answers of all; kNone: none, or it is known no longer.
    Number granted_before(Number number) const { return known(find(number)->same_granted(number)); }
    Number answered_before(Number number) const { return known(find(number)->same_answered(number)); }
    Number any_answered_before(Number number) const { return known(find(number)->answered(number)); }

    void grant(const PendingChunk& chunk, Cycle at, std::uint32_t beats)
    {
        const Number number = end();
        BurstRecord& burst = bursts_.extend();
        __builtin_prefetch(reinterpret_cast<const char*>(&burst) + 2 * sizeof(BurstRecord), 1);
        Number& same = granted_[chunk.marks.client];
        burst.grant(chunk, at, number, same);
        burst.beats = static_cast<std::uint8_t>(beats);
        if (streams && chunk.chunked + 1 == at && !chunk.marks.credits && number != base()) {
            const BurstRecord& before = *newest_;
            if (before.client == burst.client && before.granted == chunk.chunked && before.granted > chunk.entered)
                burst.granted_after = saturating_increment(before.granted_after);
        }
        newest_ = &burst;
        same = number;
        if (explained) waits_.extend() = {.taken = {}, .waited = {}, .accepted = kNever};
    }
    BurstWaits& waits(Number number) { return waits_[number]; }
    const BurstWaits& waits(Number number) const { return waits_[number]; }
    /// The first burst of the client that was granted after that cycle, or a later one of these: `otherwise` at the latest.
    Number first_granted_after(Cycle cycle, unsigned client, Number otherwise) const
    {
        Number first = base(), last = otherwise;
        while (first < last) {
            const Number middle = first + (last - first) / 2;
            if ((*this)[middle].granted > cycle) last = middle;
            else first = middle + 1;
        }
        for (const Number near = std::min(first + kNear, otherwise); first < near; ++first)
            if ((*this)[first].client == client) return first;
        return otherwise;
    }
    /// The next one is at the port from this cycle on.
    std::pair<Number, BurstRecord*> offer(Cycle at)
    {
        offered_burst_ = bursts_.next(offered_burst_, offered_);
        offered_burst_->offer(at);
        return {offered_++, offered_burst_};
    }
    /// `burst`: that of the number. `interval`: of the port's commands.
    void accept(BurstRecord& burst, Number number, Cycle at, Cycle interval)
    {
        burst.accept(at);
        if (!streams || burst.accepted_at_once() || number == base()) return;
        const BurstRecord& before = (*this)[number - 1];
        if (before.client == burst.client && before.since_accepted(at) <= interval)
            burst.accepted_after = saturating_increment(before.accepted_after);
    }
    /// `due`: the earliest possible cycle. An answer at most `busy` cycles after the previous one of its client, or `busy` + `follows`
    /// if it is late, counts as back to back.
    void answer(BurstRecord& burst, Number number, Cycle due, Cycle at, Cycle busy, Cycle follows)
    {
        Number& same = answered_[burst.client];
        burst.begin_answer(due, at, number, latest_, same);
        if (streams) {
            const BurstRecord* const before = latest_burst_;
            const bool close = before && before->client == burst.client && before->since_answered(at) <= busy + (due < at ? follows : 0);
            if (close && before->answered_after != kMostAfter) {
                burst.answered_after = static_cast<std::uint8_t>(before->answered_after + 1);
                burst.join_stream(*before);
            } else {
                burst.begin_stream(number);
            }
        }
        same = latest_ = number;
        latest_burst_ = &burst;
    }
    /// The answer has ended.
    static void finish(BurstRecord& burst, Cycle at) { burst.end_answer(at); }
    /// The one that was answered last: later ones may have waited for it. kNone: none.
    Number latest() const { return latest_; }

    /// A chunk that waits in front of the arbiter, or a request of which none has come there: it has the highest number while walks look
    /// at what is known now. In order of each client, after all that were granted.
    void add_pending(const PendingChunk& chunk)
    {
        if (pending_from_ == kNone) {
            pending_from_ = end();
            granted_for_good_ = granted_;
        }
        Number& same = granted_[chunk.marks.client];
        bursts_.extend().grant(chunk, chunk.entered + kNotGranted, end() - 1, same);
        same = end() - 1;
        if (explained) waits_.extend() = {.taken = {}, .waited = {}, .accepted = kNever};
    }
    bool pending(Number number) const { return number >= pending_from_; }
    /// They are granted later, in the order that the arbiter gives them.
    void drop_pending()
    {
        if (pending_from_ == kNone) return;
        bursts_.shorten(pending_from_);
        if (explained) waits_.shorten(pending_from_);
        granted_ = granted_for_good_;
        pending_from_ = kNone;
    }
    /// When a chunk that has not reached the arbiter will: never, as far as is known.
    static constexpr Cycle kNotGranted = Cycle{1} << 30;

    /// The first one that a walk from a cycle after `since` can ask for, beside the last one of each client before it: all that had
    /// not ended then, and what these may have waited for or followed in a stream.
    Number needed_from(Cycle since) const
    {
        Number keep = base();
        while (keep < end() && (*this)[keep].last() <= since) ++keep;
        const Number oldest = keep;
        for (Number n = latest_; has(n); n = any_answered_before(n)) {
            keep = std::min({keep, n, std::max((*this)[n].stream(n), base())});
            if ((*this)[n].last() <= since) break;
        }
        if (explained && !streams) keep = std::min(keep, taken_before(oldest, since));
        return keep - std::min<Number>(keep - base(), streams ? kMostAfter + 1 : 1);
    }
    /// The last one of the client in front of `keep`, by grants or answers. kNone: none.
    Number last_before(Number keep, unsigned client, bool answers) const
    {
        Number n = answers ? answered_[client] : granted_[client];
        while (has(n) && n >= keep) n = answers ? answered_before(n) : granted_before(n);
        return n;
    }
    /// Those before `keep`, but for the last one of each client.
    void forget(Number keep)
    {
        std::array<std::optional<ForgottenBurst>, 2 * kClients> kept;
        for (unsigned client = 0; client < kClients; ++client)
            for (const bool answers : {false, true})
                if (const Number n = last_before(keep, client, answers); n != kNone) kept[2 * client + answers] = {n, *find(n)};
        forgotten_ = kept;
        bursts_.forget(keep);
        if (!has(latest_)) latest_burst_ = nullptr;
        if (explained) waits_.forget(keep);
    }

    bool explained = false;  // by the memory: set before the first burst
    bool streams = false;    // bursts that follow each other closely are looked for: of reads

private:
    static constexpr std::array<Number, kClients> none()
    {
        std::array<Number, kClients> all{};
        all.fill(kNone);
        return all;
    }
    Number known(Number number) const { return has(number) || (number != kNone && find(number)) ? number : kNone; }
    /// Writes that the memory took after one that it had not accepted after `since` was offered: that one waited for them. The one before.
    Number taken_before(Number oldest, Cycle since) const
    {
        Cycle offered = kNever;
        for (Number n = oldest; n < end(); ++n)
            if ((*this)[n].accepted() > since) offered = std::min(offered, (*this)[n].offered());
        Number first = oldest;
        while (first > base() && waits_[first - 1].accepted > offered) --first;
        return first - (first > base());
    }
    /// A longer stream starts over.
    static std::uint8_t saturating_increment(std::uint8_t after)
    {
        return after == kMostAfter ? std::uint8_t{0} : static_cast<std::uint8_t>(after + 1);
    }

    BlockList<BurstRecord> bursts_;
    BurstRecord* offered_burst_ = nullptr;
    const BurstRecord *newest_ = nullptr, *latest_burst_ = nullptr;  // while they are known
    Number offered_ = 0, latest_ = kNone;
    std::array<Number, kClients> granted_ = none(), answered_ = none();
    BlockList<BurstWaits> waits_;                                        // where explained
    std::array<std::optional<ForgottenBurst>, 2 * kClients> forgotten_;  // by client: granted, answered
    Number pending_from_ = kNone;
    std::array<Number, kClients> granted_for_good_ = none();  // while some are pending
};

/// Of one port.
struct BurstLogs {
    static constexpr Cycle kBetweenAnswers = 3;  // answers no further apart than the port's interval and these follow each other

    BurstLogs() { reads.streams = true; }
    BurstLog reads, writes;
    std::uint32_t beat_interval = 1, command_interval = 1, write_interval = 1;
    // As BurstLog::answer() has them.
    Cycle busy(bool write) const { return write ? 1 : beat_interval; }
    static constexpr Cycle follows(bool write) { return write ? 0 : kBetweenAnswers; }
};

}  // namespace dlasim
