// The walk through the bursts of the memory ports.
#include <algorithm>

#include "base/expects.h"
#include "facts/fabric.h"
#include "platform/path_rules.h"

namespace dlasim {
namespace {

constexpr Cycle kRequestPace = 8;       // requests of a client that are no further apart are its pace
constexpr Cycle kGrantToPort = 2;       // of a read, without competition
constexpr unsigned kHopsOneByOne = 16;  // to earlier bursts of a client, before they are searched for
constexpr Cycle kInCommandStages = 3;   // between the arbiter and the port
constexpr Cycle kAnswerToClient = 2;    // write answer taken to the complete pulse: fabric.md 2.4

}  // namespace

/// The unit that reads or writes as this client.
TrailPlace PathRules::unit_of(unsigned client)
{
    switch (static_cast<Client>(client)) {
        case Client::Bdma:
            return TrailPlace::Bdma;
        case Client::Pdp:
            return TrailPlace::Pdp;
        case Client::Cdp:
            return TrailPlace::Cdp;
        case Client::Rubik:
            return TrailPlace::Rubik;
        case Client::CdmaData:
            return TrailPlace::CdmaData;
        case Client::CdmaWeight:
            return TrailPlace::CdmaWeight;
        default:
            return TrailPlace::Sdp;
    }
}

/// The latest burst of the client at which `later` is false; of those before it, too. `use`: what is asked. `granted`: it is true of all
/// that were granted after this cycle.
template <class Later>
BurstTrail::Number PathRules::back(unsigned port, bool write, unsigned client, bool answers, unsigned use, Cycle granted,
                                   const Later& later)
{
    const BurstTrail& trail = bursts(port, write);
    Number& seen = seen_[port][write][client][use];  // a walk asks for earlier and earlier ones
    Number n = trail.has(seen) && later(trail[seen]) ? seen : answers ? trail.answered(client) : trail.granted(client);
    const TrailBurst* burst = trail.find(n);
    for (unsigned hops = 0; burst && later(*burst); burst = trail.find(n)) {
        if (++hops == kHopsOneByOne && trail.has(n)) n = trail.granted_behind(granted, client, n);
        seen = n;
        n = answers ? trail.answered_before(n) : trail.granted_before(n);
    }
    return n;
}

/// The latest burst of the client, over both ports, that has reached the stage by cycle `at`; null: none.
const TrailBurst* PathRules::find(unsigned client, bool write, Stage stage, Cycle at, PathSpot& spot)
{
    const TrailBurst* best = nullptr;
    for (unsigned port = 0; port < ports_.size(); ++port) {
        const BurstTrail& trail = bursts(port, write);
        const bool answers = stage == Stage::First;
        const Number n = back(port, write, client, answers, static_cast<unsigned>(stage), stage < Stage::Granted ? kNever : at,
                              [&](const TrailBurst& burst) { return time_of(burst, stage) > at; });
        const TrailBurst* const burst = trail.find(n);
        if (!burst || (best && time_of(*burst, stage) <= time_of(*best, stage))) continue;
        best = burst;
        spot = {.burst = true, .write = write, .port = static_cast<std::uint8_t>(port), .stage = stage, .number = n};
    }
    return best;
}

/// To the first burst of those that follow each other as closely as the way allows. False if that is this one.
bool PathRules::step_stream(const TrailBurst& burst)
{
    const BurstTrail& trail = bursts();
    const Stage stage = spot_.stage;
    const std::uint8_t after = stage == Stage::First      ? burst.answered_after
                               : stage == Stage::Accepted ? burst.accepted_after
                               : stage == Stage::Granted  ? burst.granted_after
                                                          : std::uint8_t{0};
    if (after <= 1) return false;
    const Number number = stage == Stage::First ? burst.stream(spot_.number) : spot_.number - after;
    DLASIM_EXPECTS(trail.has(number));
    spend(Cause::Bandwidth, time_of(trail[number], stage), burst.client);
    go(stage, number);
    return true;
}

/// True for a read that follows one of the same client without a cycle between: the way is as full as it can be.
bool PathRules::streams(const TrailBurst& burst) const
{
    if (spot_.write || spot_.number == 0 || !bursts().has(spot_.number - 1)) return false;
    const TrailBurst& before = bursts()[spot_.number - 1];
    return before.client == burst.client && before.granted + 1 == burst.granted;
}

/// The request that a client made just before this one, in the same layer: it asks as fast as it does. False if there was none.
bool PathRules::step_ask(unsigned client)
{
    PathSpot last;
    Cycle entered = 0;
    for (unsigned port = 0; port < ports_.size(); ++port) {
        const BurstTrail& trail = bursts(port, false);
        const Number n = back(port, false, client, false, static_cast<unsigned>(Stage::Entered), kNever,
                              [&](const TrailBurst& burst) { return burst.entered() >= spot_.at; });
        const TrailBurst* const burst = trail.find(n);
        if (!burst || burst->entered() <= entered) continue;
        entered = burst->entered();
        last = {.burst = true, .port = static_cast<std::uint8_t>(port), .stage = Stage::Entered, .number = n};
    }
    if (entered == 0 || entered < segment().from) return false;
    if (entered + kRequestPace < spot_.at) return go(unit_of(client)), true;  // its queue was full
    spend(Cause::Requests, entered, client);
    go(last);
    return true;
}

/// Nothing came for some time: the oldest burst that is on its way is not back yet. False if none is.
bool PathRules::step_in_flight(unsigned client, Cycle answered)
{
    std::optional<PathSpot> oldest;
    Cycle entered = kNever;
    for (unsigned port = 0; port < ports_.size(); ++port) {
        const BurstTrail& trail = bursts(port, false);
        back(port, false, client, false, kInFlight, answered, [&](const TrailBurst& burst) { return burst.first() > answered; });
        const Number n = seen_[port][false][client][kInFlight];
        if (!trail.has(n) || trail[n].first() <= answered || trail[n].entered() >= std::min(spot_.at, entered)) continue;
        entered = trail[n].entered();
        oldest = {.burst = true, .port = static_cast<std::uint8_t>(port), .stage = stage_before(trail[n], spot_.at), .number = n};
        if (oldest->stage == Stage::First) oldest->stage = Stage::Accepted;  // on the way from the port
    }
    if (!oldest) return false;
    const TrailBurst& burst = bursts(oldest->port, false)[oldest->number];
    spend(oldest->stage == Stage::Accepted ? Cause::Latency : Cause::Interface, time_of(burst, oldest->stage), client);
    go(*oldest);
    return true;
}

/// The beat that came last.
void PathRules::step_read(unsigned client)
{
    PathSpot spot;
    const Cycle way = facts::fabric::kEgressLatency, answered = spot_.at - std::min(spot_.at, way);
    const TrailBurst* burst = find(client, false, Stage::First, answered, spot);
    if (!burst || spot_.at > burst->last() + way + ports_[spot.port].beat_interval + PortTrail::kBetweenAnswers) {
        if (step_in_flight(client, answered)) return;
        if (!burst) return go(TrailPlace::Ask, client);
    }
    spend(Cause::Interface, std::max(burst->first(), std::min(answered, burst->last())), client);
    spend(Cause::Bandwidth, burst->first(), client);
    go(spot);
}

/// What freed a slot last: a chunk of the client passed its credits, or was granted.
void PathRules::step_turn(unsigned client, bool write)
{
    PathSpot spot, chunked;
    const TrailBurst* granted = find(client, write, Stage::Granted, spot_.at, spot);
    if (!granted) return spend(Cause::Interface, spot_.at - 1, client), go(unit_of(client));
    Cycle since = granted->granted;
    if (const TrailBurst* chunk = write ? nullptr : find(client, write, Stage::Chunked, spot_.at, chunked);
        chunk && chunk->chunked() > since)
        spot = chunked, since = chunk->chunked();
    spend(Cause::Interface, since, client);
    go(spot);
}

void PathRules::step_answer(unsigned client)
{
    PathSpot spot;
    const TrailBurst* burst = find(client, true, Stage::First, spot_.at - std::min(spot_.at, kAnswerToClient), spot);
    if (!burst) return spend(Cause::Interface, spot_.at - 1, client), go(unit_of(client));
    spend(Cause::Interface, burst->first(), client);
    go(spot);
}

/// The last one that it has reached before that cycle.
BurstStage PathRules::stage_before(const TrailBurst& burst, Cycle before)
{
    for (const Stage stage : {Stage::First, Stage::Accepted, Stage::Granted, Stage::Chunked})
        if (time_of(burst, stage) < before) return stage;
    return Stage::Entered;
}

void PathRules::step_burst()
{
    const TrailBurst& burst = this->burst(spot_.number);
    if (step_stream(burst)) return;
    switch (spot_.stage) {
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
void PathRules::step_first(const TrailBurst& burst)
{
    const BurstTrail& trail = bursts();
    if (const Number before = trail.any_answered_before(spot_.number); !spot_.write && before != BurstTrail::kNone) {
        const TrailBurst& other = this->burst(before);
        const Cycle busy = other.last() + ports_[spot_.port].beat_interval + (burst.due() < burst.first() ? PortTrail::kBetweenAnswers : 0);
        if (busy >= burst.first() && other.first() < burst.first()) {
            spend(other.client == burst.client ? Cause::Bandwidth : Cause::Arbitration, other.first(), other.client);
            return go(Stage::First, before);
        }
    }
    spend(Cause::Interface, burst.due(), burst.client);
    if (trail.explained) {
        const BurstWaits& waits = trail.waits(spot_.number);
        spend_waits(waits.waited, burst.accepted(), burst.client);
        if (spot_.write) spend_waits(waits.taken, burst.accepted(), burst.client);
    }
    spend(spot_.write ? Cause::WriteBack : Cause::Latency, burst.accepted(), burst.client);
    go(Stage::Accepted, spot_.number);
}

/// The port was busy with the command or the data before, or it was offered no earlier.
void PathRules::step_accepted(const TrailBurst& burst)
{
    const BurstTrail& trail = bursts();
    const PortTrail& port = ports_[spot_.port];
    if (spot_.number != 0 && trail.has(spot_.number - 1)) {
        const Number before = spot_.number - 1;
        const TrailBurst& other = trail[before];
        const Cycle pace =
            spot_.write ? std::max<Cycle>(port.command_interval, Cycle{burst.beats} * port.write_interval) : port.command_interval;
        const bool held =
            spot_.write ? pace > burst.beats || burst.accepted() == other.accepted() + burst.beats : burst.accepted() > burst.offered();
        if (held && other.accepted() < burst.accepted() && other.accepted() + pace >= burst.accepted()) {
            spend(other.client == burst.client ? Cause::Bandwidth : Cause::Arbitration, other.accepted(), other.client);
            return go(Stage::Accepted, before);
        }
    }
    if (trail.explained && spot_.write)
        for (Number before = spot_.number; before-- > trail.base();) {  // the queue at the memory was full
            const Cycle taken = trail.waits(before).accepted;
            if (taken <= burst.offered()) break;
            if (taken > burst.accepted()) continue;
            spend(Cause::Interface, taken, burst.client);
            spend_waits(trail.waits(before).taken, trail[before].accepted(), trail[before].client);
            spend(Cause::DramQueue, trail[before].accepted(), trail[before].client);
            return go(Stage::Accepted, before);
        }
    if (trail.explained && !spot_.write) {
        const DramCycles& taken = trail.waits(spot_.number).taken;
        spend_waits(taken, burst.offered(), burst.client);
        if (spot_.at > burst.offered()) {
            const auto most = static_cast<std::size_t>(std::max_element(taken.begin(), taken.end()) - taken.begin());
            spend(dram_cause(most), burst.offered(), burst.client);  // what was lost to rounding
        }
    }
    if (burst.accepted() > burst.offered()) spend(spot_.write ? Cause::Interface : Cause::Bandwidth, burst.offered(), burst.client);
    if (!spot_.write && spot_.number != 0 && trail.has(spot_.number - 1)) {  // it was in a stage until the previous one had left
        const TrailBurst& other = trail[spot_.number - 1];
        if (burst.offered() > burst.granted + kGrantToPort && other.accepted() + 1 >= burst.offered() && other.accepted() < spot_.at) {
            spend(other.client == burst.client ? Cause::Bandwidth : Cause::Arbitration, other.accepted(), other.client);
            return go(Stage::Accepted, spot_.number - 1);
        }
    }
    if (burst.limited) {
        // Responses to others freed the slot.
        Number answered = trail.latest();
        while (trail.has(answered) && trail[answered].last() >= spot_.at) answered = trail.any_answered_before(answered);
        if (trail.has(answered)) {
            spend(Cause::Credits, trail[answered].last(), burst.client);
            spend(Cause::Bandwidth, trail[answered].first(), trail[answered].client);
            return go(Stage::First, answered);
        }
    }
    const bool full = streams(burst) && spot_.at <= burst.granted + kGrantToPort;
    spend(full ? Cause::Bandwidth : Cause::Interface, burst.granted, burst.client);
    go(Stage::Granted, spot_.number);
}

/// The arbiter served others, the stages after it were full, or there was nothing to serve.
void PathRules::step_granted(const TrailBurst& burst)
{
    const BurstTrail& trail = bursts();
    if (burst.granted > burst.chunked() + 1 && spot_.number != 0 && trail.has(spot_.number - 1)) {
        Number left = spot_.number - 1;  // the last one that had left the stages
        while (left != trail.base() && trail[left].accepted() > burst.granted) --left;
        if (const TrailBurst& other = trail[left];
            other.accepted() <= burst.granted && other.accepted() + kInCommandStages >= burst.granted &&
            other.accepted() > burst.chunked() && other.accepted() > other.granted + kInCommandStages) {
            spend(other.client == burst.client ? Cause::Bandwidth : Cause::Arbitration, other.accepted(), other.client);
            return go(Stage::Accepted, left);
        }
        const Number before = spot_.number - 1;
        const TrailBurst& other = trail[before];
        if (other.granted > burst.chunked() && other.granted < burst.granted) {
            spend(other.client == burst.client ? Cause::Bandwidth : Cause::Arbitration, other.granted, other.client);
            return go(Stage::Granted, before);
        }
    }
    spend(streams(burst) ? Cause::Bandwidth : Cause::Interface, burst.chunked(), burst.client);
    go(Stage::Chunked, spot_.number);
}

/// A credit came, the chunk before it left, or the request had not entered.
void PathRules::step_chunked(const TrailBurst& burst)
{
    if (burst.credits) {
        spend(Cause::Credits, burst.chunked() - facts::fabric::kCreditLatency, burst.client);
        return go(unit_of(burst.client));
    }
    if (const Number before = bursts().granted_before(spot_.number); !spot_.write && before != BurstTrail::kNone) {
        const TrailBurst& other = this->burst(before);
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
    go(Stage::Entered, spot_.number);
}

/// The interface did not take the request earlier, or the client made it no earlier.
void PathRules::step_entered(const TrailBurst& burst)
{
    if (spot_.write) return go_to_sender(unit_of(burst.client));
    if (burst.refused) {
        for (Number before = bursts().granted_before(spot_.number); before != BurstTrail::kNone; before = bursts().granted_before(before)) {
            const TrailBurst& other = this->burst(before);
            if (other.chunked() >= burst.entered()) continue;
            spend(Cause::Interface, other.chunked(), burst.client);
            return go(Stage::Chunked, before);
        }
    }
    go(TrailPlace::Ask, burst.client);
}

}  // namespace dlasim
