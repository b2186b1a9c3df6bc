#include "platform/window.h"

#include <algorithm>
#include <cctype>
#include <iterator>

namespace dlasim {

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

CriticalPathRecorder::CriticalPathRecorder(Top& top, Cycle every) : top_(top)
{
    if (every != 0) path_.compact_every(every);
    top.follow(path_.logs, path_.ports[0], path_.ports[1]);
}

/// Operations that were done or stamped up to now end slices of the causes.
void CriticalPathRecorder::cut()
{
    for (; cut_done_ < top_.glb().done().size(); ++cut_done_) path_.cut(top_.glb().done()[cut_done_].cycle);
    for (; stamps && cut_stamps_ < stamps->size(); ++cut_stamps_) path_.cut((*stamps)[cut_stamps_]);
}

void CriticalPathRecorder::look(Cycle now)
{
    path_.delay_compaction_until(now);
    while (path_.next() <= now && !top_.failures().any()) {
        if (!path_.should_compact()) continue;
        catch_up(now);
        path_.compact();
    }
}

/// All that is known when the cycles before `now` have run is noted.
void CriticalPathRecorder::catch_up(Cycle now)
{
    top_.catch_up(now);
    top_.note_pending();
    cut();
}

Causes CriticalPathRecorder::causes(Cycle t0, Cycle done, bool interrupt)
{
    top_.note_pending();
    cut();
    return path_.causes(t0, done, interrupt);
}

}  // namespace dlasim
