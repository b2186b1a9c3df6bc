// Causes of operations that come again. What walks find at a floor is remembered together with what is known in front of it. If it is the
// same at a later one, and the walks from there come to the same spots at the first one, they do so in every further period, and find the
// same on the way: it is written down once more, in its order, as often as the period comes.
//
//     remembered floor ◄── runs between ──  floor of now ═══════ the same runs ════►
//     spots, trails                         the same spots, the same trails
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
            Floor::Bursts& bursts = floor.bursts[port][write];
            bursts.behind = trail.behind(floor_);
            bursts.base = trail.base();
            bursts.known.reserve(trail.end() - trail.base());
            for (BurstTrail::Number n = trail.base(); n < trail.end(); ++n) {
                bursts.known.push_back(trail[n]);
                bursts.known.back().forget_others(n, trail.base());
            }
            bursts.forgotten = trail.forgotten();
        }
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
            if (b.base - a.base != more || !std::ranges::equal(a.known, b.known, later)) return false;
            for (std::size_t way = 0; way < a.forgotten.size(); ++way)
                for (unsigned client = 0; client < kClients; ++client) {
                    const auto &was = a.forgotten[way][client], &is = b.forgotten[way][client];
                    if (was.has_value() != is.has_value()) return false;
                    const bool one_port = !second.bursts[port ^ 1][write].forgotten[way][client];  // else the later one is found
                    if (!was || (was->number == is->number && is->burst.granted <= first.at)) continue;
                    if (one_port && long_ago(*was, first) && long_ago(*is, second)) continue;
                    if (is->number - was->number != more || !later(was->burst, is->burst)) return false;
                }
        }
    return true;
}

/// Nothing if a walk does not come to a spot of the first floor as it would from the next one to the second.
std::optional<std::vector<CriticalPath::Passage>> CriticalPath::passages(const Period& period, const Floor& first,
                                                                         const Floor& second) const
{
    std::vector<Passage> passages;
    passages.reserve(second.spots.size());
    for (const PathSpot& spot : second.spots) {
        const std::optional<PathSpot> same = spot_of(first, spot);
        const std::optional<PathSpot> before = same == spot ? same : spot_of(first, period.moved(spot, -1));
        if (!before) return std::nullopt;
        passages.push_back({.from = spot, .stays = same == spot, .before = *before});
    }
    if (!all_differ(passages)) return std::nullopt;
    for (std::size_t i = 0; i < passages.size(); ++i) {
        Passage& passage = passages[i];
        if (passage.stays) continue;
        const auto from = first.from.find(passage.from);
        if (from == first.from.end()) return std::nullopt;
        const PathSpot& to = first.spots[from->second];
        const auto next = std::ranges::find(passages, to, &Passage::before);
        std::optional<std::vector<SpentRuns>> spent = tree_.between(first.nodes[from->second], second.nodes[i]);
        if (next == passages.end() || !spent || spent->empty() || tree_.time(second.nodes[i]) != passage.from.at ||
            tree_.time(first.nodes[from->second]) != to.at)
            return std::nullopt;
        // what began before the first floor becomes longer, and nothing else of before it comes again
        const bool any = next->stays || next->from != period.moved(to, 1);
        if (any && to.at + spent->front().parts->front().cycles <= first.at) return std::nullopt;
        passage.next = static_cast<std::size_t>(next - passages.begin());
        passage.spent = std::move(*spent);
    }
    return passages;
}

/// This one, or that of the same place, whenever it began.
std::optional<PathSpot> CriticalPath::spot_of(const Floor& floor, PathSpot spot)
{
    if (std::ranges::find(floor.spots, spot) != floor.spots.end()) return spot;
    const auto of_place = [&](const PathSpot& other) {
        spot.at = other.at;
        return other == spot;
    };
    if (spot.burst || std::ranges::count_if(floor.spots, of_place) != 1) return std::nullopt;
    return *std::ranges::find_if(floor.spots, of_place);
}

/// No two were at the same spot before.
bool CriticalPath::all_differ(const std::vector<Passage>& passages)
{
    return std::ranges::all_of(passages,
                               [&](const Passage& one) { return std::ranges::count(passages, one.before, &Passage::before) == 1; });
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
    if (!alike(*before, now)) return nullptr;
    std::optional<std::vector<Passage>> passages = this->passages(period(*before, now), *before, now);
    if (!passages) return nullptr;
    auto way = std::make_shared<Way>(Way{*before, now, std::move(*passages)});
    for (Floor* const floor : {&way->from, &way->to}) {
        floor->nodes.clear();
        floor->from.clear();
    }
    return way;
}

/// As though it had come just before now. Nothing if what is known now is not what was known then.
std::optional<std::vector<CriticalPath::Passage>> CriticalPath::placed(const Way& way, const Floor& now)
{
    std::vector<Passage> passages = way.passages;
    if (now.name == way.to.name) {
        for (Passage& passage : passages) passage.before = passage.from;
        return passages;
    }
    if (now.spots.size() != way.to.spots.size() || !alike(way.from, now) || !alike(way.to, now)) return std::nullopt;
    const Period later = period(way.to, now);
    for (Passage& passage : passages) {
        if (!passage.stays) passage.from = later.moved(passage.from, 1);
        const std::optional<PathSpot> spot = spot_of(now, passage.from);
        if (!spot) return std::nullopt;
        passage.before = *spot;
        if (passage.stays) passage.from = *spot;
    }
    if (!all_differ(passages)) return std::nullopt;
    return passages;
}

bool CriticalPath::repeat(const Way& way, std::uint64_t times, const std::vector<Cycle>& cuts)
{
    if (floors_.empty() || floors_.back().at != floor_) return false;
    const std::optional<std::vector<Passage>> passages = placed(way, floors_.back());
    if (!passages) return false;
    Period period = this->period(way.from, way.to);
    period.first = floor_ - period.cycles;
    // since when places will do what they do at the floor, if that has begun in such a time
    std::array<std::optional<Cycle>, kTrailPlaces> begun;
    for (std::size_t place = 0; place < kTrailPlaces; ++place)
        if (const Cycle was = way.from.segments[place].front().from, is = way.to.segments[place].front().from; is != was)
            begun[place] = is + (floor_ - way.to.at) + times * period.cycles;
    floors_.clear();
    tree_.keep_runs(false);
    for (const Cycle at : cuts) cut(at);
    tree_.sort_cuts();
    std::vector<Node> known;
    known.reserve(passages->size());
    for (const Passage& passage : *passages) known.push_back(spots_.at(passage.before));
    const std::vector<Node> nodes = pass_all(period, *passages, std::move(known), times);
    spots_.clear();
    for (std::size_t i = 0; i < passages->size(); ++i) {
        const Passage& passage = (*passages)[i];
        spots_.emplace(passage.stays ? passage.from : period.moved(passage.from, static_cast<std::int64_t>(times)), nodes[i]);
    }
    compress();
    tree_.forget_runs(kNever);
    for (Cycle& interrupt : interrupts_) interrupt += times * period.cycles;
    move(period, times, floor_);
    for (std::size_t place = 0; place < kTrailPlaces; ++place)
        if (begun[place]) trails[static_cast<TrailPlace>(place)].begun(*begun[place]);
    return true;
}

}  // namespace dlasim
