#include "report/timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "timeline.pb.h"

namespace dlasim {
namespace {

constexpr std::uint32_t kSequence = 1, kStateCleared = 1, kNeedsState = 2;
constexpr std::int64_t kWindow = 1024;  // cycles of a point of a counter

/// Packets one behind the other: a trace is their concatenation, so none but the one at hand is in memory as a message.
class TraceWriter {
public:
    TraceWriter()
    {
        packet_->set_trusted_packet_sequence_id(kSequence);
        packet_->set_sequence_flags(kNeedsState);
    }

    /// A track below another; the first one has no parent.
    std::uint64_t track(const std::string& name, std::uint64_t parent, const char* unit = nullptr)
    {
        perfetto::Trace trace;
        perfetto::TrackDescriptor& track = *trace.add_packet()->mutable_track_descriptor();
        track.set_uuid(++tracks_);
        track.set_name(name);
        if (parent != 0) track.set_parent_uuid(parent);
        track.set_sibling_order_rank(static_cast<std::int32_t>(tracks_));
        track.set_child_ordering(perfetto::TrackDescriptor::EXPLICIT);
        if (unit) track.mutable_counter()->set_unit_name(unit);
        trace.mutable_packet(0)->set_trusted_packet_sequence_id(kSequence);
        trace.AppendToString(&bytes_);
        return tracks_;
    }
    /// Cycles [start, start + cycles).
    void slice(std::uint64_t track, const std::string& name, std::int64_t start, std::uint64_t cycles)
    {
        event(track, start, perfetto::TrackEvent::SLICE_BEGIN, number_of(name));
        event(track, start + static_cast<std::int64_t>(cycles), perfetto::TrackEvent::SLICE_END, 0);
    }
    void instant(std::uint64_t track, const std::string& name, std::int64_t at)
    {
        event(track, at, perfetto::TrackEvent::INSTANT, number_of(name));
    }
    void counter(std::uint64_t track, std::int64_t at, std::int64_t value)
    {
        event_->set_counter_value(value);
        event(track, at, perfetto::TrackEvent::COUNTER, 0);
        event_->clear_counter_value();
    }
    std::string take() { return std::move(bytes_); }

private:
    /// Names stand in the file once.
    std::uint64_t number_of(const std::string& name)
    {
        const auto [known, fresh] = names_.try_emplace(name, names_.size() + 1);
        if (!fresh) return known->second;
        perfetto::Trace trace;
        perfetto::TracePacket& packet = *trace.add_packet();
        packet.set_trusted_packet_sequence_id(kSequence);
        packet.set_sequence_flags(names_.size() == 1 ? kStateCleared | kNeedsState : kNeedsState);
        perfetto::EventName& entry = *packet.mutable_interned_data()->add_event_names();
        entry.set_iid(known->second);
        entry.set_name(name);
        trace.AppendToString(&bytes_);
        return known->second;
    }
    void event(std::uint64_t track, std::int64_t at, perfetto::TrackEvent::Type type, std::uint64_t name)
    {
        event_->set_type(type);
        event_->set_track_uuid(track);
        if (name != 0) event_->set_name_iid(name);
        else event_->clear_name_iid();
        packet_->set_timestamp(static_cast<std::uint64_t>(std::max<std::int64_t>(at, 0)));
        trace_.AppendToString(&bytes_);
    }

    std::string bytes_;
    std::map<std::string, std::uint64_t> names_;
    std::uint64_t tracks_ = 0;
    perfetto::Trace trace_;  // of one event, filled again and again
    perfetto::TracePacket* packet_ = trace_.add_packet();
    perfetto::TrackEvent* event_ = packet_->mutable_track_event();
};

/// Spans that overlap stand in lanes of their own.
void write_spans(TraceWriter& trace, std::uint64_t parent, std::vector<Span> spans)
{
    std::stable_sort(spans.begin(), spans.end(), [](const Span& a, const Span& b) { return a.start < b.start; });
    std::vector<std::pair<std::uint64_t, std::int64_t>> lanes;  // track, free from
    for (const Span& span : spans) {
        if (span.done <= span.start) continue;
        auto lane = std::find_if(lanes.begin(), lanes.end(), [&](const auto& l) { return l.second <= span.start; });
        if (lane == lanes.end()) lane = lanes.insert(lanes.end(), {trace.track("steps", parent), 0});
        trace.slice(lane->first, span.name, span.start + 1, static_cast<std::uint64_t>(span.done - span.start));
        lane->second = span.done;
    }
}

/// How many cycles of each window the signal was high.
void write_rate(TraceWriter& trace, std::uint64_t track, const ProbeEvents& probe)
{
    std::map<std::int64_t, std::int64_t> windows;
    for (const auto& [start, length] : probe.runs)
        for (std::int64_t at = start, end = start + static_cast<std::int64_t>(length); at < end;) {
            const std::int64_t window = at / kWindow, next = std::min(end, (window + 1) * kWindow);
            windows[window] += next - at;
            at = next;
        }
    std::int64_t after = 0;
    for (const auto& [window, beats] : windows) {
        if (window != after) trace.counter(track, after * kWindow, 0);
        trace.counter(track, window * kWindow, beats);
        after = window + 1;
    }
    trace.counter(track, after * kWindow, 0);
}

}  // namespace

std::string timeline_bytes(const RunResult& run, const std::string& name, const std::vector<Span>& spans)
{
    TraceWriter trace;
    const std::uint64_t root = trace.track(name, 0);
    write_spans(trace, root, spans);
    const std::uint64_t interrupts = trace.track("interrupts", root);
    for (const std::int64_t at : run.interrupt_cycles) trace.instant(interrupts, "interrupt", at);
    for (const UnitPhases& unit : run.phases) {
        if (unit.runs.empty()) continue;
        const std::uint64_t track = trace.track(unit.unit, root);
        for (const PhaseRun& r : unit.runs)
            trace.slice(track, std::string(kPhaseNames[static_cast<std::size_t>(r.phase)]), r.start, r.cycles);
    }
    const std::uint64_t rates = trace.track("beats from memory", root);
    for (const ProbeEvents& probe : run.probes)
        if (probe.active != 0 && probe.name.ends_with("_rd_rsp_valid"))
            write_rate(trace, trace.track(probe.name, rates, "beats / 1024 cycles"), probe);
    const std::uint64_t signals = trace.track("signals", root);
    for (const ProbeEvents& probe : run.probes) {
        if (probe.active == 0 || probe.name.ends_with("_ready") || probe.name.starts_with("clock_on_")) continue;
        const std::uint64_t track = trace.track(probe.name, signals);
        for (const auto& [start, length] : probe.runs) trace.slice(track, probe.name, start, length);
    }
    return trace.take();
}

}  // namespace dlasim
