#include "causes/critical_path.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "base/expects.h"
#include "facts/fabric.h"

namespace dlasim {
namespace {

// Cycles that are not summed up yet: units note the longest of their ways, and what they note late, within this many cycles.
constexpr Cycle kYoung = 256;
// A walk at the floor may ask what was answered so long before.
constexpr Cycle kAnswers = 8;

}  // namespace

std::size_t CriticalPath::PointHash::operator()(const PathPoint& point) const
{
    std::uint64_t key = point.number << 20 | static_cast<std::uint64_t>(point.place) << 8 | static_cast<std::uint64_t>(point.stage) << 4 |
                        std::uint64_t{point.port} << 3 | std::uint64_t{point.write} << 2 | std::uint64_t{point.burst} << 1 |
                        std::uint64_t{point.sent};
    key ^= point.at * 0x9e3779b97f4a7c15u;
    return static_cast<std::size_t>(key * 0xff51afd7ed558ccdu >> 13);
}

std::size_t CriticalPath::size() const
{
    std::size_t sum = 0;
    for (std::size_t place = 0; place < kWaitPoints; ++place) sum += logs[static_cast<WaitPoint>(place)].segments().size();
    for (const BurstLogs& port : ports) sum += port.reads.end() - port.reads.base() + port.writes.end() - port.writes.base();
    return sum;
}

bool CriticalPath::should_compact()
{
    if (size() >= size_ + enough_) return true;
    next_ += window_;
    return false;
}

void CriticalPath::compact()
{
    if (next_ > floor_ + kYoung + 1) sum_up_to(next_ - 1 - kYoung);
    drop_pending();
    next_ = window_ == kNever ? kNever : next_ + window_;
    size_ = size();
}

/// What later walks find at the floor, from what is known at the one before it. The notes in front of it are forgotten.
void CriticalPath::sum_up_to(Cycle floor)
{
    begin_walks();
    add_crossings(floor);
    std::optional<Cycle> interrupt;
    while (!interrupts_.empty() && interrupts_.front() <= floor) {
        interrupt = interrupts_.front();
        interrupts_.erase(interrupts_.begin());
    }
    if (interrupt) walk({.place = WaitPoint::Pin, .at = *interrupt});
    const std::vector<Node> nodes = sum_up();
    for (auto& [point, node] : crossings_) node = nodes[node];
    points_.swap(crossings_);
    if (interrupt) {
        interrupted_ = nodes.back();
        any_interrupt_ = true;
    }
    std::vector<Node*> needed;
    for (auto& [point, node] : points_) needed.push_back(&node);
    if (any_interrupt_) needed.push_back(&interrupted_);
    tree_.compress(needed);
    floor_ = floor;
    drop_pending();
    forget();
}

void CriticalPath::begin_walks()
{
    walks_.clear();
    rules_.begin();
    ++round_;
    for (std::size_t place = 0; place < kWaitPoints; ++place)
        if (const std::size_t size = logs[static_cast<WaitPoint>(place)].segments().size(); met_at_places_[place].size() < size)
            met_at_places_[place].resize(size);
    for (unsigned port = 0; port < ports.size(); ++port)
        for (const bool write : {false, true}) {
            const BurstLog& log = rules_.bursts(port, write);
            if (auto& met = met_at_bursts_[port][write]; met.size() < log.end() - log.base()) met.resize(log.end() - log.base());
        }
}

/// Back from the point to what is known at the floor, or to where another one has been.
void CriticalPath::walk(const PathPoint& point)
{
    Walk& walk = walks_.emplace_back();
    walk.from = point;
    walk.first_run = static_cast<std::uint32_t>(rules_.runs().size());
    rules_.go_to(point);
    while (!arrived() && !joins_earlier_walk()) rules_.step();
    walk.to = rules_.point();
    walk.last_run = static_cast<std::uint32_t>(rules_.runs().size());
    walk.last_cause = rules_.last_cause();
}

/// A chunk that was granted later has no number at the floor that it came before: what it waited for has one.
bool CriticalPath::arrived() const
{
    const PathPoint& point = rules_.point();
    if (point.at > floor_) return false;
    const bool goes_on = floor_ != 0 && point.burst && point.stage == BurstStage::Chunked && rules_.knows();
    return !goes_on || points_.contains(named(point));
}

/// True if another walk has been here in the same cycle: this one goes on as that one did.
bool CriticalPath::joins_earlier_walk()
{
    const PathPoint& point = rules_.point();
    const auto stage = static_cast<std::uint32_t>(point.burst ? point.stage : BurstStage::First);
    const Mark here{.round = round_,
                    .walk = static_cast<std::uint32_t>(walks_.size() - 1),
                    .runs_and_stage = static_cast<std::uint32_t>(rules_.runs().size()) * 8 + stage,
                    .at = static_cast<std::uint32_t>(point.at)};
    Mark* met = nullptr;
    if (const BurstLog& bursts = rules_.bursts(point.port, point.write); point.burst && bursts.has(point.number))
        met = &met_at_bursts_[point.port][point.write][point.number - bursts.base()];
    else if (!point.burst && rules_.paced()) met = &met_at_places_[static_cast<std::size_t>(point.place)][*rules_.paced()];
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

/// A request has no number before it is granted, and chunks of one have entered together.
PathPoint CriticalPath::named(PathPoint point) const
{
    if (point.burst && point.stage == BurstStage::Entered) point.number = rules_.bursts(point.port, point.write).find(point.number)->client;
    return point;
}

void CriticalPath::add(const PathPoint& point)
{
    if (crossings_.try_emplace(named(point), static_cast<Node>(walks_.size())).second) walk(point);
}

void CriticalPath::add(WaitPoint place, bool sent, Cycle at)
{
    add({.place = place, .sent = sent && static_cast<std::size_t>(place) < kSenders, .at = at});
}

/// Walks from all points up to the floor that a step from a later cycle can lead to.
void CriticalPath::add_crossings(Cycle floor)
{
    crossings_.clear();
    for (std::size_t place = 0; place < kWaitPoints; ++place) {
        add(static_cast<WaitPoint>(place), false, floor);  // a cycle back from the first one after it
        add(static_cast<WaitPoint>(place), true, floor);
        add_crossings(static_cast<WaitPoint>(place), floor);
    }
    for (std::size_t unit = 0; unit < kSenders; ++unit)  // with a credit, of a chunk that comes
        for (Cycle way = 1; way < facts::fabric::kCreditLatency; ++way) add(static_cast<WaitPoint>(unit), false, floor - way);
    for (unsigned port = 0; port < ports.size(); ++port)
        for (const bool write : {false, true}) add_crossings(port, write, floor);
}

/// What a unit recorded of cycles after the floor.
void CriticalPath::add_crossings(WaitPoint place, Cycle floor)
{
    const std::vector<WaitLog::Segment>& segments = logs[place].segments();
    Cycle end = kNever;  // of the segment
    for (auto segment = segments.rbegin(); segment != segments.rend() && end > floor + 1; end = segment++->from) {
        const Cycle lag = segment->lag, from = segment->from;
        DLASIM_EXPECTS(lag <= kYoung);
        if (segment->next == place || segment->idle) {
            if (from <= floor + 1) add(place, false, from - (from != 0));
        }
        if (segment->next == place) continue;
        if (segment->event) {
            if (from - std::min(from, lag) <= floor) add(segment->next, true, from - std::min(from, lag));
            continue;
        }
        for (Cycle at = std::max(from, floor + 1); at < end && at <= floor + lag; ++at) add(segment->next, true, at - std::min(at, lag));
    }
}

/// Bursts on their way, the last ones of each client, and what later ones may follow.
void CriticalPath::add_crossings(unsigned port, bool write, Cycle floor)
{
    const BurstLog& log = rules_.bursts(port, write);
    const BurstLog::Number needed = log.needed_from(floor - std::min(floor, kAnswers));
    needed_[port][write] = needed;
    for (unsigned client = 0; client < kClients; ++client)
        for (const bool answers : {false, true})
            if (const BurstLog::Number n = log.last_before(needed, client, answers); n != BurstLog::kNone)
                add_stages(port, write, n, floor);
    for (BurstLog::Number n = needed; n < log.end(); ++n) add_stages(port, write, n, floor);
}

void CriticalPath::add_stages(unsigned port, bool write, BurstLog::Number number, Cycle floor)
{
    const BurstLog& log = rules_.bursts(port, write);
    const BurstRecord& burst = *log.find(number);
    for (const BurstStage stage :
         {BurstStage::First, BurstStage::Accepted, BurstStage::Granted, BurstStage::Chunked, BurstStage::Entered}) {
        const Cycle at = CauseWalk::time_of(burst, stage);
        if (at > floor || (log.pending(number) && stage != BurstStage::Entered)) continue;
        add({.burst = true, .write = write, .port = static_cast<std::uint8_t>(port), .stage = stage, .number = number, .at = at});
    }
    const Cycle chunked = burst.chunked();
    if (burst.credits && chunked - facts::fabric::kCreditLatency <= floor)
        add(CauseWalk::unit_of(burst.client), false, chunked - facts::fabric::kCreditLatency);
}

/// A node for every walk.
std::vector<CauseTree::Node> CriticalPath::sum_up()
{
    tree_.sort_cuts();
    const std::vector<PathRun>& runs = rules_.runs();
    std::vector<std::vector<std::uint32_t>> ends(walks_.size());  // runs of a walk after which others join it
    for (std::size_t w = 0; w < walks_.size(); ++w) ends[w].push_back(walks_[w].first_run);
    for (const Walk& walk : walks_)
        if (walk.joins) ends[walk.joins->walk].push_back(walk.joins->runs());
    std::vector<std::vector<std::pair<std::uint32_t, Node>>> made(walks_.size());
    std::vector<Node> result(walks_.size());
    for (std::size_t w = 0; w < walks_.size(); ++w) {
        const Walk& walk = walks_[w];
        Node node = CauseTree::kRoot;
        if (walk.joins) {
            const auto& joined = made[walk.joins->walk];
            const auto at = std::ranges::find(joined, walk.joins->runs(), &std::pair<std::uint32_t, Node>::first);
            DLASIM_EXPECTS(at != joined.end());
            node = at->second;
        } else {
            node = end_of(walk);
        }
        std::ranges::sort(ends[w], std::greater{});
        std::size_t run = walk.last_run;
        for (const std::uint32_t end : ends[w]) {
            const auto last = [&] { return run == walk.first_run + 1 ? walk.from.at : runs[run - 2].after; };
            if (run > end) {
                node = tree_.add(node, last(), runs[run - 1].cause);
                --run;
            }
            for (; run > end; --run) tree_.grow(node, last(), runs[run - 1].cause);
            made[w].emplace_back(end, node);
        }
        result[w] = node;
    }
    return result;
}

/// The result of the previous compaction at the point that this walk has reached.
CauseTree::Node CriticalPath::end_of(const Walk& walk)
{
    Node node = CauseTree::kRoot;
    if (const auto known = points_.find(named(walk.to)); known != points_.end()) {
        node = known->second;
    } else if (floor_ != 0 && walk.to.at != 0) {  // the latest before it
        ++unforeseen_;
        for (const auto& [point, other] : points_)
            if (point.at <= walk.to.at && tree_.time(other) >= tree_.time(node)) node = other;
    }
    if (tree_.time(node) == walk.to.at) return node;
    node = tree_.add(node);
    tree_.grow(node, walk.to.at, walk.last_cause);
    return node;
}

void CriticalPath::forget()
{
    for (std::size_t place = 0; place < kWaitPoints; ++place) logs[static_cast<WaitPoint>(place)].forget(floor_ + 1);
    for (unsigned port = 0; port < ports.size(); ++port) {
        ports[port].reads.forget(needed_[port][false]);
        ports[port].writes.forget(needed_[port][true]);
    }
}

void CriticalPath::drop_pending()
{
    for (BurstLogs& port : ports) {
        port.reads.drop_pending();
        port.writes.drop_pending();
    }
}

Causes CriticalPath::causes(Cycle t0, Cycle done, bool interrupt)
{
    if (ended_) {
        done = last_;
        interrupt = true;
    }
    cut(t0);
    cut(done);
    if (done > floor_) {
        begin_walks();
        walk({.place = interrupt ? WaitPoint::Pin : WaitPoint::Software, .at = done});
    }
    drop_pending();
    if (done <= floor_) return tree_.causes(interrupted_).after(t0, done);
    return tree_.causes(sum_up().front()).after(t0, done);
}

}  // namespace dlasim
