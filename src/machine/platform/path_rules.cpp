#include "platform/path_rules.h"

#include <algorithm>
#include <bit>

namespace dlasim {
namespace {

constexpr unsigned kFewHops = 4;       // within a cycle: more may be a loop
constexpr unsigned kMaxHops = 128;     // within a cycle: then it is one, of bursts alone
constexpr Cycle kLongestDrain = 1024;  // of what a unit sent last, within it
constexpr Cycle kBeforeStart = 4;      // a unit shows its start to others within this number of cycles
constexpr auto kNoPlace = static_cast<TrailPlace>(kTrailPlaces);

/// Which client of a family a place is; nothing if it is of another one.
std::optional<unsigned> client_of(TrailPlace place, TrailPlace family, unsigned count)
{
    const auto at = static_cast<unsigned>(place), first = static_cast<unsigned>(family);
    if (at < first || at >= first + count) return std::nullopt;
    return at - first;
}

}  // namespace

PathRules::PathRules(const Trails& trails, const std::array<PortTrail, 2>& ports) : trails_(trails), ports_(ports) { begin(); }

void PathRules::begin()
{
    runs_.clear();
    for (auto& port : seen_)
        for (auto& direction : port)
            for (auto& client : direction) client.fill(BurstTrail::kNone);
}

void PathRules::stand(const PathSpot& spot)
{
    spot_ = spot;
    paced_.reset();
    last_cause_ = {};
    hops_ = 0;
}

void PathRules::step()
{
    const Cycle before = spot_.at;
    paced_.reset();
    if (spot_.burst) step_burst();
    else step_place();
    hops_ = spot_.at == before ? hops_ + 1 : 0;
    if (hops_ >= kFewHops) break_loop();
}

/// Wherever the walk came into the loop, it leaves it at the same place. Brent's algorithm: the spot at each power of two is compared with
/// those that follow.
void PathRules::break_loop()
{
    if (hops_ == kFewHops) loops_ = false;
    else if (spot_ == marked_) loops_ = true;
    if (!loops_ && std::has_single_bit(hops_)) marked_ = spot_, lowest_ = kNoPlace;
    if (!spot_.burst) lowest_ = std::min(lowest_, spot_.place);
    const bool leaves = lowest_ == kNoPlace ? hops_ > kMaxHops : loops_ && !spot_.burst && spot_.place == lowest_;
    if (!leaves) return;
    if (spot_.burst) go(unit_of(burst(spot_.number).client));
    spend(segment().cause, spot_.at - 1);
    hops_ = 0;
}

void PathRules::spend(Cause cause, Cycle down_to, unsigned client)
{
    last_cause_ = {cause, name_of(cause).by_client ? static_cast<std::uint8_t>(client) : ExactCause::kNoClient};
    if (down_to >= spot_.at) return;
    spot_.at = down_to;
    runs_.push_back({down_to, last_cause_});
}

/// What the memory says of it, but not below that cycle.
void PathRules::spend_waits(const DramCycles& waits, Cycle down_to, unsigned client)
{
    for (std::size_t i = 0; i < kDramCauses; ++i)
        if (waits[i] != 0 && spot_.at > down_to)
            spend(dram_cause(i), std::max(down_to, spot_.at - std::min<Cycle>(spot_.at, waits[i])), client);
}

void PathRules::go(TrailPlace place) { spot_ = {.place = place, .at = spot_.at}; }

void PathRules::go(Stage stage, Number number)
{
    spot_.burst = true;
    spot_.stage = stage;
    spot_.number = number;
}

/// In this cycle.
void PathRules::go(PathSpot burst)
{
    burst.at = spot_.at;
    spot_ = burst;
}

void PathRules::go_to_sender(TrailPlace place)
{
    go(place);
    spot_.sent = place <= TrailPlace::Rubik;
}

/// What it sent came here. If it has nothing to do any more, it sent it before: true.
bool PathRules::step_sent()
{
    spot_.sent = false;
    const Trail::Segment& here = segment();
    if (!here.idle || here.from == 0 || spot_.at >= here.from + kLongestDrain) return false;
    const bool begins = &here != &trails_[spot_.place].segments().back() &&
                        (&here + 1)->from <= spot_.at + kBeforeStart;  // it is about to: software made it
    if (begins) return false;
    spend(Cause::Drain, here.from - 1);
    return true;
}

/// What the place says of the cycle.
const Trail::Segment& PathRules::segment()
{
    const std::vector<Trail::Segment>& segments = trails_[spot_.place].segments();
    std::size_t& last = last_segment_[static_cast<std::size_t>(spot_.place)];
    const auto holds = [&](std::size_t n) {
        return n < segments.size() && (n == 0 || segments[n].from <= spot_.at) &&
               (n + 1 == segments.size() || spot_.at < segments[n + 1].from);
    };
    if (holds(last)) return segments[last];
    if (last != 0 && holds(last - 1)) return segments[--last];
    const auto next =
        std::upper_bound(segments.begin() + 1, segments.end(), spot_.at, [](Cycle at, const Trail::Segment& s) { return at < s.from; });
    last = static_cast<std::size_t>(next - segments.begin()) - 1;
    return segments[last];
}

void PathRules::step_place()
{
    if (spot_.sent && step_sent()) return;
    if (const auto client = client_of(spot_.place, TrailPlace::Read, kClients)) return step_read(*client);
    if (const auto client = client_of(spot_.place, TrailPlace::Turn, kClients)) return step_turn(*client, false);
    if (const auto client = client_of(spot_.place, TrailPlace::Room, kWriteClients)) return step_turn(*client, true);
    if (const auto client = client_of(spot_.place, TrailPlace::Answer, kWriteClients)) return step_answer(*client);
    const Trail::Segment& segment = this->segment();
    const auto asks = client_of(spot_.place, TrailPlace::Ask, kClients);
    if (asks && unit_of(*asks) != TrailPlace::CdmaData && unit_of(*asks) != TrailPlace::CdmaWeight && step_ask(*asks)) return;
    if (segment.next == spot_.place) {
        if (segment.from == 0) return spend(segment.cause, 0);
        spend(segment.cause, segment.from - 1, asks.value_or(ExactCause::kNoClient));
        paced_ = static_cast<std::size_t>(&segment - trails_[spot_.place].segments().data());
        return;
    }
    const Cycle from = segment.event ? segment.from : spot_.at;
    if (segment.lag != 0 || segment.event) spend(segment.cause, from - std::min<Cycle>(from, segment.lag));
    go_to_sender(segment.next);
}

}  // namespace dlasim
