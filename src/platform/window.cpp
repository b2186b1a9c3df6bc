#include "platform/window.h"

#include <algorithm>
#include <cctype>
#include <iterator>

namespace dlasim {

SnapshotStep::SnapshotStep(const Snapshot& from, const Snapshot& to)
{
    less_.reserve(to.units.size());
    for (std::size_t i = 0; i < to.units.size(); ++i) less_.push_back(from.units[i].since(to.units[i]));
}

void SnapshotStep::add_to(Snapshot& snapshot) const
{
    for (std::size_t i = 0; i < less_.size(); ++i) snapshot.units[i] = snapshot.units[i].since(less_[i]);
}

std::vector<Window::Sample> Window::since(Cycle first) const { return {std::ranges::find(kept_, first, &Sample::cycle), kept_.end()}; }

void Window::repeat(std::vector<Sample> interrupts, std::uint64_t times, Cycle cycles, const SnapshotStep& counted)
{
    const Cycle due = interrupts.front().cycle + times * cycles;
    for (std::uint64_t i = 0; i < times; ++i)
        for (Sample& sample : interrupts) {
            if (seen_) seen_(sample.cycle - mark_, true, from_, sample.snapshot);
            sample.cycle += cycles;
            counted.add_to(sample.snapshot);
        }
    kept_.clear();
    due_ = {due};
}

std::vector<UnitReport> reports(const Snapshot& from, const Snapshot& to)
{
    std::vector<UnitReport> list;
    for (std::size_t i = 0; i < to.units.size(); ++i) {
        UnitReport& report = list.emplace_back(from.units.empty() ? to.units[i] : to.units[i].since(from.units[i]));
        for (char& c : report.name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
    return list;
}

PortTraffic port_traffic(const TrafficLog& log, Cycle last)
{
    const PortTotals totals = log.since_mark(last);
    PortTraffic port{.ar = totals.ar,
                     .read_beats = totals.read_beats,
                     .aw = totals.aw,
                     .write_beats = totals.write_beats,
                     .write_bytes = totals.write_bytes,
                     .ar_log = {},
                     .aw_log = {},
                     .read_bytes_by_client = {},
                     .write_bytes_by_client = {}};
    for (const auto& c : log.ar_log())
        if (c.cycle <= last) port.ar_log.push_back({c.cycle, c.address, c.beats, c.id});
    for (const auto& c : log.aw_log())
        if (c.cycle <= last) port.aw_log.push_back({c.cycle, c.address, c.beats, c.id});
    for (std::size_t i = 0; i < kClients; ++i) {
        if (totals.read_bytes_by_client[i]) port.read_bytes_by_client.emplace_back(kClientNames[i], totals.read_bytes_by_client[i]);
        if (totals.write_bytes_by_client[i]) port.write_bytes_by_client.emplace_back(kClientNames[i], totals.write_bytes_by_client[i]);
    }
    return port;
}

FollowedPath::FollowedPath(Top& top, Cycle every) : top_(top)
{
    if (every != 0) path_.look_every(every);
    top.follow(path_.trails, path_.ports[0], path_.ports[1]);
}

/// Operations that were done or stamped up to now end slices of the causes.
void FollowedPath::cut()
{
    for (; cut_done_ < top_.glb().done().size(); ++cut_done_) path_.cut(top_.glb().done()[cut_done_].cycle);
    for (; stamps && cut_stamps_ < stamps->size(); ++cut_stamps_) path_.cut((*stamps)[cut_stamps_]);
}

void FollowedPath::look(Cycle now)
{
    path_.reach(now);
    while (path_.next() <= now && !top_.failures().any()) {
        if (!path_.wants_to_look()) continue;
        top_.catch_up(now);
        cut();
        path_.look();
    }
}

std::uint64_t FollowedPath::repeat(Cycle first, Cycle second, std::uint64_t times)
{
    cut();
    return path_.repeat(first, second, times);
}

bool FollowedPath::remember(Cycle now, std::size_t most)
{
    cut();
    return path_.remember(now, most);
}

Causes FollowedPath::causes(Cycle t0, Cycle done, bool interrupt)
{
    cut();
    return path_.causes(t0, done, interrupt);
}

}  // namespace dlasim
