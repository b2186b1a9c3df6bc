// The walk through the bursts of the memory ports.
#include <algorithm>

#include "base/expects.h"
#include "causes/cause_walk.h"
#include "facts/fabric.h"

namespace dlasim {
namespace {

constexpr Cycle kRequestPace = 8;       // requests of a client that are no further apart are its pace
constexpr Cycle kGrantToPort = 2;       // of a read, without competition
constexpr unsigned kHopsOneByOne = 16;  // to earlier bursts of a client, before they are searched for
constexpr Cycle kInCommandStages = 3;   // between the arbiter and the port
constexpr Cycle kAnswerToClient = 2;    // write answer taken to the complete pulse: fabric.md 2.4

}  // namespace

/// The unit that reads or writes as this client.
WaitPoint CauseWalk::unit_of(unsigned client)
{
    static const auto kUnits = [] {  // not constexpr: under UndefinedBehaviorSanitizer GCC takes no comparison with nullptr for a constant
        std::array<WaitPoint, kClients> units{};
        for (std::size_t i = 0; i < kClients; ++i) {
            const UnitPoints* own = find_points(kClientNames[i]);  // of CDMA each client has one
            units[i] = (own ? own : find_points(unit_of_client(i)))->works;
        }
        return units;
    }();
    return kUnits[client];
}

/// The latest burst of the client at which `later` is false; of those before it, too. `use`: what is asked. `granted`: it is true of all
/// that were granted after this cycle.
template <class Later>
BurstLog::Number CauseWalk::back(unsigned port, bool write, unsigned client, bool answers, unsigned use, Cycle granted, const Later& later)
{
    const BurstLog& log = bursts(port, write);
    Number& seen = seen_[port][write][client][use];  // a walk asks for earlier and earlier ones
    Number n = log.has(seen) && later(log[seen]) ? seen : answers ? log.answered(client) : log.granted(client);
    const BurstRecord* burst = log.find(n);
    for (unsigned hops = 0; burst && later(*burst); burst = log.find(n)) {
        if (++hops == kHopsOneByOne && log.has(n)) n = log.first_granted_after(granted, client, n);
        seen = n;
        n = answers ? log.answered_before(n) : log.granted_before(n);
    }
    return n;
}

/// The latest burst of the client, over both ports, that has reached the stage by cycle `at`; null: none.
const BurstRecord* CauseWalk::find(unsigned client, bool write, Stage stage, Cycle at, PathPoint& point)
{
    const BurstRecord* best = nullptr;
    for (unsigned port = 0; port < ports_.size(); ++port) {
        const BurstLog& log = bursts(port, write);
        const bool answers = stage == Stage::First;
        const Number n = back(port, write, client, answers, static_cast<unsigned>(stage), stage < Stage::Granted ? kNever : at,
                              [&](const BurstRecord& burst) { return time_of(burst, stage) > at; });
        const BurstRecord* const burst = log.find(n);
        if (!burst || (best && time_of(*burst, stage) <= time_of(*best, stage))) continue;
        best = burst;
        point = {.burst = true, .write = write, .port = static_cast<std::uint8_t>(port), .stage = stage, .number = n};
    }
    return best;
}

/// To the first burst of those that follow each other as closely as the way allows. False if that is this one.
bool CauseWalk::step_stream(const BurstRecord& burst)
{
    const BurstLog& log = bursts();
    const Stage stage = point_.stage;
    const std::uint8_t after = stage == Stage::First      ? burst.answered_after
                               : stage == Stage::Accepted ? burst.accepted_after
                               : stage == Stage::Granted  ? burst.granted_after
                                                          : std::uint8_t{0};
    if (after <= 1) return false;
    const Number number = stage == Stage::First ? burst.stream(point_.number) : point_.number - after;
    DLASIM_EXPECTS(log.has(number));
    spend(Cause::Bandwidth, time_of(log[number], stage), burst.client);
    go(stage, number);
    return true;
}

/// True for a read that follows one of the same client without a cycle between: the way is as full as it can be.
bool CauseWalk::streams(const BurstRecord& burst) const
{
    if (point_.write || point_.number == 0 || !bursts().has(point_.number - 1)) return false;
    const BurstRecord& before = bursts()[point_.number - 1];
    return before.client == burst.client && before.granted + 1 == burst.granted;
}

/// The request that a client made just before this one, in the same layer: it asks as fast as it does. False if there was none.
bool CauseWalk::step_ask(unsigned client)
{
    PathPoint last;
    Cycle entered = 0;
    for (unsigned port = 0; port < ports_.size(); ++port) {
        const BurstLog& log = bursts(port, false);
        const Number n = back(port, false, client, false, static_cast<unsigned>(Stage::Entered), kNever,
                              [&](const BurstRecord& burst) { return burst.entered() >= point_.at; });
        const BurstRecord* const burst = log.find(n);
        if (!burst || burst->entered() <= entered) continue;
        entered = burst->entered();
        last = {.burst = true, .port = static_cast<std::uint8_t>(port), .stage = Stage::Entered, .number = n};
    }
    if (entered == 0 || entered < segment().from) return false;
    if (entered + kRequestPace < point_.at) return go(unit_of(client)), true;  // its queue was full
    spend(Cause::Requests, entered, client);
    go(last);
    return true;
}

/// Nothing came for some time: the oldest burst that is on its way is not back yet. False if none is.
bool CauseWalk::step_in_flight(unsigned client, Cycle answered)
{
    std::optional<PathPoint> oldest;
    Cycle entered = kNever;
    for (unsigned port = 0; port < ports_.size(); ++port) {
        const BurstLog& log = bursts(port, false);
        back(port, false, client, false, kInFlight, answered, [&](const BurstRecord& burst) { return burst.first() > answered; });
        const Number n = seen_[port][false][client][kInFlight];
        if (!log.has(n) || log[n].first() <= answered || log[n].entered() >= std::min(point_.at, entered)) continue;
        entered = log[n].entered();
        oldest = {.burst = true, .port = static_cast<std::uint8_t>(port), .stage = stage_before(log[n], point_.at), .number = n};
        if (oldest->stage == Stage::First) oldest->stage = Stage::Accepted;  // on the way from the port
    }
    if (!oldest) return false;
    const BurstRecord& burst = bursts(oldest->port, false)[oldest->number];
    spend(oldest->stage == Stage::Accepted ? Cause::Latency : Cause::Interface, time_of(burst, oldest->stage), client);
    go(*oldest);
    return true;
}

/// The beat that came last.
void CauseWalk::step_read(unsigned client)
{
    PathPoint point;
    const Cycle way = facts::fabric::kEgressLatency, answered = point_.at - std::min(point_.at, way);
    const BurstRecord* burst = find(client, false, Stage::First, answered, point);
    if (!burst || point_.at > burst->last() + way + ports_[point.port].beat_interval + BurstLogs::kBetweenAnswers) {
        if (step_in_flight(client, answered)) return;
        if (!burst) return go(WaitPoint::Ask, client);
    }
    spend(Cause::Interface, std::max(burst->first(), std::min(answered, burst->last())), client);
    spend(Cause::Bandwidth, burst->first(), client);
    go(point);
}

/// What freed a slot last: a chunk of the client passed its credits, or was granted.
void CauseWalk::step_turn(unsigned client, bool write)
{
    PathPoint point, chunked;
    const BurstRecord* granted = find(client, write, Stage::Granted, point_.at, point);
    if (!granted) return spend(Cause::Interface, point_.at - 1, client), go(unit_of(client));
    Cycle since = granted->granted;
    if (const BurstRecord* chunk = write ? nullptr : find(client, write, Stage::Chunked, point_.at, chunked);
        chunk && chunk->chunked() > since)
        point = chunked, since = chunk->chunked();
    spend(Cause::Interface, since, client);
    go(point);
}

void CauseWalk::step_answer(unsigned client)
{
    PathPoint point;
    const BurstRecord* burst = find(client, true, Stage::First, point_.at - std::min(point_.at, kAnswerToClient), point);
    if (!burst) return spend(Cause::Interface, point_.at - 1, client), go(unit_of(client));
    spend(Cause::Interface, burst->first(), client);
    go(point);
}

/// The last one that it has reached before that cycle.
BurstStage CauseWalk::stage_before(const BurstRecord& burst, Cycle before)
{
    for (const Stage stage : {Stage::First, Stage::Accepted, Stage::Granted, Stage::Chunked})
        if (time_of(burst, stage) < before) return stage;
    return Stage::Entered;
}

void CauseWalk::step_burst()
{
    const BurstRecord& burst = this->burst(point_.number);
    if (step_stream(burst)) return;
    switch (point_.stage) {
        case Stage::First:
            step_first(burst);
            break;
        case Stage::Accepted:
            step_accepted(burst);
            break;
        case Stage::Granted:
            step_granted(burst);
            break;
        case Stage::Chunked:
            step_chunked(burst);
            break;
        case Stage::Entered:
            step_entered(burst);
            break;
    }
}

/// The port was busy with the answer before, or the memory had not answered.
void CauseWalk::step_first(const BurstRecord& burst)
{
    const BurstLog& log = bursts();
    if (const Number before = log.any_answered_before(point_.number); !point_.write && before != BurstLog::kNone) {
        const BurstRecord& other = this->burst(before);
        const Cycle busy =
            other.last() + ports_[point_.port].beat_interval + (burst.due() < burst.first() ? BurstLogs::kBetweenAnswers : 0);
        if (busy >= burst.first() && other.first() < burst.first()) {
            spend(other.client == burst.client ? Cause::Bandwidth : Cause::Arbitration, other.first(), other.client);
            return go(Stage::First, before);
        }
    }
    spend(Cause::Interface, burst.due(), burst.client);
    if (log.explained) {
        const BurstWaits& waits = log.waits(point_.number);
        spend_waits(waits.waited, burst.accepted(), burst.client);
        if (point_.write) spend_waits(waits.taken, burst.accepted(), burst.client);
    }
    spend(point_.write ? Cause::WriteBack : Cause::Latency, burst.accepted(), burst.client);
    go(Stage::Accepted, point_.number);
}

/// The port was busy with the command or the data before, or it was offered no earlier.
void CauseWalk::step_accepted(const BurstRecord& burst)
{
    const BurstLog& log = bursts();
    const BurstLogs& port = ports_[point_.port];
    if (point_.number != 0 && log.has(point_.number - 1)) {
        const Number before = point_.number - 1;
        const BurstRecord& other = log[before];
        const Cycle pace =
            point_.write ? std::max<Cycle>(port.command_interval, Cycle{burst.beats} * port.write_interval) : port.command_interval;
        const bool held =
            point_.write ? pace > burst.beats || burst.accepted() == other.accepted() + burst.beats : burst.accepted() > burst.offered();
        if (held && other.accepted() < burst.accepted() && other.accepted() + pace >= burst.accepted()) {
            spend(other.client == burst.client ? Cause::Bandwidth : Cause::Arbitration, other.accepted(), other.client);
            return go(Stage::Accepted, before);
        }
    }
    if (log.explained && point_.write)
        for (Number before = point_.number; before-- > log.base();) {  // the queue at the memory was full
            const Cycle taken = log.waits(before).accepted;
            if (taken <= burst.offered()) break;
            if (taken > burst.accepted()) continue;
            spend(Cause::Interface, taken, burst.client);
            spend_waits(log.waits(before).taken, log[before].accepted(), log[before].client);
            spend(Cause::DramQueue, log[before].accepted(), log[before].client);
            return go(Stage::Accepted, before);
        }
    if (log.explained && !point_.write) {
        const DramCycles& taken = log.waits(point_.number).taken;
        spend_waits(taken, burst.offered(), burst.client);
        if (point_.at > burst.offered()) {
            const auto most = static_cast<std::size_t>(std::max_element(taken.begin(), taken.end()) - taken.begin());
            spend(dram_cause(most), burst.offered(), burst.client);  // what was lost to rounding
        }
    }
    if (burst.accepted() > burst.offered()) spend(point_.write ? Cause::Interface : Cause::Bandwidth, burst.offered(), burst.client);
    if (!point_.write && point_.number != 0 && log.has(point_.number - 1)) {  // it was in a stage until the previous one had left
        const BurstRecord& other = log[point_.number - 1];
        if (burst.offered() > burst.granted + kGrantToPort && other.accepted() + 1 >= burst.offered() && other.accepted() < point_.at) {
            spend(other.client == burst.client ? Cause::Bandwidth : Cause::Arbitration, other.accepted(), other.client);
            return go(Stage::Accepted, point_.number - 1);
        }
    }
    if (burst.limited) {
        // Responses to others freed the slot.
        Number answered = log.latest();
        while (log.has(answered) && log[answered].last() >= point_.at) answered = log.any_answered_before(answered);
        if (log.has(answered)) {
            spend(Cause::Credits, log[answered].last(), burst.client);
            spend(Cause::Bandwidth, log[answered].first(), log[answered].client);
            return go(Stage::First, answered);
        }
    }
    const bool full = streams(burst) && point_.at <= burst.granted + kGrantToPort;
    spend(full ? Cause::Bandwidth : Cause::Interface, burst.granted, burst.client);
    go(Stage::Granted, point_.number);
}

/// The arbiter served others, the stages after it were full, or there was nothing to serve.
void CauseWalk::step_granted(const BurstRecord& burst)
{
    const BurstLog& log = bursts();
    if (burst.granted > burst.chunked() + 1 && point_.number != 0 && log.has(point_.number - 1)) {
        Number left = point_.number - 1;  // the last one that had left the stages
        while (left != log.base() && log[left].accepted() > burst.granted) --left;
        if (const BurstRecord& other = log[left];
            other.accepted() <= burst.granted && other.accepted() + kInCommandStages >= burst.granted &&
            other.accepted() > burst.chunked() && other.accepted() > other.granted + kInCommandStages) {
            spend(other.client == burst.client ? Cause::Bandwidth : Cause::Arbitration, other.accepted(), other.client);
            return go(Stage::Accepted, left);
        }
        const Number before = point_.number - 1;
        const BurstRecord& other = log[before];
        if (other.granted > burst.chunked() && other.granted < burst.granted) {
            spend(other.client == burst.client ? Cause::Bandwidth : Cause::Arbitration, other.granted, other.client);
            return go(Stage::Granted, before);
        }
    }
    spend(streams(burst) ? Cause::Bandwidth : Cause::Interface, burst.chunked(), burst.client);
    go(Stage::Chunked, point_.number);
}

/// A credit came, the chunk before it left, or the request had not entered.
void CauseWalk::step_chunked(const BurstRecord& burst)
{
    if (burst.credits) {
        spend(Cause::Credits, burst.chunked() - facts::fabric::kCreditLatency, burst.client);
        return go(unit_of(burst.client));
    }
    if (const Number before = bursts().granted_before(point_.number); !point_.write && before != BurstLog::kNone) {
        const BurstRecord& other = this->burst(before);
        if (other.granted <= burst.chunked() && other.granted + 1 >= burst.chunked() && other.granted > burst.entered()) {
            spend(Cause::Interface, other.granted, burst.client);
            return go(Stage::Granted, before);
        }
        if (other.entered() == burst.entered() && other.chunked() < burst.chunked()) {
            spend(Cause::Interface, other.chunked(), burst.client);
            return go(Stage::Chunked, before);
        }
    }
    spend(Cause::Interface, burst.entered(), burst.client);
    go(Stage::Entered, point_.number);
}

/// The interface did not take the request earlier, or the client made it no earlier.
void CauseWalk::step_entered(const BurstRecord& burst)
{
    if (point_.write) return go_to_sender(unit_of(burst.client));
    if (burst.refused) {
        for (Number before = bursts().granted_before(point_.number); before != BurstLog::kNone; before = bursts().granted_before(before)) {
            const BurstRecord& other = this->burst(before);
            if (other.chunked() >= burst.entered()) continue;
            spend(Cause::Interface, other.chunked(), burst.client);
            return go(Stage::Chunked, before);
        }
    }
    go(WaitPoint::Ask, burst.client);
}

}  // namespace dlasim
