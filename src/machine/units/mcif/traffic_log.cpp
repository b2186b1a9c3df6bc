#include "units/mcif/traffic_log.h"

#include <algorithm>

namespace dlasim {
namespace {

PortTotals minus(PortTotals a, const PortTotals& b)
{
    a.ar -= b.ar;
    a.aw -= b.aw;
    a.read_beats -= b.read_beats;
    a.write_beats -= b.write_beats;
    a.write_bytes -= b.write_bytes;
    for (std::size_t i = 0; i < kClients; ++i) {
        a.read_bytes_by_client[i] -= b.read_bytes_by_client[i];
        a.write_bytes_by_client[i] -= b.write_bytes_by_client[i];
    }
    return a;
}

}  // namespace

void TrafficLog::mark(Cycle first)
{
    first_ = first;
    PortTotals counted;  // they happened already, but not before the mark
    for (std::size_t i = events_ - std::min(events_, kRecent); i < events_; ++i)
        if (recent_[i % kRecent].at >= first) add(counted, recent_[i % kRecent]);
    before_ = minus(all_, counted);
    ar_log_.clear();
    aw_log_.clear();
    for (std::size_t i = commands_ - std::min(commands_, kRecent); i < commands_; ++i) append(recent_commands_[i % kRecent]);
}

PortTotals TrafficLog::since_mark(Cycle last) const
{
    PortTotals after;  // accepted after the last cycle
    for (std::size_t i = events_ - std::min(events_, kRecent); i < events_; ++i)
        if (recent_[i % kRecent].at > last) add(after, recent_[i % kRecent]);
    return minus(minus(all_, before_), after);
}

void TrafficLog::log(const Command& command, Kind kind)
{
    recent_commands_[commands_++ % kRecent] = {command, kind};
    append({command, kind});
}

void TrafficLog::append(const LoggedCommand& logged)
{
    std::vector<Command>& log = logged.kind == Kind::Ar ? ar_log_ : aw_log_;
    if (logged.command.cycle >= first_ && log.size() < logged_) log.push_back(logged.command);
}

void TrafficLog::add(PortTotals& totals, const Event& event)
{
    const std::uint32_t id = event.id % kClients;
    switch (event.kind) {
        case Kind::Ar:
            ++totals.ar;
            break;
        case Kind::Aw:
            ++totals.aw;
            break;
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
