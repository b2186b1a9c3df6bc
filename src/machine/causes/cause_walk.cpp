#include "causes/cause_walk.h"

#include <algorithm>
#include <bit>

namespace dlasim {
namespace {

constexpr unsigned kFewHops = 4;       // within a cycle: more may be a loop
constexpr unsigned kMaxHops = 128;     // within a cycle: then it is one, of bursts alone
constexpr Cycle kLongestDrain = 1024;  // of what a unit sent last, within it
constexpr Cycle kBeforeStart = 4;      // a unit shows its start to others within this number of cycles
const auto kByClient = [] {
    std::array<bool, kCauses> by_client{};
    for (std::size_t i = 0; i < kCauses; ++i) by_client[i] = name_of(static_cast<Cause>(i)).by_client;
    return by_client;
}();
constexpr auto kNoPlace = static_cast<WaitPoint>(kWaitPoints);

/// Which client of a family a place is; nothing if it is of another one.
std::optional<unsigned> client_of(WaitPoint place, WaitPoint family, unsigned count)
{
    const auto at = static_cast<unsigned>(place), first = static_cast<unsigned>(family);
    if (at < first || at >= first + count) return std::nullopt;
    return at - first;
}

}  // namespace

CauseWalk::CauseWalk(const WaitLogs& logs, const std::array<BurstLogs, 2>& ports) : logs_(logs), ports_(ports) { begin(); }

void CauseWalk::begin()
{
    runs_.clear();
    for (auto& port : seen_)
        for (auto& direction : port)
            for (auto& client : direction) client.fill(BurstLog::kNone);
}

void CauseWalk::go_to(const PathPoint& point)
{
    point_ = point;
    paced_.reset();
    last_cause_ = {};
    hops_ = 0;
}

void CauseWalk::step()
{
    const Cycle before = point_.at;
    paced_.reset();
    if (point_.burst) step_burst();
    else step_place();
    hops_ = point_.at == before ? hops_ + 1 : 0;
    if (hops_ >= kFewHops) break_loop();
}

/// Wherever the walk came into the loop, it leaves it at the same place. Brent's algorithm: the point at each power of two is compared with
/// those that follow.
void CauseWalk::break_loop()
{
    if (hops_ == kFewHops) loops_ = false;
    else if (point_ == marked_) loops_ = true;
    if (!loops_ && std::has_single_bit(hops_)) marked_ = point_, lowest_ = kNoPlace;
    if (!point_.burst) lowest_ = std::min(lowest_, point_.place);
    const bool leaves = lowest_ == kNoPlace ? hops_ > kMaxHops : loops_ && !point_.burst && point_.place == lowest_;
    if (!leaves) return;
    if (point_.burst) go(unit_of(burst(point_.number).client));
    spend(segment().cause, point_.at - 1);
    hops_ = 0;
}

void CauseWalk::spend(Cause cause, Cycle down_to, unsigned client)
{
    last_cause_ = {cause, kByClient[static_cast<std::size_t>(cause)] ? static_cast<std::uint8_t>(client) : ExactCause::kNoClient};
    if (down_to >= point_.at) return;
    point_.at = down_to;
    runs_.push_back({down_to, last_cause_});
}

/// What the memory says of it, but not below that cycle.
void CauseWalk::spend_waits(const DramCycles& waits, Cycle down_to, unsigned client)
{
    for (std::size_t i = 0; i < kDramCauses; ++i)
        if (waits[i] != 0 && point_.at > down_to)
            spend(dram_cause(i), std::max(down_to, point_.at - std::min<Cycle>(point_.at, waits[i])), client);
}

void CauseWalk::go(WaitPoint place) { point_ = {.place = place, .at = point_.at}; }

void CauseWalk::go(Stage stage, Number number)
{
    point_.burst = true;
    point_.stage = stage;
    point_.number = number;
}

/// In this cycle.
void CauseWalk::go(PathPoint burst)
{
    burst.at = point_.at;
    point_ = burst;
}

void CauseWalk::go_to_sender(WaitPoint place)
{
    go(place);
    point_.sent = static_cast<std::size_t>(place) < kSenders;
}

/// What it sent came here. If it has nothing to do any more, it sent it before: true.
bool CauseWalk::step_sent()
{
    point_.sent = false;
    const WaitLog::Segment& here = segment();
    if (!here.idle || here.from == 0 || point_.at >= here.from + kLongestDrain) return false;
    const bool begins = &here != &logs_[point_.place].segments().back() &&
                        (&here + 1)->from <= point_.at + kBeforeStart;  // it is about to: software made it
    if (begins) return false;
    spend(Cause::Drain, here.from - 1);
    return true;
}

/// What the place says of the cycle.
const WaitLog::Segment& CauseWalk::segment()
{
    const std::vector<WaitLog::Segment>& segments = logs_[point_.place].segments();
    std::size_t& last = last_segment_[static_cast<std::size_t>(point_.place)];
    const auto holds = [&](std::size_t n) {
        return n < segments.size() && (n == 0 || segments[n].from <= point_.at) &&
               (n + 1 == segments.size() || point_.at < segments[n + 1].from);
    };
    if (holds(last)) return segments[last];
    if (last != 0 && holds(last - 1)) return segments[--last];
    const auto next =
        std::upper_bound(segments.begin() + 1, segments.end(), point_.at, [](Cycle at, const WaitLog::Segment& s) { return at < s.from; });
    last = static_cast<std::size_t>(next - segments.begin()) - 1;
    return segments[last];
}

void CauseWalk::step_place()
{
    if (point_.sent && step_sent()) return;
    if (const auto client = client_of(point_.place, WaitPoint::Read, kClients)) return step_read(*client);
    if (const auto client = client_of(point_.place, WaitPoint::Turn, kClients)) return step_turn(*client, false);
    if (const auto client = client_of(point_.place, WaitPoint::Room, kWriteClients)) return step_turn(*client, true);
    if (const auto client = client_of(point_.place, WaitPoint::Answer, kWriteClients)) return step_answer(*client);
    const WaitLog::Segment& segment = this->segment();
    const auto asks = client_of(point_.place, WaitPoint::Ask, kClients);
    if (asks && unit_of(*asks) != WaitPoint::CdmaData && unit_of(*asks) != WaitPoint::CdmaWeight && step_ask(*asks)) return;
    if (segment.next == point_.place) {
        if (segment.from == 0) return spend(segment.cause, 0);
        spend(segment.cause, segment.from - 1, asks.value_or(ExactCause::kNoClient));
        paced_ = static_cast<std::size_t>(&segment - logs_[point_.place].segments().data());
        return;
    }
    const Cycle from = segment.event ? segment.from : point_.at;
    if (segment.lag != 0 || segment.event) spend(segment.cause, from - std::min<Cycle>(from, segment.lag));
    go_to_sender(segment.next);
}

}  // namespace dlasim
