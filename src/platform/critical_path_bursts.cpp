// The walk through the bursts of the memory ports.
#include <algorithm>

#include "base/expects.h"
#include "facts/fabric.h"
#include "platform/critical_path.h"

namespace dlasim {
namespace {

constexpr Cycle kRequestPace = 8;      // requests of a client that are no further apart are its pace
constexpr Cycle kGrantToPort = 2;      // of a read, if nothing stands in the way
constexpr Cycle kInCommandStages = 3;  // between the arbiter and the port
constexpr Cycle kAnswerToClient = 2;   // write answer taken to the complete pulse: fabric.md 2.4

}  // namespace

/// The unit that reads or writes as this client.
TrailPlace CriticalPath::unit_of(unsigned client)
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

/// The latest burst of the client, over both ports, that has reached the stage by cycle `at`.
bool CriticalPath::find(unsigned client, bool write, Stage stage, Cycle at, Spot& spot) const
{
    std::optional<Cycle> best;
    for (unsigned port = 0; port < ports.size(); ++port) {
        const BurstTrail& trail = bursts(port, write);
        const std::vector<Number>& list = stage == Stage::First ? trail.answered(client) : trail.granted(client);
        const auto later =
            std::upper_bound(list.begin(), list.end(), at, [&](Cycle cycle, Number n) { return cycle < time_of(trail[n], stage); });
        if (later == list.begin()) continue;
        const Number n = *(later - 1);
        if (best && time_of(trail[n], stage) <= *best) continue;
        best = time_of(trail[n], stage);
        spot = {.place = spot.place, .burst = true, .write = write, .port = static_cast<std::uint8_t>(port), .stage = stage, .number = n};
    }
    return best.has_value();
}

/// The burst of the same client and port that was granted before it.
std::optional<CriticalPath::Number> CriticalPath::before(Number number) const
{
    const std::vector<Number>& list = bursts().granted(bursts()[number].client);
    const auto at = std::lower_bound(list.begin(), list.end(), number);
    if (at == list.begin()) return std::nullopt;
    return *(at - 1);
}

/// The first of the numbers up to `last` whose time is in the window.
template <class Time>
CriticalPath::Number CriticalPath::first_in_window(Number first, Number last, const Time& time) const
{
    if (time(first) > floor_) return first;
    while (first < last) {
        const Number middle = first + (last - first) / 2;
        if (time(middle) > floor_) last = middle;
        else first = middle + 1;
    }
    return first;
}

/// To the first burst of those that follow each other as closely as the way allows. False if that is this one.
bool CriticalPath::step_stream(const TrailBurst& burst)
{
    const BurstTrail& trail = bursts();
    const std::uint32_t after = spot_.stage == Stage::First      ? burst.answered_after
                                : spot_.stage == Stage::Accepted ? burst.accepted_after
                                : spot_.stage == Stage::Granted  ? burst.granted_after
                                                                 : 0;
    if (after <= 1) return false;
    Number number = spot_.number;
    if (spot_.stage == Stage::First) {
        const Number turn = first_in_window(burst.turn - after, burst.turn, [&](Number t) {
            return trail.answered(t) && trail.has(trail.of_turn(t)) ? trail[trail.of_turn(t)].first : 0;
        });
        number = trail.of_turn(turn);
    } else {
        number = first_in_window(number - after, number, [&](Number n) { return trail.has(n) ? time_of(trail[n], spot_.stage) : 0; });
    }
    if (number == spot_.number) return false;
    spend(Cause::Bandwidth, time_of(trail[number], spot_.stage), burst.client);
    go(spot_.stage, number);
    return true;
}

/// True for a read that follows one of the same client without a cycle between: the way is as full as it can be.
bool CriticalPath::streams(const TrailBurst& burst) const
{
    if (spot_.write || spot_.number == 0 || !bursts().has(spot_.number - 1)) return false;
    const TrailBurst& before = bursts()[spot_.number - 1];
    return before.client == burst.client && before.granted + 1 == burst.granted;
}

/// The request that a client made just before this one, in the same layer: it asks as fast as it does. False if there was none.
bool CriticalPath::step_ask(unsigned client)
{
    const Spot spot = spot_;
    for (unsigned port = 0; port < ports.size(); ++port) {
        const BurstTrail& trail = bursts(port, false);
        const std::vector<Number>& list = trail.granted(client);
        const auto later = std::lower_bound(list.begin(), list.end(), at_, [&](Number n, Cycle at) { return trail[n].entered < at; });
        if (later == list.begin()) continue;
        const Number n = *(later - 1);
        if (trail[n].entered < segment().from) continue;
        if (trail[n].entered + kRequestPace < at_) return go(unit_of(client)), true;  // it had no room for one more
        spend(Cause::Requests, trail[n].entered, client);
        spot_ = {.place = spot.place,
                 .burst = true,
                 .write = false,
                 .port = static_cast<std::uint8_t>(port),
                 .stage = Stage::Entered,
                 .number = n};
        return true;
    }
    const Cycle earlier = entered_before_[client];  // before the window
    if (earlier == 0 || earlier < segment().from) return false;
    if (earlier + kRequestPace < at_) return go(unit_of(client)), true;
    spend(Cause::Requests, floor_, client);
    return true;
}

/// Nothing came for some time: the oldest burst that is on its way is not back yet. False if none is.
bool CriticalPath::step_in_flight(unsigned client, Cycle answered)
{
    std::optional<Spot> oldest;
    Cycle entered = kNever;
    for (unsigned port = 0; port < ports.size(); ++port) {
        const BurstTrail& trail = bursts(port, false);
        const std::vector<Number>& list = trail.granted(client);
        const auto next = std::partition_point(list.begin(), list.end(), [&](Number n) { return trail[n].first <= answered; });
        if (next == list.end() || trail[*next].entered >= std::min(at_, entered)) continue;
        entered = trail[*next].entered;
        oldest = {.place = spot_.place,
                  .burst = true,
                  .write = false,
                  .port = static_cast<std::uint8_t>(port),
                  .stage = stage_before(trail[*next], at_),
                  .number = *next};
        if (oldest->stage == Stage::First) oldest->stage = Stage::Accepted;  // on the way from the port
    }
    if (!oldest) return false;
    const TrailBurst& burst = bursts(oldest->port, false)[oldest->number];
    spend(oldest->stage == Stage::Accepted ? Cause::Latency : Cause::Interface, time_of(burst, oldest->stage), client);
    spot_ = *oldest;
    return true;
}

/// The beat that came last.
void CriticalPath::step_read(unsigned client)
{
    Spot spot = spot_;
    const Cycle way = facts::fabric::kEgressLatency;
    if (at_ <= floor_ + way) return spend(Cause::Interface, floor_, client);
    const bool any = find(client, false, Stage::First, at_ - way, spot);
    if (!any || at_ > bursts(spot.port, false)[spot.number].last + way + ports[spot.port].beat_interval + PortTrail::kBetweenAnswers) {
        if (step_in_flight(client, at_ - way)) return;
        if (!any && floor_ != 0) return spend(Cause::Latency, floor_, client);
        if (!any) return go(TrailPlace::Ask, client);
    }
    const TrailBurst& burst = bursts(spot.port, false)[spot.number];
    spend(Cause::Interface, std::max(burst.first, std::min(at_ - way, burst.last)), client);
    spend(Cause::Bandwidth, burst.first, client);
    spot_ = spot;
}

/// What made room last: a chunk of the client passed its credits, or was granted.
void CriticalPath::step_turn(unsigned client, bool write)
{
    Spot spot = spot_;
    if (!find(client, write, Stage::Granted, at_, spot)) {
        if (floor_ != 0) return spend(Cause::Interface, floor_, client);
        return spend(Cause::Interface, at_ - 1, client), go(unit_of(client));
    }
    Cycle since = bursts(spot.port, write)[spot.number].granted;
    if (Spot chunk = spot_; !write && find(client, write, Stage::Chunked, at_, chunk)) {
        const Cycle passed = bursts(chunk.port, write)[chunk.number].chunked;
        if (passed > since) spot = chunk, since = passed;
    }
    spend(Cause::Interface, since, client);
    spot_ = spot;
}

void CriticalPath::step_answer(unsigned client)
{
    Spot spot = spot_;
    if (at_ <= floor_ + kAnswerToClient) return spend(Cause::Interface, floor_, client);
    if (!find(client, true, Stage::First, at_ - kAnswerToClient, spot)) {
        if (floor_ != 0) return spend(Cause::Interface, floor_, client);
        return spend(Cause::Interface, at_ - 1, client), go(unit_of(client));
    }
    spend(Cause::Interface, bursts(spot.port, true)[spot.number].first, client);
    spot_ = spot;
}

Cycle CriticalPath::time_of(const TrailBurst& burst, Stage stage)
{
    switch (stage) {
        case Stage::Entered:
            return burst.entered;
        case Stage::Chunked:
            return burst.chunked;
        case Stage::Granted:
            return burst.granted;
        case Stage::Accepted:
            return burst.accepted;
        case Stage::First:
            return burst.first;
    }
    return 0;
}

/// The last one that it has reached before that cycle.
CriticalPath::Stage CriticalPath::stage_before(const TrailBurst& burst, Cycle before)
{
    for (const Stage stage : {Stage::First, Stage::Accepted, Stage::Granted, Stage::Chunked})
        if (time_of(burst, stage) < before) return stage;
    return Stage::Entered;
}

bool CriticalPath::step_burst()
{
    const BurstTrail& trail = bursts();
    DLASIM_EXPECTS(trail.has(spot_.number));
    if (meets_at_burst()) return true;
    const TrailBurst& burst = trail[spot_.number];
    if (step_stream(burst)) return false;
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
    return false;
}

/// The port was busy with the answer before, or the memory had not answered.
void CriticalPath::step_first(const TrailBurst& burst)
{
    const BurstTrail& trail = bursts();
    if (!spot_.write && burst.turn != 0 && trail.answered(burst.turn - 1) && trail.has(trail.of_turn(burst.turn - 1))) {
        const Number before = trail.of_turn(burst.turn - 1);
        const TrailBurst& other = trail[before];
        const Cycle busy = other.last + ports[spot_.port].beat_interval + (burst.due < burst.first ? PortTrail::kBetweenAnswers : 0);
        if (busy >= burst.first && other.first < burst.first) {
            spend(other.client == burst.client ? Cause::Bandwidth : Cause::Arbitration, other.first, other.client);
            return go(Stage::First, before);
        }
    }
    spend(Cause::Interface, burst.due, burst.client);
    if (trail.explained) {
        const BurstWaits& waits = trail.waits(spot_.number);
        spend_waits(waits.waited, burst.accepted, burst.client);
        if (spot_.write) spend_waits(waits.taken, burst.accepted, burst.client);
    }
    spend(spot_.write ? Cause::WriteBack : Cause::Latency, burst.accepted, burst.client);
    go(Stage::Accepted, spot_.number);
}

/// The port was busy with the command or the data before, or it was offered no earlier.
void CriticalPath::step_accepted(const TrailBurst& burst)
{
    const BurstTrail& trail = bursts();
    const PortTrail& port = ports[spot_.port];
    if (spot_.number != 0 && trail.has(spot_.number - 1)) {
        const Number before = spot_.number - 1;
        const TrailBurst& other = trail[before];
        const Cycle pace =
            spot_.write ? std::max<Cycle>(port.command_interval, Cycle{burst.beats} * port.write_interval) : port.command_interval;
        const bool held =
            spot_.write ? pace > burst.beats || burst.accepted == other.accepted + burst.beats : burst.accepted > burst.offered;
        if (held && other.accepted < burst.accepted && other.accepted + pace >= burst.accepted) {
            spend(other.client == burst.client ? Cause::Bandwidth : Cause::Arbitration, other.accepted, other.client);
            return go(Stage::Accepted, before);
        }
    }
    if (trail.explained && spot_.write)
        for (Number before = spot_.number; before-- > trail.base();) {  // there was no room for one more in front of the memory
            const Cycle taken = trail.waits(before).accepted;
            if (taken <= burst.offered) break;
            if (taken > burst.accepted) continue;
            spend(Cause::Interface, taken, burst.client);
            spend_waits(trail.waits(before).taken, trail[before].accepted, trail[before].client);
            spend(Cause::DramQueue, trail[before].accepted, trail[before].client);
            return go(Stage::Accepted, before);
        }
    if (trail.explained && !spot_.write) {
        const DramCycles& taken = trail.waits(spot_.number).taken;
        spend_waits(taken, burst.offered, burst.client);
        const auto most = static_cast<std::size_t>(std::max_element(taken.begin(), taken.end()) - taken.begin());
        spend(dram_cause(most), burst.offered, burst.client);  // what was lost to rounding
    }
    if (burst.accepted > burst.offered) spend(spot_.write ? Cause::Interface : Cause::Bandwidth, burst.offered, burst.client);
    if (!spot_.write && spot_.number != 0 && trail.has(spot_.number - 1)) {  // it stood in a stage until the one before it had left
        const TrailBurst& other = trail[spot_.number - 1];
        if (burst.offered > burst.granted + kGrantToPort && other.accepted + 1 >= burst.offered && other.accepted < at_) {
            spend(other.client == burst.client ? Cause::Bandwidth : Cause::Arbitration, other.accepted, other.client);
            return go(Stage::Accepted, spot_.number - 1);
        }
    }
    if (burst.limited) {
        // Room came with the answers to others.
        Number answered = 0;
        bool any = false;
        for (std::uint64_t turn = trail.turns(); turn-- > trail.first_turn() && !any;) {
            answered = trail.of_turn(turn);
            any = trail.has(answered) && trail[answered].last < at_;
        }
        if (any) {
            spend(Cause::Credits, trail[answered].last, burst.client);
            spend(Cause::Bandwidth, trail[answered].first, trail[answered].client);
            return go(Stage::First, answered);
        }
    }
    const bool full = streams(burst) && at_ <= burst.granted + kGrantToPort;
    spend(full ? Cause::Bandwidth : Cause::Interface, burst.granted, burst.client);
    go(Stage::Granted, spot_.number);
}

/// The arbiter served others, the stages behind it were full, or there was nothing to serve.
void CriticalPath::step_granted(const TrailBurst& burst)
{
    const BurstTrail& trail = bursts();
    if (burst.granted > burst.chunked + 1 && spot_.number != 0 && trail.has(spot_.number - 1)) {
        Number left = spot_.number - 1;  // the last one that had left the stages
        while (left != trail.base() && trail[left].accepted > burst.granted) --left;
        if (const TrailBurst& other = trail[left]; other.accepted <= burst.granted && other.accepted + kInCommandStages >= burst.granted &&
                                                   other.accepted > burst.chunked && other.accepted > other.granted + kInCommandStages) {
            spend(other.client == burst.client ? Cause::Bandwidth : Cause::Arbitration, other.accepted, other.client);
            return go(Stage::Accepted, left);
        }
        const Number before = spot_.number - 1;
        const TrailBurst& other = trail[before];
        if (other.granted > burst.chunked && other.granted < burst.granted) {
            spend(other.client == burst.client ? Cause::Bandwidth : Cause::Arbitration, other.granted, other.client);
            return go(Stage::Granted, before);
        }
    }
    spend(streams(burst) ? Cause::Bandwidth : Cause::Interface, burst.chunked, burst.client);
    go(Stage::Chunked, spot_.number);
}

/// A credit came, the chunk before it left, or the request had not entered.
void CriticalPath::step_chunked(const TrailBurst& burst)
{
    if (burst.credits) {
        spend(Cause::Credits, burst.chunked - facts::fabric::kCreditLatency, burst.client);
        return go(unit_of(burst.client));
    }
    if (const auto before = spot_.write ? std::nullopt : this->before(spot_.number)) {
        const TrailBurst& other = bursts()[*before];
        if (other.granted <= burst.chunked && other.granted + 1 >= burst.chunked && other.granted > burst.entered) {
            spend(Cause::Interface, other.granted, burst.client);
            return go(Stage::Granted, *before);
        }
        if (other.entered == burst.entered && other.chunked < burst.chunked) {
            spend(Cause::Interface, other.chunked, burst.client);
            return go(Stage::Chunked, *before);
        }
    }
    spend(Cause::Interface, burst.entered, burst.client);
    go(Stage::Entered, spot_.number);
}

/// The interface did not take the request earlier, or the client made it no earlier.
void CriticalPath::step_entered(const TrailBurst& burst)
{
    if (spot_.write) {
        return go_to_sender(unit_of(burst.client));
    }
    if (burst.refused) {
        for (auto before = this->before(spot_.number); before; before = this->before(*before)) {
            const TrailBurst& other = bursts()[*before];
            if (other.chunked >= burst.entered) continue;
            spend(Cause::Interface, other.chunked, burst.client);
            return go(Stage::Chunked, *before);
        }
    }
    go(TrailPlace::Ask, burst.client);
}

}  // namespace dlasim
