// Causes of operations that come again. What walks find at a floor is remembered together with what is known in front of it, and where
// they come to at a floor before it, with what they find on the way. Where all in front of a later floor is like that of the earlier one,
// and the same comes behind it, walks find the same: it is written down once more, in its order, and what is known then is what was known.
//
//     from ◄── runs between ── to          floor of now ◄═══ the same runs ═══
//     spots, trails            spots, trails         like from          like to
#include <algorithm>

#include "platform/critical_path.h"

namespace dlasim {
namespace {

// The floor is that far before the cycle of which it is asked: what is told late of what was before it has been told.
constexpr Cycle kTold = 1024;
constexpr Cycle kLongAgo = 2048;  // before the floor

}  // namespace

bool CriticalPath::remember(Cycle now, std::size_t most)
{
    if (now < floor_ + kTold) return false;
    tree_.keep_runs(true);
    std::vector<PathSpot> spots;
    if (now == floor_ + kTold) {  // behind a repeat
        for (const auto& [spot, node] : spots_) spots.push_back(spot);
    } else {
        begun_ = false;
        middle_ = now - kTold;
        for (PortTrail& port : ports)
            for (BurstTrail* const bursts : {&port.reads, &port.writes}) bursts->mark(0, middle_);
        spots = youngest_spots(now);
        to_floor(spots);
        size_ = size();
    }
    remember(now, spots);
    forget_floors(most);
    return true;
}

void CriticalPath::remember(Cycle name, const std::vector<PathSpot>& spots)
{
    Floor& floor = floors_.emplace_back();
    floor.name = name;
    floor.at = floor_;
    floor.spots = spots;
    for (std::size_t i = 0; i < spots.size(); ++i) {
        // a node of its own: what later walks find behind it is not put together with what was before
        Node& node = spots_.at(spots[i]);
        node = tree_.add(node);
        floor.nodes.push_back(node);
        floor.from.emplace(spots[i], i);
    }
    for (std::size_t place = 0; place < kTrailPlaces; ++place) floor.segments[place] = trails[static_cast<TrailPlace>(place)].segments();
    for (unsigned port = 0; port < ports.size(); ++port)
        for (const bool write : {false, true}) {
            const BurstTrail& trail = rules_.bursts(port, write);
            floor.bursts[port][write] = {trail.behind(floor_), trail.remembered()};
        }
    floor.interrupts = interrupts_;
}

/// No more than so many, and fewer where much would have to be kept.
void CriticalPath::forget_floors(std::size_t most)
{
    do {
        if (floors_.size() > most || (floors_.size() > 1 && tree_.runs_fill())) floors_.pop_front();
        Cycle oldest = kNever;
        for (const Floor& floor : floors_)
            for (const Node node : floor.nodes) oldest = std::min(oldest, tree_.time(node));
        tree_.forget_runs(oldest);
    } while (floors_.size() > 1 && tree_.runs_fill());
}

/// Which of the spots that were known so far those that are known now come from.
void CriticalPath::follow_floors(const std::vector<std::pair<PathSpot, PathSpot>>& from)
{
    for (Floor& floor : floors_) {
        std::unordered_map<PathSpot, std::size_t, SpotHash> now;
        for (const auto& [spot, before] : from)
            if (const auto known = floor.from.find(before); known != floor.from.end()) now.emplace(spot, known->second);
        floor.from = std::move(now);
    }
}

/// Who walks from behind the floor to one of these does so because there is none later, whenever it was: he lands there.
bool CriticalPath::long_ago(const ForgottenBurst& forgotten, const Floor& floor)
{
    return forgotten.burst.last() != kNever && forgotten.burst.last() + kLongAgo <= floor.at;
}

/// What is known in front of the second one is what was in front of the first one, as much later.
bool CriticalPath::alike(const Floor& first, const Floor& second)
{
    const Cycle period = second.at - first.at;
    for (std::size_t place = 0; place < kTrailPlaces; ++place) {
        const std::vector<Trail::Segment>&was = first.segments[place], &is = second.segments[place];
        if (was.size() != is.size()) return false;
        for (std::size_t i = 0; i < is.size(); ++i) {
            // walks do not go on to where one begins that began before the floor
            const bool any = i == 0 && was[i].from <= first.at && is[i].from <= second.at;
            if (!is[i].same(was[i]) || (!any && is[i].from != was[i].from + period)) return false;
        }
    }
    for (unsigned port = 0; port < first.bursts.size(); ++port)
        for (const bool write : {false, true}) {
            const Floor::Bursts &a = first.bursts[port][write], &b = second.bursts[port][write];
            const BurstTrail::Number more = b.behind - a.behind;
            const Cycle cycles = more == 0 ? 0 : period;
            const auto later = [&](const TrailBurst& was, const TrailBurst& is) {
                TrailBurst burst = was;
                burst.move(cycles, more);
                return burst == is;
            };
            if (b.known.base - a.known.base != more || !std::ranges::equal(a.known.bursts, b.known.bursts, later)) return false;
            for (std::size_t way = 0; way < a.known.forgotten.size(); ++way)
                for (unsigned client = 0; client < kClients; ++client) {
                    const auto &was = a.known.forgotten[way][client], &is = b.known.forgotten[way][client];
                    if (was.has_value() != is.has_value()) return false;
                    const bool one_port = !second.bursts[port ^ 1][write].known.forgotten[way][client];  // else the later one is found
                    if (!was || (was->number == is->number && is->burst.granted <= first.at)) continue;
                    if (one_port && long_ago(*was, first) && long_ago(*is, second)) continue;
                    if (is->number - was->number != more || !later(was->burst, is->burst)) return false;
                }
        }
    return true;
}

/// This one, or that of the same place, whenever it began.
std::optional<std::size_t> CriticalPath::spot_of(const std::vector<PathSpot>& spots, PathSpot spot)
{
    auto found = std::ranges::find(spots, spot);
    const auto of_place = [&](const PathSpot& other) {
        spot.at = other.at;
        return other == spot;
    };
    if (found == spots.end() && !spot.burst && std::ranges::count_if(spots, of_place) == 1) found = std::ranges::find_if(spots, of_place);
    if (found == spots.end()) return std::nullopt;
    return static_cast<std::size_t>(found - spots.begin());
}

/// From one to the other.
CriticalPath::Period CriticalPath::period(const Floor& first, const Floor& second)
{
    Period period{.first = first.at, .cycles = second.at - first.at};
    for (unsigned port = 0; port < first.bursts.size(); ++port)
        for (const bool write : {false, true})
            period.bursts[port][write] = second.bursts[port][write].behind - first.bursts[port][write].behind;
    return period;
}

std::shared_ptr<const CriticalPath::Way> CriticalPath::way(Cycle first, Cycle second) const
{
    const auto before = std::ranges::find(floors_, first, &Floor::name);
    if (before == floors_.end() || floors_.back().name != second) return nullptr;
    const Floor& now = floors_.back();
    auto way = std::make_shared<Way>(Way{*before, now, {}});
    way->landings.reserve(now.spots.size());
    for (std::size_t i = 0; i < now.spots.size(); ++i) {
        if (const auto same = std::ranges::find(before->spots, now.spots[i]); same != before->spots.end()) {
            way->landings.push_back({static_cast<std::size_t>(same - before->spots.begin()), true});
            continue;
        }
        const auto from = before->from.find(now.spots[i]);
        if (from == before->from.end()) return nullptr;
        const PathSpot& to = before->spots[from->second];
        std::optional<std::vector<SpentRuns>> spent = tree_.between(before->nodes[from->second], now.nodes[i]);
        if (!spent || spent->empty() || tree_.time(now.nodes[i]) != now.spots[i].at || tree_.time(before->nodes[from->second]) != to.at)
            return nullptr;
        const bool exact = to.at + spent->front().parts->front().cycles <= before->at;
        way->landings.push_back({from->second, false, exact, std::move(*spent)});
    }
    for (Floor* const floor : {&way->from, &way->to}) {
        floor->nodes.clear();
        floor->from.clear();
    }
    return way;
}

/// Where the spots that a way comes to are so much `later`, among those of then. Nothing if one is not there.
std::optional<std::vector<std::size_t>> CriticalPath::placed(const Way& way, const Period& later, const std::vector<PathSpot>& now)
{
    constexpr std::size_t kNone = SIZE_MAX;
    std::vector<std::size_t> places(way.from.spots.size(), kNone);
    for (const Landing& landing : way.landings) {
        if (places[landing.from] != kNone) continue;
        const PathSpot& spot = way.from.spots[landing.from];
        const bool stays = std::ranges::find(now, spot) != now.end();
        const std::optional<std::size_t> place = spot_of(now, stays ? spot : later.moved(spot, 1));
        if (!place || std::ranges::find(places, *place) != places.end()) return std::nullopt;
        // what began before the floor may have become longer, and nothing else of before it comes again
        if (landing.exact && now[*place] != later.moved(spot, 1)) return std::nullopt;
        places[landing.from] = *place;
    }
    return places;
}

bool CriticalPath::repeat(const Way& way, std::uint64_t times, const std::vector<Cycle>& cuts)
{
    if (floors_.empty() || floors_.back().at != floor_) return false;
    const Floor& now = floors_.back();
    const Period later = period(way.from, now), period = this->period(way.from, way.to);
    if (!alike(way.from, now) || (times > 1 && !alike(way.from, way.to))) return false;
    const auto places = placed(way, later, now.spots), again = placed(way, period, way.to.spots);
    if (!places || (times > 1 && !again)) return false;
    std::vector<PathSpot> spots = now.spots;  // where the time that comes next begins
    std::vector<Node> nodes;
    nodes.reserve(spots.size());
    for (const PathSpot& spot : spots) nodes.push_back(spots_.at(spot));
    floors_.clear();
    tree_.keep_runs(false);
    for (const Cycle at : cuts) cut(at);
    tree_.sort_cuts();
    for (std::uint64_t i = 0; i < times; ++i) {
        std::vector<PathSpot> ends;
        std::vector<Node> grown;
        for (std::size_t n = 0; n < way.landings.size(); ++n) {
            const Landing& landing = way.landings[n];
            const std::size_t from = (*(i == 0 ? places : again))[landing.from];
            ends.push_back(landing.stays ? spots[from] : period.moved(later.moved(way.to.spots[n], 1), static_cast<std::int64_t>(i)));
            grown.push_back(landing.stays ? nodes[from] : tree_.add(nodes[from]));
            if (!landing.stays) tree_.grow(grown.back(), ends.back().at, landing.spent);
        }
        spots = std::move(ends);
        nodes = std::move(grown);
    }
    spots_.clear();
    for (std::size_t i = 0; i < spots.size(); ++i) spots_.emplace(spots[i], nodes[i]);
    compress();
    tree_.forget_runs(kNever);
    become(way, later, period, times - 1);
    return true;
}

/// All that is known of cycles behind the floor is what was known at the end of the way, so much `later` and so many periods `more`.
void CriticalPath::become(const Way& way, const Period& later, const Period& period, std::uint64_t more)
{
    const Cycle cycles = later.cycles + more * period.cycles;
    for (std::size_t place = 0; place < kTrailPlaces; ++place) {
        Trail& trail = trails[static_cast<TrailPlace>(place)];
        std::vector<Trail::Segment> segments = way.to.segments[place];
        // what it has done since before the way it has done since it began now
        const bool before = segments.front().from <= way.from.at;
        const Cycle since = trail.segments().front().from;
        for (Trail::Segment& segment : segments) segment.from += cycles;
        if (before) segments.front().from = since;
        trail.become(std::move(segments));
    }
    for (unsigned port = 0; port < ports.size(); ++port)
        for (const bool write : {false, true}) {
            const BurstTrail::Known& before = way.from.bursts[port][write].known;
            BurstTrail& trail = write ? ports[port].writes : ports[port].reads;
            BurstTrail::Known known = way.to.bursts[port][write].known;
            const BurstTrail::Number numbers = later.bursts[port][write] + more * period.bursts[port][write];
            const Cycle old =
                (later.bursts[port][write] != 0 ? later.cycles : 0) + (period.bursts[port][write] != 0 ? more * period.cycles : 0);
            const auto move = [&](TrailBurst& burst, BurstTrail::Number number) {
                burst.move(number < before.end() ? old : cycles, numbers);
            };
            for (std::size_t i = 0; i < known.bursts.size(); ++i) move(known.bursts[i], known.base + i);
            for (const bool answers : {false, true})
                for (unsigned client = 0; client < kClients; ++client) {
                    std::optional<ForgottenBurst>& burst = known.forgotten[answers][client];
                    const std::optional<ForgottenBurst>& was = before.forgotten[answers][client];
                    if (burst && was && burst->number == was->number) {
                        burst = answers ? trail.forgotten_answer(client) : trail.forgotten_grant(client);
                    } else if (burst) {
                        move(burst->burst, burst->number);
                        burst->number += numbers;
                    }
                }
            for (BurstTrail::Number* const number : {&known.base, &known.offered, &known.ended}) *number += numbers;
            if (known.latest != BurstTrail::kNone) known.latest += numbers;
            for (unsigned client = 0; client < kClients; ++client)
                for (BurstTrail::Number* const last : {&known.granted[client], &known.answered[client]})
                    if (*last != BurstTrail::kNone) *last += numbers;
            trail.become(known);
        }
    interrupts_ = way.to.interrupts;
    for (Cycle& interrupt : interrupts_) interrupt += cycles;
    rules_.renumbered();
    floor_ = way.to.at + cycles;
    begun_ = false;
    size_ = size();
}

}  // namespace dlasim
