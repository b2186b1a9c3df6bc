#include "platform/critical_path.h"

#include <algorithm>

#include "base/expects.h"

namespace dlasim {
namespace {

constexpr unsigned kMaxHops = 64;      // within a cycle: then it is a loop
constexpr unsigned kQuietWindows = 4;  // a client without bursts in so many waits for software
constexpr Cycle kLongestDrain = 1024;  // of what a unit sent last, within it
constexpr Cycle kBeforeStart = 4;      // a unit shows its start to others within so many cycles

/// Which client of a family a place is; nothing if it is of another one.
std::optional<unsigned> client_of(TrailPlace place, TrailPlace family, unsigned count)
{
    const auto at = static_cast<unsigned>(place), first = static_cast<unsigned>(family);
    if (at < first || at >= first + count) return std::nullopt;
    return at - first;
}

}  // namespace

CriticalPath::CriticalPath() : pasts_(1) {}

// ---- windows

void CriticalPath::look()
{
    begin_window();
    Entries entries;
    const Cycle last = window_end_ - 1;
    std::array<std::uint32_t, kTrailPlaces> of_place{};
    for (std::size_t place = 0; place < kTrailPlaces; ++place) {
        quiet_[place] = moves(static_cast<TrailPlace>(place)) ? 0 : quiet_[place] + 1;
        of_place[place] = quiet_[place] > kQuietWindows ? of_place[0] : walk({.place = static_cast<TrailPlace>(place)}, last);
    }
    std::vector<std::pair<std::uint64_t, std::uint32_t>> of_burst;
    for (unsigned port = 0; port < ports.size(); ++port)
        for (const bool write : {false, true}) {
            const BurstTrail& trail = bursts(port, write);
            Number n = std::min(trail.ended(), trail.latest());
            if (trail.end() >= trail.base() + 2) n = std::min(n, trail.end() - 2);
            for (n = std::max(n, trail.base()); n < trail.end(); ++n) {
                const TrailBurst& burst = trail[n];
                if ((burst.last <= last && n != trail.latest() && n + 2 < trail.end()) || burst.entered > last) continue;
                const Stage stage = stage_before(burst, window_end_);
                const Spot spot{.place = TrailPlace::Software,
                                .burst = true,
                                .write = write,
                                .port = static_cast<std::uint8_t>(port),
                                .stage = stage,
                                .number = n};
                of_burst.emplace_back(key(port, write, n), walk(spot, time_of(burst, stage)));
            }
        }
    std::optional<std::uint32_t> of_interrupt;
    while (!interrupts_.empty() && interrupts_.front() <= last) {
        if (interrupts_.size() == 1 || interrupts_[1] > last) {
            of_interrupt = walk({.place = TrailPlace::Pin}, interrupts_.front());
            entries.interrupted = interrupts_.front();
        }
        interrupts_.erase(interrupts_.begin());
    }
    const std::vector<std::uint32_t> past = keep_walks();
    for (std::size_t place = 0; place < kTrailPlaces; ++place) entries.places[place] = past[of_place[place]];
    for (const auto& [number, of] : of_burst) entries.bursts.emplace(number, past[of]);
    entries.interrupt = of_interrupt ? past[*of_interrupt] : entries_.interrupt;
    if (!of_interrupt) entries.interrupted = entries_.interrupted;
    entries_ = std::move(entries);
    prune();

    for (unsigned port = 0; port < ports.size(); ++port)
        for (unsigned client = 0; client < kClients; ++client)
            if (const auto& granted = bursts(port, false).granted(client); !granted.empty())
                entered_before_[client] = std::max(entered_before_[client], bursts(port, false)[granted.back()].entered);
    for (std::size_t place = 0; place < kTrailPlaces; ++place) trails[static_cast<TrailPlace>(place)].forget(window_end_);
    for (PortTrail& port : ports) {
        port.reads.forget(window_end_);
        port.writes.forget(window_end_);
    }
    Cycle oldest = last;  // a burst that is on its way for long has an entry of an earlier window
    for (const auto& [number, of] : entries_.bursts) oldest = std::min(oldest, pasts_[of].time);
    std::erase_if(cuts_, [oldest](Cycle cut) { return cut <= oldest; });
    floor_ = last;
    window_end_ += kWindow;
}

/// True for a place with a trail, and for one whose client has bursts.
bool CriticalPath::moves(TrailPlace place) const
{
    const auto any = [&](unsigned client, bool write) {
        return !bursts(0, write).granted(client).empty() || !bursts(1, write).granted(client).empty();
    };
    if (const auto client = client_of(place, TrailPlace::Read, kClients)) return any(*client, false);
    if (const auto client = client_of(place, TrailPlace::Turn, kClients)) return any(*client, false);
    if (const auto client = client_of(place, TrailPlace::Room, kWriteClients)) return any(*client, true);
    if (const auto client = client_of(place, TrailPlace::Answer, kWriteClients)) return any(*client, true);
    return true;
}

void CriticalPath::begin_window()
{
    std::sort(cuts_.begin(), cuts_.end());
    walks_.clear();
    met_.clear();
    ++round_;
    for (unsigned port = 0; port < ports.size(); ++port)
        for (const bool write : {false, true}) {
            const BurstTrail& trail = bursts(port, write);
            if (auto& met = met_bursts_[port][write]; met.size() < trail.end() - trail.base()) met.resize(trail.end() - trail.base());
        }
}

// ---- walks

/// Its number.
std::uint32_t CriticalPath::walk(Spot spot, Cycle at)
{
    const auto number = static_cast<std::uint32_t>(walks_.size());
    walks_.emplace_back().start = at;
    spot_ = spot;
    at_ = at;
    last_cause_ = {};
    hops_ = 0;
    for (;;) {
        if (at_ <= floor_) {
            land();
            return number;
        }
        const Cycle before = at_;
        if (spot_.burst ? step_burst() : step_place()) return number;
        hops_ = at_ == before ? hops_ + 1 : 0;
        if (hops_ <= kMaxHops) continue;
        if (spot_.burst) go(unit_of(bursts()[spot_.number].client));
        spend(trails[spot_.place].segments().back().cause, at_ - 1);
        hops_ = 0;
    }
}

/// At an entry of this window: what the last hop was for has the cycles to where that begins, too.
void CriticalPath::land()
{
    std::uint32_t past = 0;
    if (floor_ != 0) {
        past = entries_.places[static_cast<std::size_t>(spot_.place)];
        if (spot_.burst) {
            const auto found = entries_.bursts.find(key(spot_.port, spot_.write, spot_.number));
            const TrailPlace family = spot_.write ? TrailPlace::Answer : TrailPlace::Read;
            const auto place = of_client(family, bursts()[spot_.number].client);
            past = found != entries_.bursts.end() ? found->second : entries_.places[static_cast<std::size_t>(place)];
        }
    }
    Walk& walk = walks_.back();
    const Cycle time = pasts_[past].time;
    DLASIM_EXPECTS(time <= at_);
    if (time < at_) walk.runs.push_back({time, last_cause_});
    walk.past = past;
}

/// True if another walk has been here in the same cycle: this one goes on as that one did.
bool CriticalPath::meets(std::uint64_t key)
{
    const auto number = static_cast<std::uint32_t>(walks_.size() - 1);
    const Mark here{number, static_cast<std::uint32_t>(walks_.back().runs.size()), at_};
    const auto [found, fresh] = met_.emplace(key, here);
    return !fresh && joins(*found);
}

/// The same at a burst. A walk passes through its stages: one of them is enough to meet at.
bool CriticalPath::meets_at_burst()
{
    BurstMark& met = met_bursts_[spot_.port][spot_.write][spot_.number - bursts().base()];
    if (met.round == round_) return met.stage == spot_.stage && joins(met.mark);
    met = {
        round_, spot_.stage, {static_cast<std::uint32_t>(walks_.size() - 1), static_cast<std::uint32_t>(walks_.back().runs.size()), at_}};
    return false;
}

bool CriticalPath::joins(const Mark& mark)
{
    if (mark.at != at_ || mark.walk == walks_.size() - 1) return false;
    walks_.back().joins = mark;
    return true;
}

void CriticalPath::spend(Cause cause, Cycle down_to, unsigned client)
{
    last_cause_ = {cause, name_of(cause).by_client ? static_cast<std::uint8_t>(client) : ExactCause::kNoClient};
    const Cycle after = std::max(down_to, floor_);
    if (after >= at_) return;
    at_ = after;
    walks_.back().runs.push_back({after, last_cause_});
}

/// What the memory says of it, but not below that cycle.
void CriticalPath::spend_waits(const DramCycles& waits, Cycle down_to, unsigned client)
{
    for (std::size_t i = 0; i < kDramCauses; ++i)
        if (waits[i] != 0 && at_ > down_to) spend(dram_cause(i), std::max(down_to, at_ - std::min<Cycle>(at_, waits[i])), client);
}

/// What it sent came here. If it has nothing to do any more, it sent it before.
void CriticalPath::go_to_sender(TrailPlace place)
{
    go(place);
    if (place > TrailPlace::Rubik) return;
    const Trail::Segment& here = segment();
    if (!here.idle || here.from == 0 || at_ >= here.from + kLongestDrain) return;
    const bool begins =
        &here != &trails[place].segments().back() && (&here + 1)->from <= at_ + kBeforeStart;  // it is about to: software made it
    if (!begins) spend(Cause::Drain, here.from - 1);
}

void CriticalPath::go(Stage stage, Number number)
{
    spot_.burst = true;
    spot_.stage = stage;
    spot_.number = number;
}

/// What the place says of the cycle.
const Trail::Segment& CriticalPath::segment() const
{
    const std::vector<Trail::Segment>& segments = trails[spot_.place].segments();
    const auto next =
        std::upper_bound(segments.begin() + 1, segments.end(), at_, [](Cycle at, const Trail::Segment& s) { return at < s.from; });
    return *(next - 1);
}

bool CriticalPath::step_place()
{
    if (const auto client = client_of(spot_.place, TrailPlace::Read, kClients)) return step_read(*client), false;
    if (const auto client = client_of(spot_.place, TrailPlace::Turn, kClients)) return step_turn(*client, false), false;
    if (const auto client = client_of(spot_.place, TrailPlace::Room, kWriteClients)) return step_turn(*client, true), false;
    if (const auto client = client_of(spot_.place, TrailPlace::Answer, kWriteClients)) return step_answer(*client), false;
    const TrailPlace place = spot_.place;
    const Trail::Segment& segment = this->segment();
    const auto asks = client_of(place, TrailPlace::Ask, kClients);
    if (asks && unit_of(*asks) != TrailPlace::CdmaData && unit_of(*asks) != TrailPlace::CdmaWeight && step_ask(*asks)) return false;
    const bool interrupt = place == TrailPlace::Pin || (place >= TrailPlace::SdpDone && place < TrailPlace::Ask);
    if (interrupt && floor_ != 0 && segment.from <= floor_)
        return spend(segment.cause, floor_), go(TrailPlace::Software), false;  // none came
    if (segment.next == place) {
        if (segment.from == 0) {
            spend(segment.cause, 0);
            return false;
        }
        spend(segment.cause, segment.from - 1, asks.value_or(ExactCause::kNoClient));
        return at_ > floor_ && meets(std::uint64_t{1} << 63 | static_cast<std::uint64_t>(place) << 52 | segment.from);
    }
    const Cycle from = segment.event ? segment.from : at_;
    if (segment.lag != 0 || segment.event) spend(segment.cause, from - std::min<Cycle>(from, segment.lag));
    else if (hops_ == kMaxHops) spend(segment.cause, at_ - 1);
    go_to_sender(segment.next);
    return false;
}

}  // namespace dlasim
