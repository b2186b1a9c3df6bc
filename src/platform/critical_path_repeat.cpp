// Causes of time that repeats itself: what the walks find in one period they find in every one.
//
//   first         second                   floor             last      end
//     │  the period  │  copies  .. copies    │  copies, in     │  a copy  │ what was known of later cycles
//     │              │                       │  which walks    │
//     │              │       spots ◄─ period ┼ spots ◄ meet ───┼ places, bursts on their way
//
// Some copies are written down as if units had noted them. If the walks from the end of one copy come to the spots to which those from the
// end of the next one come, a period later, then so they do in all further copies: what these cycles go to is added up, as often as there
// are copies, and the spots, with all that is known of later cycles, move on by as much. Some spots do not: a place that has worked on
// something since before the first copy.
#include <algorithm>

#include "platform/critical_path.h"

namespace dlasim {
namespace {

constexpr std::size_t kMeeting = 1u << 9;  // bursts, segments and cycles of the copies in which walks meet
// Bursts that may be on their way at the floor, and how far back they have entered.
constexpr BurstTrail::Number kOnTheirWay = 16;
constexpr Cycle kEntered = 256;

}  // namespace

PathSpot CriticalPath::Period::moved(PathSpot spot, std::int64_t periods) const
{
    spot.at += cycles * static_cast<std::uint64_t>(periods);
    if (spot.burst) spot.number += bursts[spot.port][spot.write] * static_cast<std::uint64_t>(periods);
    return spot;
}

CriticalPath::Period CriticalPath::Period::times(std::uint64_t times) const
{
    Period all{.first = first, .cycles = times * cycles, .told = times * told};
    for (unsigned port = 0; port < bursts.size(); ++port)
        for (const bool write : {false, true}) all.bursts[port][write] = times * bursts[port][write];
    return all;
}

/// Nothing if it is no longer known, or a burst of it is still on its way.
std::optional<CriticalPath::Period> CriticalPath::period(Cycle first, Cycle second)
{
    if (floor_ > first) return std::nullopt;
    Period period{.first = first, .cycles = second - first};
    for (unsigned port = 0; port < ports.size(); ++port)
        for (const bool write : {false, true}) {
            const auto bursts = (write ? ports[port].writes : ports[port].reads).period(first, second);
            if (!bursts) return std::nullopt;
            period.bursts[port][write] = *bursts;
            period.told += *bursts;
        }
    for (std::size_t place = 0; place < kTrailPlaces; ++place) period.told += trails[static_cast<TrailPlace>(place)].said(first, second);
    return period;
}

std::uint64_t CriticalPath::repeat(Cycle first, Cycle second, std::uint64_t times)
{
    const std::optional<Period> period = this->period(first, second);
    if (!period) return 0;
    begun_ = begun_ && middle_ <= first;
    const std::uint64_t most = std::min<std::uint64_t>(times, kMostKept / period->told);
    struct Try {
        std::uint64_t together;  // periods as one: what a burst waited for may be further back than one
        std::uint64_t before;    // at most so many of what is in front of the floor are written down again: streams may have come to the
                                 // period in another way
    };
    std::uint64_t copied = 0;
    for (const auto& [together, before] : {Try{1, 0}, Try{1, 1}, Try{1, UINT64_MAX}, Try{2, UINT64_MAX}, Try{4, UINT64_MAX}}) {
        const Period all = period->times(together);
        std::uint64_t needed = (std::min(before, copies_before(all)) + copies_behind(all) + 1) * together;
        if (times <= needed + together) break;
        needed += (times - needed) % together;
        if (needed > most) break;
        copy(*period, second + copied * period->cycles, needed - copied);
        copied = needed;
        if (fold(all, second + copied * period->cycles, (times - copied) / together)) return times;
    }
    copy(*period, second + copied * period->cycles, most - copied);
    return most;
}

/// The period that ends in cycle `end` is written down again, so many times.
void CriticalPath::copy(const Period& period, Cycle end, std::uint64_t times)
{
    const Cycle begin = end - period.cycles;
    for (std::size_t place = 0; place < kTrailPlaces; ++place) trails[static_cast<TrailPlace>(place)].repeat(begin, end, times);
    for (unsigned p = 0; p < ports.size(); ++p)
        for (const bool write : {false, true}) {
            PortTrail& port = ports[p];
            (write ? port.writes : port.reads)
                .repeat(period.bursts[p][write], period.cycles, times, write ? 0 : port.command_interval, port.busy(write),
                        PortTrail::follows(write));
        }
}

/// How many copies walks need behind the floor, to meet.
std::uint64_t CriticalPath::copies_behind(const Period& period)
{
    return 1 + kMeeting / std::min<std::uint64_t>(period.told, period.cycles);
}

/// How many in front of it: with the period itself there are enough bursts and cycles.
std::uint64_t CriticalPath::copies_before(const Period& period) const
{
    std::uint64_t most = 0;
    for (unsigned port = 0; port < ports.size(); ++port)
        for (const bool write : {false, true})
            if (const BurstTrail::Number bursts = period.bursts[port][write]; bursts != 0)
                most = std::max(most, (2 * (rules_.bursts(port, write).kept_before() + 1) + kOnTheirWay) / bursts);
    return 1 + kEntered / period.cycles + most;
}

/// The period comes so many times more behind the copies, which end in cycle `end`. False if the walks do not repeat themselves. They begin
/// a period before: a request that waits at the end of the copies is known only later.
bool CriticalPath::fold(const Period& period, Cycle end, std::uint64_t times)
{
    const Cycle last = end - period.cycles, floor = last - copies_behind(period) * period.cycles;
    if (!alike(period, floor, end)) return false;
    std::vector<Passage> passages = this->passages(period, floor, last);
    if (passages.empty() || !pass(period, floor, passages)) return false;
    if (!mark(period, floor)) return false;
    std::vector<PathSpot> spots;
    spots.reserve(passages.size());
    for (const Passage& passage : passages) spots.push_back(passage.from);
    to_floor(spots);
    std::vector<Node> known;
    known.reserve(spots.size());
    for (const PathSpot& spot : spots) known.push_back(spots_.at(spot));
    const std::vector<Node> nodes = pass_all(period, passages, std::move(known), times);
    follow_floors(passed(period, passages, times));
    spots_.clear();
    for (std::size_t i = 0; i < passages.size(); ++i)
        spots_.emplace(passages[i].stays ? spots[i] : period.moved(spots[i], static_cast<std::int64_t>(times)), nodes[i]);
    compress();
    move(period, times, floor_ - period.cycles);
    return true;
}

/// As the other mark(), in the past. False if walks behind the floor need bursts of before the period.
bool CriticalPath::mark(const Period& period, Cycle floor)
{
    begun_ = false;
    middle_ = floor;
    for (unsigned p = 0; p < ports.size(); ++p)
        for (const bool write : {false, true}) {
            BurstTrail& bursts = write ? ports[p].writes : ports[p].reads;
            bursts.mark(floor - period.cycles, floor);
            if (period.bursts[p][write] != 0 && bursts[bursts.needed_from(floor, margin(ports[p]))].granted <= period.first) return false;
        }
    return true;
}

/// The copies between `floor` and `end` are like what is before them: streams of bursts are counted in another way than in periods.
bool CriticalPath::alike(const Period& period, Cycle floor, Cycle end) const
{
    for (Cycle since = floor; since < end; since += period.cycles)
        for (unsigned port = 0; port < ports.size(); ++port)
            for (const bool write : {false, true})
                if (!rules_.bursts(port, write).alike(since, period.cycles, period.bursts[port][write])) return false;
    return true;
}

/// Where the walks from all that later ones can come to in cycle `last` come to at the floor. Nothing if those from a period before do not
/// come to the same a period earlier.
std::vector<CriticalPath::Passage> CriticalPath::passages(const Period& period, Cycle floor, Cycle last)
{
    walk_from(last, floor, last - period.cycles);
    const std::vector<PathSpot> spots = landed();
    walk_from(last - period.cycles, floor - period.cycles, last - 2 * period.cycles);
    const std::vector<PathSpot> before = landed();
    if (spots.size() != before.size()) return {};
    std::vector<Passage> passages;
    for (std::size_t i = 0; i < spots.size(); ++i) {
        const bool stays = before[i] == spots[i];
        if (!stays && before[i] != period.moved(spots[i], -1)) return {};
        const auto known = std::ranges::find(passages, spots[i], &Passage::from);
        if (known == passages.end()) passages.push_back({.from = spots[i], .stays = stays});
        else if (known->stays != stays) return {};
    }
    return passages;
}

/// On from the spots in front of the floor, to those a period before. False if a walk comes to no known one, or goes on in cycles of
/// before the copies.
bool CriticalPath::pass(const Period& period, Cycle floor, std::vector<Passage>& passages)
{
    for (Passage& passage : passages) {
        if (passage.stays) continue;
        if (passage.from.at + period.cycles <= floor) return false;
        rules_.forget_runs();
        rules_.stand(passage.from);
        while (rules_.spot().at + period.cycles > floor && rules_.knows()) rules_.step();
        const PathSpot& to = rules_.spot();
        const auto next = std::ranges::find_if(
            passages, [&](const Passage& other) { return (other.stays ? other.from : period.moved(other.from, -1)) == to; });
        if (next == passages.end()) return false;
        passage.next = static_cast<std::size_t>(next - passages.begin());
        const std::vector<PathRun>& runs = rules_.runs();
        if (next->stays && runs.size() > 1 && runs[runs.size() - 2].after + period.cycles <= floor) return false;
        std::vector<CauseCycles> spent;
        Cycle at = passage.from.at;
        for (const PathRun& run : runs) {
            spent.push_back({run.cause, at - run.after});
            at = run.after;
        }
        std::ranges::reverse(spent);
        passage.spent = {{std::make_shared<std::vector<CauseCycles>>(std::move(spent)), 1}};
    }
    return true;
}

/// What the cycles up to the spots went to, so many periods later. `nodes`: up to where they are now.
std::vector<PastTree::Node> CriticalPath::pass_all(const Period& period, const std::vector<Passage>& passages, std::vector<Node> nodes,
                                                   std::uint64_t times)
{
    // Which spots of a period walks come to from the one behind it, and so on back; at last as many as there.
    std::vector<std::vector<std::size_t>> reached(1);
    for (std::size_t i = 0; i < passages.size(); ++i)
        if (!passages[i].stays) reached.back().push_back(i);
    while (reached.size() <= times) {
        std::vector<std::size_t> before;
        for (const std::size_t i : reached.back())
            if (const std::size_t next = passages[i].next; !passages[next].stays && std::ranges::find(before, next) == before.end())
                before.push_back(next);
        if (before.size() == reached.back().size()) break;
        reached.push_back(std::move(before));
    }
    const auto grow = [&](Node node, const Passage& passage, std::uint64_t periods) {
        // the run that began before the copies may have become longer
        tree_.grow(node, passage.from.at + periods * period.cycles, passage.spent);
    };
    const std::uint64_t same = times - (reached.size() - 1);  // periods in which all of those come to all of them
    for (const std::size_t i : reached.back()) nodes[i] = tree_.add(nodes[i]);
    if (same != 0 && std::ranges::all_of(reached.back(), [&](std::size_t i) { return passages[i].next == i; })) {
        for (const std::size_t i : reached.back()) {
            grow(nodes[i], passages[i], 1);
            const std::vector<SpentRuns>& spent = passages[i].spent;
            if (spent.size() == 1 && spent.front().times == 1) tree_.grow(nodes[i], *spent.front().parts, same - 1);
            else
                for (std::uint64_t n = 1; n < same; ++n)
                    for (const SpentRuns& runs : spent) tree_.grow(nodes[i], *runs.parts, runs.times);
        }
    } else {
        for (std::uint64_t n = 1; n <= same; ++n) {
            const std::vector<Node> before = nodes;
            for (const std::size_t i : reached.back()) grow(nodes[i] = before[passages[i].next], passages[i], n);
        }
    }
    for (std::uint64_t n = same + 1; n <= times; ++n) {
        const std::vector<Node> before = nodes;
        for (const std::size_t i : reached[times - n]) grow(nodes[i] = tree_.add(before[passages[i].next]), passages[i], n);
    }
    return nodes;
}

/// Every spot, so many periods later, and the one of now that its walk comes to through them.
std::vector<std::pair<PathSpot, PathSpot>> CriticalPath::passed(const Period& period, const std::vector<Passage>& passages,
                                                                std::uint64_t times)
{
    std::vector<std::size_t> once, all;
    once.reserve(passages.size());
    all.reserve(passages.size());
    for (std::size_t i = 0; i < passages.size(); ++i) {
        once.push_back(passages[i].stays ? i : passages[i].next);
        all.push_back(i);
    }
    for (std::uint64_t left = times; left != 0; left /= 2) {
        if (left % 2 != 0)
            for (std::size_t& to : all) to = once[to];
        const std::vector<std::size_t> before = once;
        for (std::size_t& to : once) to = before[to];
    }
    std::vector<std::pair<PathSpot, PathSpot>> from;
    from.reserve(passages.size());
    for (std::size_t i = 0; i < passages.size(); ++i) {
        const PathSpot& spot = passages[i].from;
        from.emplace_back(passages[i].stays ? spot : period.moved(spot, static_cast<std::int64_t>(times)), passages[all[i]].from);
    }
    return from;
}

/// All that is known of cycles behind the floor moves on; what places do, behind `since`.
void CriticalPath::move(const Period& period, std::uint64_t times, Cycle since)
{
    const Cycle cycles = times * period.cycles;
    for (std::size_t place = 0; place < kTrailPlaces; ++place) trails[static_cast<TrailPlace>(place)].move(since, cycles);
    for (unsigned port = 0; port < ports.size(); ++port)
        for (const bool write : {false, true})
            (write ? ports[port].writes : ports[port].reads).move(period.first, cycles, times * period.bursts[port][write]);
    rules_.renumbered();
    floor_ += cycles;
    size_ = size();
}

}  // namespace dlasim
