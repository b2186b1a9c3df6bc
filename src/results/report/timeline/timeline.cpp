#include "report/timeline/timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <unordered_map>

#include "timeline.pb.h"

namespace dlasim {
namespace {

constexpr std::uint32_t kSequence = 1, kStateCleared = 1, kNeedsState = 2;
constexpr std::int64_t kWindow = 1024;  // cycles of a point of a counter

/// A trace is the concatenation of packets. Descriptions and names are messages of the library; events, which are
/// many and all alike, are written field by field.
class TraceWriter {
public:
    explicit TraceWriter(const TimelineSelection& shown) : shown_(shown) {}

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
    /// Names are in the file once.
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
    /// Cycles [start, start + cycles), as far as they are shown; arrows that leave it and arrive at it.
    void slice(std::uint64_t track, std::uint64_t name, std::int64_t start, std::int64_t cycles, std::uint64_t leaves = 0,
               std::uint64_t arrives = 0)
    {
        const std::int64_t from = std::max(start, shown_.from), to = std::min(start + cycles, shown_.to);
        if (from >= to) return;
        event(track, from, perfetto::TrackEvent::SLICE_BEGIN, name, leaves, arrives);
        event(track, to, perfetto::TrackEvent::SLICE_END, 0, 0, 0);
    }
    void instant(std::uint64_t track, std::uint64_t name, std::int64_t at)
    {
        if (at >= shown_.from && at < shown_.to) event(track, at, perfetto::TrackEvent::INSTANT, name, 0, 0);
    }
    void counter(std::uint64_t track, std::int64_t at, std::int64_t value) { count(track, at, 30, value, 0); }
    void counter(std::uint64_t track, std::int64_t at, double value) { count(track, at, 44, 0, value); }
    std::string take() { return std::move(bytes_); }

private:
    // Fields of the public schema: TracePacket.timestamp 8, .trusted_packet_sequence_id 10, .track_event 11, .sequence_flags 13;
    // TrackEvent.type 9, .name_iid 10, .track_uuid 11, .counter_value 30, .double_counter_value 44, .flow_ids 47, .terminating_flow_ids 48.
    static constexpr std::uint32_t kVarint = 0, kFixed = 1, kBytes = 2;
    struct Buffer {
        char bytes[96];
        std::size_t size = 0;
        void number(std::uint64_t value)
        {
            for (; value >= 128; value >>= 7) bytes[size++] = static_cast<char>(value | 128);
            bytes[size++] = static_cast<char>(value);
        }
        void field(std::uint32_t field, std::uint64_t value)
        {
            number(field << 3 | kVarint);
            number(value);
        }
        void fixed(std::uint32_t field, std::uint64_t value)
        {
            number(field << 3 | kFixed);
            for (unsigned i = 0; i < 8; ++i) bytes[size++] = static_cast<char>(value >> 8 * i);
        }
    };
    void event(std::uint64_t track, std::int64_t at, perfetto::TrackEvent::Type type, std::uint64_t name, std::uint64_t leaves,
               std::uint64_t arrives)
    {
        Buffer event;
        event.field(9, static_cast<std::uint64_t>(type));
        if (name != 0) event.field(10, name);
        event.field(11, track);
        if (leaves != 0) event.fixed(47, leaves);
        if (arrives != 0) event.fixed(48, arrives);
        packet(at, event, name != 0);
    }
    void count(std::uint64_t track, std::int64_t at, std::uint32_t field, std::int64_t whole, double real)
    {
        if (at < shown_.from || at >= shown_.to) return;
        Buffer event;
        event.field(9, static_cast<std::uint64_t>(perfetto::TrackEvent::COUNTER));
        event.field(11, track);
        if (field == 30) event.field(30, static_cast<std::uint64_t>(whole));
        else event.fixed(field, std::bit_cast<std::uint64_t>(real));
        packet(at, event, false);
    }
    void packet(std::int64_t at, const Buffer& event, bool named)
    {
        Buffer packet;
        packet.field(8, static_cast<std::uint64_t>(std::max<std::int64_t>(at, 0)));
        packet.field(10, kSequence);
        if (named) packet.field(13, kNeedsState);
        packet.number(11 << 3 | kBytes);
        packet.number(event.size);
        Buffer head;
        head.number(1 << 3 | kBytes);
        head.number(packet.size + event.size);
        bytes_.append(head.bytes, head.size).append(packet.bytes, packet.size).append(event.bytes, event.size);
    }

    const TimelineSelection shown_;
    std::string bytes_;
    std::unordered_map<std::string, std::uint64_t> names_;
    std::uint64_t tracks_ = 0;
};

/// Overlapping spans get separate lanes.
void write_spans(TraceWriter& trace, std::uint64_t parent, std::vector<Span> spans)
{
    std::stable_sort(spans.begin(), spans.end(), [](const Span& a, const Span& b) { return a.start < b.start; });
    std::vector<std::pair<std::uint64_t, std::int64_t>> lanes;  // track, free from
    for (const Span& span : spans) {
        if (span.done <= span.start) continue;
        auto lane = std::find_if(lanes.begin(), lanes.end(), [&](const auto& l) { return l.second <= span.start; });
        if (lane == lanes.end()) lane = lanes.insert(lanes.end(), {trace.track("steps", parent), 0});
        trace.slice(lane->first, trace.number_of(span.name), span.start + 1, span.done - span.start);
        lane->second = span.done;
    }
}

/// How many cycles of each window the signal was high.
void write_rate(TraceWriter& trace, std::uint64_t track, const ProbeEvents& probe)
{
    std::int64_t window = 0, beats = 0, after = 0;
    const auto close = [&] {
        if (beats == 0) return;
        if (window != after) trace.counter(track, after * kWindow, std::int64_t{0});
        trace.counter(track, window * kWindow, beats);
        after = window + 1;
        beats = 0;
    };
    for (const auto& [start, length] : probe.runs)
        for (std::int64_t at = start, end = start + static_cast<std::int64_t>(length); at < end;) {
            if (at / kWindow != window) close();
            window = at / kWindow;
            const std::int64_t next = std::min(end, (window + 1) * kWindow);
            beats += next - at;
            at = next;
        }
    close();
    trace.counter(track, after * kWindow, std::int64_t{0});
}

void write_runs(TraceWriter& trace, std::uint64_t track, const ProbeEvents& probe)
{
    const std::uint64_t name = trace.number_of(probe.name);
    for (const auto& [start, length] : probe.runs) trace.slice(track, name, start, static_cast<std::int64_t>(length));
}

void write_units(TraceWriter& trace, std::uint64_t root, const RunResult& run)
{
    std::array<std::uint64_t, kPhases> names{};
    for (std::size_t p = 0; p < kPhases; ++p) names[p] = trace.number_of(std::string(kPhaseNames[p]));
    for (const UnitPhases& unit : run.phases) {
        if (unit.runs.empty()) continue;
        const std::uint64_t track = trace.track(unit.unit, root);
        for (const PhaseRun& r : unit.runs)
            trace.slice(track, names[static_cast<std::size_t>(r.phase)], r.start, static_cast<std::int64_t>(r.cycles));
    }
}

/// Whether the n-th layers of a unit belong to the n-th of CDMA, and are joined by arrows in this order.
constexpr std::array<std::string_view, 4> kJoined{"CDMA", "CSC", "CACC", "SDP"};

/// The layer of SDP that takes what the n-th layer of CACC makes: the first one that is done after it, and began before it was done.
std::vector<std::size_t> takers(const std::vector<GroupUse>& from, const std::vector<GroupUse>& by)
{
    std::vector<std::size_t> taken;
    std::size_t next = 0;
    for (const GroupUse& use : from) {
        while (next < by.size() && by[next].done < use.done) ++next;
        taken.push_back(next < by.size() && by[next].started <= use.done ? next : SIZE_MAX);
    }
    return taken;
}

void write_groups(TraceWriter& trace, std::uint64_t root, const RunResult& run, const TimelineSelection& shown)
{
    std::map<std::string_view, const std::vector<GroupUse>*> of;
    for (const GroupUses& unit : run.groups) of[unit.unit] = &unit.uses;
    // Arrows by unit and layer: those that leave and those that arrive.
    std::map<std::string_view, std::vector<std::pair<std::uint64_t, std::uint64_t>>> arrows;
    for (const auto& [unit, uses] : of) arrows[unit].resize(uses->size());
    std::uint64_t flow = 0;
    const auto join = [&](std::string_view a, std::size_t i, std::string_view b, std::size_t j) {
        if (arrows[a][i].first != 0 || arrows[b][j].second != 0) return;
        arrows[a][i].first = arrows[b][j].second = ++flow;
    };
    if (shown.has(TimelineTrack::Flows)) {
        for (std::size_t k = 0; k + 1 < kJoined.size(); ++k) {
            const auto from = of.find(kJoined[k]), to = of.find(kJoined[k + 1]);
            if (from == of.end() || to == of.end()) continue;
            if (kJoined[k + 1] != "SDP") {
                for (std::size_t i = 0; i < std::min(from->second->size(), to->second->size()); ++i) join(kJoined[k], i, kJoined[k + 1], i);
                continue;
            }
            const std::vector<std::size_t> taken = takers(*from->second, *to->second);
            for (std::size_t i = 0; i < taken.size(); ++i)
                if (taken[i] != SIZE_MAX) join("CACC", i, "SDP", taken[i]);
        }
        if (of.contains("SDP") && of.contains("PDP") && !of.contains("PDP_RDMA")) {  // PDP takes all of SDP
            const std::vector<std::size_t> taken = takers(*of["SDP"], *of["PDP"]);
            for (std::size_t i = 0; i < taken.size(); ++i)
                if (taken[i] != SIZE_MAX) join("SDP", i, "PDP", taken[i]);
        }
    }
    const std::uint64_t parent = trace.track("register groups", root);
    const auto t0 = static_cast<std::int64_t>(run.t0);
    for (const auto& [unit, uses] : of)
        for (unsigned group = 0; group < 2; ++group) {
            const auto used = [&](const GroupUse& use) { return use.group == group; };
            if (std::ranges::none_of(*uses, used)) continue;
            const std::uint64_t track = trace.track(fmt::format("{} group {}", unit, group), parent);
            for (std::size_t i = 0; i < uses->size(); ++i) {
                const GroupUse& use = (*uses)[i];
                if (!used(use)) continue;
                const auto at = [&](Cycle cycle) { return static_cast<std::int64_t>(cycle) - t0; };
                if (use.started > use.enabled)
                    trace.slice(track, trace.number_of("waits"), at(use.enabled), static_cast<std::int64_t>(use.started - use.enabled));
                trace.slice(track, trace.number_of(fmt::format("layer {}", i + 1)), at(use.started),
                            static_cast<std::int64_t>(use.done + 1 - use.started), arrows[unit][i].first, arrows[unit][i].second);
            }
        }
}

void write_stripes(TraceWriter& trace, std::uint64_t root, const RunResult& run)
{
    if (run.stripes.empty()) return;
    const std::uint64_t parent = trace.track("stripes", root);
    const std::uint64_t csc = trace.track("CSC", parent), cacc = trace.track("CACC", parent), sdp = trace.track("to SDP", parent);
    const auto at = [&](Cycle cycle) { return static_cast<std::int64_t>(cycle) - static_cast<std::int64_t>(run.t0); };
    std::int64_t free = INT64_MIN;  // to SDP
    for (const StripeTimes& s : run.stripes) {
        const std::uint64_t name = trace.number_of(fmt::format("{} atoms, {} kernels", s.atoms, s.kernels));
        trace.slice(csc, name, at(s.array), s.atoms);
        if (s.sums != kNever) trace.slice(cacc, name, at(s.sums), s.atoms);
        if (s.delivered == kNever || s.sent == kNever) continue;
        const std::int64_t from = std::max(at(s.delivered), free);
        trace.slice(sdp, name, from, at(s.sent) + 1 - from);
        free = std::max(free, at(s.sent) + 1);
    }
}

void write_banks(TraceWriter& trace, std::uint64_t root, const RunResult& run)
{
    if (run.rows.empty()) return;
    const std::uint64_t parent = trace.track("DRAM banks", root);
    std::map<std::uint32_t, std::uint64_t> tracks;
    for (const OpenRow& row : run.rows) tracks[row.bank] = 0;
    for (auto& [bank, track] : tracks) track = trace.track(run.banks[bank], parent);
    for (const OpenRow& row : run.rows)
        trace.slice(tracks[row.bank], trace.number_of(fmt::format("row {}", row.row)), row.start, row.end - row.start);
}

void write_counters(TraceWriter& trace, std::uint64_t root, const RunResult& run, const OverTime::Parts& parts)
{
    const std::uint64_t levels = trace.track("levels", root);
    for (const LevelValues& level : run.levels) {
        if (level.values.size() < 2) continue;
        const std::uint64_t track = trace.track(level.name, levels, level.name.starts_with("CBUF") ? "entries" : "credits");
        for (const auto& [at, value] : level.values) trace.counter(track, at, value);
    }
    const std::uint64_t rates = trace.track("beats in 1,024 cycles", root);
    for (const ProbeEvents& probe : run.clients) write_rate(trace, trace.track(probe.name, rates, "beats"), probe);
    const std::uint64_t over_time = trace.track("over time", root);
    for (const OverTime::Series& series : parts.series) {
        if (series.group == "level" || series.group == "overlap") continue;  // they are there cycle by cycle
        const std::uint64_t track = trace.track(fmt::format("{} {}", series.group, series.name), over_time, series.unit.c_str());
        for (std::size_t i = 0; i < parts.ends.size(); ++i) trace.counter(track, i == 0 ? 0 : parts.ends[i - 1], series.values[i]);
        trace.counter(track, parts.ends.back(), 0.0);
    }
}

}  // namespace

void require_timelines() {}

std::string timeline_bytes(const RunResult& run, const std::string& name, const std::vector<Span>& spans, const OverTime::Parts& parts,
                           const TimelineSelection& shown)
{
    TraceWriter trace(shown);
    const std::uint64_t root = trace.track(name, 0);
    if (shown.has(TimelineTrack::Steps)) {
        write_spans(trace, root, spans);
        const std::uint64_t interrupts = trace.track("interrupts", root), interrupt = trace.number_of("interrupt");
        for (const std::int64_t at : run.interrupt_cycles) trace.instant(interrupts, interrupt, at);
    }
    if (shown.has(TimelineTrack::Units)) write_units(trace, root, run);
    if (shown.has(TimelineTrack::Groups)) write_groups(trace, root, run, shown);
    if (shown.has(TimelineTrack::Stripes)) write_stripes(trace, root, run);
    if (shown.has(TimelineTrack::Clients)) {
        const std::uint64_t clients = trace.track("memory clients", root);
        for (const ProbeEvents& probe : run.clients) write_runs(trace, trace.track(probe.name, clients), probe);
    }
    if (shown.has(TimelineTrack::Banks)) write_banks(trace, root, run);
    if (shown.has(TimelineTrack::Counters)) write_counters(trace, root, run, parts);
    if (shown.has(TimelineTrack::Signals)) {
        const std::uint64_t signals = trace.track("signals", root);
        for (const ProbeEvents& probe : run.probes)
            if (probe.active != 0 && !probe.name.ends_with("_ready") && !probe.name.starts_with("clock_on_"))
                write_runs(trace, trace.track(probe.name, signals), probe);
    }
    return trace.take();
}

}  // namespace dlasim
