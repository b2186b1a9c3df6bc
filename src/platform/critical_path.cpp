#include "platform/critical_path.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "base/expects.h"

namespace dlasim {
namespace {

// How far in front of the floor walks behind it look, at most: more than any way through the interface, and a burst at the port.
constexpr Cycle kWays = 64;
constexpr Cycle kBeatsOfABurst = 16;  // config/machine/hardware.cpp takes no more

}  // namespace

std::size_t CriticalPath::SpotHash::operator()(const PathSpot& spot) const
{
    std::uint64_t key = spot.number << 20 | static_cast<std::uint64_t>(spot.place) << 8 | static_cast<std::uint64_t>(spot.stage) << 4 |
                        std::uint64_t{spot.port} << 3 | std::uint64_t{spot.write} << 2 | std::uint64_t{spot.burst} << 1 |
                        std::uint64_t{spot.sent};
    key ^= spot.at * 0x9e3779b97f4a7c15u;
    return static_cast<std::size_t>(key * 0xff51afd7ed558ccdu >> 13);
}

std::size_t CriticalPath::size() const
{
    std::size_t sum = 0;
    for (std::size_t place = 0; place < kTrailPlaces; ++place) sum += trails[static_cast<TrailPlace>(place)].segments().size();
    for (const PortTrail& port : ports) sum += port.reads.end() - port.reads.base() + port.writes.end() - port.writes.base();
    return sum;
}

bool CriticalPath::wants_to_look()
{
    if (size() >= size_ + (begun_ ? youngest_ : enough_)) return true;
    next_ += window_;
    return false;
}

void CriticalPath::look()
{
    if (begun_) to_floor(youngest_spots(next_ - 1));
    if (!begun_ || enough_ == 0) mark();
    else begun_ = false;
    next_ += window_;
    size_ = size();
}

/// The older cycles are summed up, to the spots in front of the youngest ones, and forgotten.
void CriticalPath::to_floor(const std::vector<PathSpot>& spots)
{
    std::optional<Cycle> interrupt;
    while (!interrupts_.empty() && interrupts_.front() <= middle_) {
        interrupt = interrupts_.front();
        interrupts_.erase(interrupts_.begin());
    }
    older(spots, interrupt);
    floor_ = middle_;
    forget();
}

/// A look begins: what has happened by now is the older part of what it will see.
void CriticalPath::mark()
{
    middle_ = next_ - 1;
    for (PortTrail& port : ports) {
        port.reads.mark();
        port.writes.mark();
    }
    begun_ = true;
}

void CriticalPath::begin_walks()
{
    walks_.clear();
    rules_.forget_runs();
    ++round_;
    for (std::size_t place = 0; place < kTrailPlaces; ++place)
        if (const std::size_t size = trails[static_cast<TrailPlace>(place)].segments().size(); met_at_places_[place].size() < size)
            met_at_places_[place].resize(size);
    for (unsigned port = 0; port < ports.size(); ++port)
        for (const bool write : {false, true}) {
            const BurstTrail& trail = rules_.bursts(port, write);
            if (auto& met = met_at_bursts_[port][write]; met.size() < trail.end() - trail.base()) met.resize(trail.end() - trail.base());
        }
}

/// Back from the spot to the floor, or to where another one has been.
void CriticalPath::walk(const PathSpot& spot, Cycle floor)
{
    Walk& walk = walks_.emplace_back();
    walk.from = spot;
    walk.first_run = static_cast<std::uint32_t>(rules_.runs().size());
    rules_.stand(spot);
    while (rules_.spot().at > floor && rules_.knows() && !meets()) rules_.step();
    walk.to = rules_.spot();
    walk.last_run = static_cast<std::uint32_t>(rules_.runs().size());
    walk.last_cause = rules_.last_cause();
}

/// True if another walk has been here in the same cycle: this one goes on as that one did.
bool CriticalPath::meets()
{
    const PathSpot& spot = rules_.spot();
    const auto stage = static_cast<std::uint32_t>(spot.burst ? spot.stage : BurstStage::First);
    const Mark here{.round = round_,
                    .walk = static_cast<std::uint32_t>(walks_.size() - 1),
                    .runs_and_stage = static_cast<std::uint32_t>(rules_.runs().size()) * 8 + stage,
                    .at = static_cast<std::uint32_t>(spot.at)};
    Mark* met = nullptr;
    if (spot.burst) met = &met_at_bursts_[spot.port][spot.write][spot.number - rules_.bursts(spot.port, spot.write).base()];
    else if (rules_.paced()) met = &met_at_places_[static_cast<std::size_t>(spot.place)][*rules_.paced()];
    if (!met) return false;
    if (met->round != round_) {
        *met = here;
        return false;
    }
    // A walk passes through the stages of a burst: one of them is enough to meet at.
    if (met->walk == here.walk || met->at != here.at || met->stage() != here.stage()) return false;
    walks_.back().joins = *met;
    return true;
}

/// From all that a later walk can come to in cycle `last`, the last one of which something is known: places, and bursts on their way.
void CriticalPath::walk_from(Cycle last, Cycle floor)
{
    begin_walks();
    for (std::size_t place = 0; place < kTrailPlaces; ++place) walk({.place = static_cast<TrailPlace>(place), .at = last}, floor);
    for (std::size_t unit = 0; unit <= static_cast<std::size_t>(TrailPlace::Rubik); ++unit)
        walk({.place = static_cast<TrailPlace>(unit), .sent = true, .at = last}, floor);
    for (unsigned port = 0; port < ports.size(); ++port)
        for (const bool write : {false, true}) {
            BurstTrail& trail = write ? ports[port].writes : ports[port].reads;
            const BurstTrail::Number latest = trail.latest(), end = trail.end();
            BurstTrail::Number n = std::min(trail.ended(), latest);  // kNone is the highest number
            if (end >= trail.base() + 2) n = std::min(n, end - 2);
            for (; n < end; ++n) {
                const TrailBurst& burst = trail[n];
                if ((burst.last() <= last && n != latest && n + 2 < end) || burst.entered() > last) continue;
                const BurstStage stage = PathRules::stage_before(burst, last + 1);
                walk({.burst = true,
                      .write = write,
                      .port = static_cast<std::uint8_t>(port),
                      .stage = stage,
                      .number = n,
                      .at = PathRules::time_of(burst, stage)},
                     floor);
            }
        }
}

/// Where the walks that later ones can come to in cycle `last`, the last one of which something is known, leave the youngest cycles.
std::vector<PathSpot> CriticalPath::youngest_spots(Cycle last)
{
    walk_from(last, middle_);
    std::vector<PathSpot> spots;
    for (const Walk& walk : walks_)
        if (!walk.joins && std::ranges::find(spots, walk.to) == spots.end()) spots.push_back(walk.to);
    return spots;
}

/// Through the older cycles: what a walk that comes to one of the spots finds there.
void CriticalPath::older(const std::vector<PathSpot>& spots, std::optional<Cycle> interrupt)
{
    begin_walks();
    for (const PathSpot& spot : spots) walk(spot, floor_);
    if (interrupt) walk({.place = TrailPlace::Pin, .at = *interrupt}, floor_);
    const std::vector<Node> nodes = sum_up();
    Spots here;
    for (std::size_t i = 0; i < spots.size(); ++i) here.emplace(spots[i], nodes[i]);
    if (interrupt) {
        interrupted_ = nodes.back();
        any_interrupt_ = true;
    }
    spots_ = std::move(here);
    compress();
}

/// The tree to what later walks need.
void CriticalPath::compress()
{
    std::vector<Node*> needed;
    for (auto& [spot, node] : spots_) needed.push_back(&node);
    if (any_interrupt_) needed.push_back(&interrupted_);
    tree_.compress(needed);
}

/// A node for every walk.
std::vector<PastTree::Node> CriticalPath::sum_up()
{
    tree_.sort_cuts();
    const std::vector<PathRun>& runs = rules_.runs();
    std::vector<std::vector<std::uint32_t>> ends(walks_.size());  // runs of a walk behind which others join it
    for (std::size_t w = 0; w < walks_.size(); ++w) ends[w].push_back(walks_[w].first_run);
    for (const Walk& walk : walks_)
        if (walk.joins) ends[walk.joins->walk].push_back(walk.joins->runs());
    std::vector<std::vector<std::pair<std::uint32_t, Node>>> made(walks_.size());
    std::vector<Node> result(walks_.size());
    for (std::size_t w = 0; w < walks_.size(); ++w) {
        const Walk& walk = walks_[w];
        Node node = PastTree::kRoot;
        if (walk.joins) {
            const auto& joined = made[walk.joins->walk];
            const auto at = std::ranges::find(joined, walk.joins->runs(), &std::pair<std::uint32_t, Node>::first);
            DLASIM_EXPECTS(at != joined.end());
            node = at->second;
        } else {
            node = landing(walk);
        }
        std::ranges::sort(ends[w], std::greater{});
        std::size_t run = walk.last_run;
        for (const std::uint32_t end : ends[w]) {
            if (run > end) node = tree_.add(node);
            for (; run > end; --run) tree_.grow(node, run == walk.first_run + 1 ? walk.from.at : runs[run - 2].after, runs[run - 1].cause);
            made[w].emplace_back(end, node);
        }
        result[w] = node;
    }
    return result;
}

/// What the walks of the look before found where this one came to.
PastTree::Node CriticalPath::landing(const Walk& walk)
{
    Node node = PastTree::kRoot;
    if (const auto known = spots_.find(walk.to); known != spots_.end()) {
        node = known->second;
    } else if (floor_ != 0) {  // a spot that none of them came to: the latest before it
        for (const auto& [spot, other] : spots_)
            if (spot.at <= walk.to.at && tree_.time(other) >= tree_.time(node)) node = other;
    }
    if (tree_.time(node) == walk.to.at) return node;
    node = tree_.add(node);
    tree_.grow(node, walk.to.at, walk.last_cause);
    return node;
}

void CriticalPath::forget()
{
    for (std::size_t place = 0; place < kTrailPlaces; ++place) trails[static_cast<TrailPlace>(place)].forget(floor_);
    for (PortTrail& port : ports)
        for (BurstTrail* const bursts : {&port.reads, &port.writes}) bursts->forget(floor_, margin(port));
}

/// How far in front of the floor walks behind it look at a port.
Cycle CriticalPath::margin(const PortTrail& port)
{
    return kWays + kBeatsOfABurst * std::max({port.beat_interval, port.command_interval, port.write_interval});
}

Causes CriticalPath::causes(Cycle t0, Cycle done, bool interrupt)
{
    if (ended_) {
        done = last_;
        interrupt = true;
    }
    cut(t0);
    cut(done);
    if (done <= floor_) return tree_.causes(interrupted_).after(t0, done);
    begin_walks();
    walk({.place = interrupt ? TrailPlace::Pin : TrailPlace::Software, .at = done}, floor_);
    return tree_.causes(sum_up().front()).after(t0, done);
}

}  // namespace dlasim
