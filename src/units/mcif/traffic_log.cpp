#include "units/mcif/traffic_log.h"

#include <algorithm>

namespace dlasim {

void TrafficLog::mark(Cycle t0)
{
    t0_ = t0;
    marked_ = PortTotals{};
    ar_log_.clear();
    aw_log_.clear();
    const std::size_t known = std::min(events_, kRecent);
    for (std::size_t i = events_ - known; i < events_; ++i) count_marked(recent_[i % kRecent]);
}

void TrafficLog::record(const Event& event)
{
    add(all_, event);
    recent_[events_++ % kRecent] = event;
    count_marked(event);
}

void TrafficLog::count_marked(const Event& event)
{
    if (event.at < t0_) return;
    add(marked_, event);
    if (!recording_ || (event.kind != Kind::Ar && event.kind != Kind::Aw)) return;
    std::vector<Command>& log = event.kind == Kind::Ar ? ar_log_ : aw_log_;
    if (log.size() == kLogged) return;
    log.push_back(event.command);
    log.back().cycle = event.at;
}

void TrafficLog::add(PortTotals& totals, const Event& event)
{
    const std::uint32_t id = event.command.id % kClients;
    switch (event.kind) {
    case Kind::Ar: ++totals.ar; break;
    case Kind::Aw: ++totals.aw; break;
    case Kind::Read:
        ++totals.read_beats;
        totals.read_bytes_by_client[id] += event.bytes;
        break;
    case Kind::Write:
        ++totals.write_beats;
        totals.write_bytes += event.bytes;
        totals.write_bytes_by_client[id] += event.bytes;
        break;
    }
}

}  // namespace dlasim
