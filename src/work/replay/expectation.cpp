#include "replay/expectation.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/files/printable.h"
#include "replay/events.h"

namespace dlasim {
namespace {

constexpr std::array kTotals{"ar", "rbeats", "aw", "wbeats", "wbytes"};
constexpr std::array kProbeFigures{"active", "first", "last"};

std::int64_t cycle_of(const Json& value, const JsonPlace& place)
{
    if (!value.is_number_integer()) place.fail(found(value) + ", expected a cycle");
    return value.get<std::int64_t>();
}

const Json& list_of(const Json& value, std::size_t length, const char* form, const JsonPlace& place)
{
    if (!value.is_array() || value.size() != length) place.fail(found(value) + ", expected " + form);
    return value;
}

SignalEvent read_event(const Json& json, EventForm form, const JsonPlace& place)
{
    SignalEvent event;
    switch (form) {
        case EventForm::Edge:
            event.cycle = cycle_of(json, place);
            return event;
        case EventForm::Command:
            list_of(json, 4, "[cycle, \"hex address\", beats, id]", place);
            event.cycle = cycle_of(json[0], place.at(0));
            event.values = {hex_number(json[1], place.at(1)), number(json[2], place.at(2), 0, UINT32_MAX),
                            number(json[3], place.at(3), 0, UINT32_MAX)};
            return event;
        case EventForm::Run:
            list_of(json, 2, "[start, length]", place);
            event.cycle = cycle_of(json[0], place.at(0));
            event.values[0] = number(json[1], place.at(1), 0, UINT64_MAX);
            return event;
    }
    return event;
}

void read_events(Signal& signal, const Json& json, const JsonPlace& place)
{
    if (!json.is_array()) place.fail(found(json) + ", expected a list");
    signal.events.emplace();
    for (std::size_t i = 0; i < json.size(); ++i) signal.events->push_back(read_event(json[i], signal.form, place.at(i)));
    signal.cut = signal.form != EventForm::Edge;  // recording stopped after a limit; later events are in the totals
}

template <class Names>
void read_totals(Signal& signal, const Json& json, const Names& names, const JsonPlace& place)
{
    if (!json.is_object()) place.fail(found(json) + ", expected an object");
    for (const char* name : names)
        if (json.contains(name)) signal.totals.emplace_back(name, cycle_of(json[name], place.at(name)));
}

std::string text_of(const SignalEvent& event, EventForm form)
{
    switch (form) {
        case EventForm::Edge:
            return fmt::format("cycle {}", event.cycle);
        case EventForm::Command:
            return fmt::format("{:#x}, {} beats, id {} in cycle {}", event.values[0], event.values[1], event.values[2], event.cycle);
        case EventForm::Run:
            return fmt::format("{} cycles from cycle {} on", event.values[0], event.cycle);
    }
    return "";
}

/// The signal of that name as the run has it.
Signal found_signal(const Signal& wanted, const RunResult& run)
{
    Signal signal{wanted.group, wanted.form, wanted.name, std::vector<SignalEvent>{}, false, {}};
    const auto port = [&](const PortTraffic& traffic, bool reads) {
        for (const BusCommand& c : reads ? traffic.ar_log : traffic.aw_log)
            signal.events->push_back({static_cast<std::int64_t>(c.cycle) - static_cast<std::int64_t>(run.t0), {c.address, c.beats, c.id}});
    };
    const auto totals = [&](const PortTraffic& t) {
        const std::array figures{t.ar, t.read_beats, t.aw, t.write_beats, t.write_bytes};
        for (std::size_t i = 0; i < kTotals.size(); ++i) signal.totals.emplace_back(kTotals[i], static_cast<std::int64_t>(figures[i]));
    };
    const std::string& name = wanted.name;
    if (wanted.group == EventGroup::Done) {
        for (const std::int64_t cycle : run.interrupt_cycles) signal.events->push_back({cycle, {}});
    } else if (wanted.group == EventGroup::Bus) {
        if (name == "dbb") totals(run.dbb);
        else if (name == "cvsram") totals(run.cvsram);
        else port(name.starts_with("cvsram") ? run.cvsram : run.dbb, name.ends_with("ar"));
    } else {
        const auto probe = std::find_if(run.probes.begin(), run.probes.end(), [&](const ProbeEvents& p) { return p.name == name; });
        if (probe == run.probes.end()) {
            signal.events.reset();
            return signal;
        }
        signal.totals = {{"active", static_cast<std::int64_t>(probe->active)}, {"first", probe->first}, {"last", probe->last}};
        for (const auto& [start, length] : probe->runs) signal.events->push_back({start, {length, 0, 0}});
    }
    return signal;
}

std::optional<SignalDifference> event_difference(const Signal& want, const Signal& got)
{
    const std::vector<SignalEvent>&expected = *want.events, &found = *got.events;
    const auto [e, f] = std::mismatch(expected.begin(), expected.end(), found.begin(), found.end());
    if (e == expected.end() && (f == found.end() || want.cut)) return std::nullopt;
    SignalDifference difference{want.group, want.name, {}, "no more", "no more", static_cast<std::size_t>(e - expected.begin())};
    if (e != expected.end()) difference.expected = text_of(*e, want.form);
    if (f != found.end()) difference.found = text_of(*f, want.form);
    if (e == expected.end() || f == found.end()) difference.cycle = e != expected.end() ? e->cycle : f->cycle;
    else difference.cycle = std::min(e->cycle, f->cycle);
    if (e != expected.end() && f != found.end() && want.form == EventForm::Run && e->cycle == f->cycle)
        *difference.cycle += static_cast<std::int64_t>(std::min(e->values[0], f->values[0]));  // one of the two ends
    return difference;
}

std::optional<SignalDifference> signal_difference(const Signal& want, const RunResult& run)
{
    const Signal got = found_signal(want, run);
    if (!got.events) return SignalDifference{want.group, want.name, {}, "a probe", "no such probe", 0};
    if (want.events)
        if (std::optional<SignalDifference> difference = event_difference(want, got)) return difference;
    for (const auto& [name, value] : want.totals) {
        const auto total = std::find_if(got.totals.begin(), got.totals.end(), [&, &key = name](const auto& t) { return t.first == key; });
        if (total != got.totals.end() && total->second == value) continue;
        return SignalDifference{want.group,
                                want.name + " " + name,
                                {},
                                std::to_string(value),
                                total == got.totals.end() ? "none" : std::to_string(total->second),
                                0};
    }
    return std::nullopt;
}

std::optional<SignalDifference> read_difference(const Expectation& expectation, const RunResult& run)
{
    const auto& expected = *expectation.reads;
    const auto [e, f] = std::mismatch(expected.begin(), expected.end(), run.reads.begin(), run.reads.end());
    if (e == expected.end() && f == run.reads.end()) return std::nullopt;
    const auto text = [](const auto& at, const auto& end) {
        return at == end ? "no more" : fmt::format("{} = {:#x}", at->first, at->second);
    };
    return SignalDifference{EventGroup::Data,
                            "reads",
                            {},
                            printable(text(e, expected.end())),
                            text(f, run.reads.end()),
                            static_cast<std::size_t>(e - expected.begin())};
}

}  // namespace

bool Expectation::needs_events() const
{
    return std::any_of(signals.begin(), signals.end(),
                       [](const Signal& s) { return s.group == EventGroup::Probes || s.form == EventForm::Command; });
}

Expectation read_expectation(const Json& expected, bool finished, const JsonPlace& place)
{
    Expectation result{finished, {}, {}};
    const auto events = [&](EventGroup group, EventForm form, const std::string& name, const char* key) {
        if (!expected.contains(key) || expected[key].is_null()) return;
        Signal signal{group, form, name, {}, false, {}};
        read_events(signal, expected[key], place.at(key));
        result.signals.push_back(std::move(signal));
    };
    events(EventGroup::Done, EventForm::Edge, "interrupt", "interrupt_cycles");
    for (const char* key : {"ar", "aw", "cvsram_ar", "cvsram_aw"})
        events(EventGroup::Bus, EventForm::Command, key[0] == 'c' ? key : std::string("dbb_") + key, key);
    for (const char* key : {"dbb", "cvsram"})
        if (expected.contains(key) && !expected[key].is_null()) {
            Signal signal{EventGroup::Bus, EventForm::Edge, key, {}, false, {}};
            read_totals(signal, expected[key], kTotals, place.at(key));
            result.signals.push_back(std::move(signal));
        }
    if (finished && expected.contains("probes")) {  // a reference that hangs was recorded until somebody stopped it
        if (!expected["probes"].is_object()) place.at("probes").fail(found(expected["probes"]) + ", expected an object");
        for (const auto& [name, probe] : expected["probes"].items()) {
            const JsonPlace at = place.at("probes").at(name);
            Signal signal{EventGroup::Probes, EventForm::Run, name, {}, false, {}};
            read_totals(signal, probe, kProbeFigures, at);
            if (probe.contains("runs")) read_events(signal, probe["runs"], at.at("runs"));
            result.signals.push_back(std::move(signal));
        }
    }
    if (!expected.contains("reads")) return result;
    const Json& reads = list_or_none(expected, "reads", place);
    result.reads.emplace();
    for (std::size_t i = 0; i < reads.size(); ++i) {
        const JsonPlace at = place.at("reads").at(i);
        list_of(reads[i], 2, "[\"UNIT.REGISTER\", value]", at);
        if (!reads[i][0].is_string()) at.at(0).fail(found(reads[i][0]) + ", expected UNIT.REGISTER");
        result.reads->emplace_back(reads[i][0].get<std::string>(),
                                   static_cast<std::uint32_t>(number(reads[i][1], at.at(1), 0, UINT32_MAX)));
    }
    return result;
}

std::string SignalDifference::text() const
{
    std::string text = printable(signal) + ": expected " + expected + ", found " + found;
    if (equal_before != 0 || cycle) text += fmt::format(", {} equal before", equal_before);
    return text;
}

std::optional<SignalDifference> region_difference(const OutputRegion& region, const std::vector<std::uint8_t>& bytes)
{
    const std::string name = fmt::format("{}: {} bytes at {:#x}", region.source, region.bytes, region.place.address.byte());
    const auto [e, f] = std::mismatch(region.content.begin(), region.content.end(), bytes.begin(), bytes.end());
    if (e != region.content.end()) {
        const auto at = static_cast<std::size_t>(e - region.content.begin());
        return SignalDifference{EventGroup::Data,
                                fmt::format("{}: byte {} at {:#x}", region.source, at, (region.place.address + at).byte()),
                                {},
                                fmt::format("{:#04x}", *e),
                                f == bytes.end() ? "no more" : fmt::format("{:#04x}", *f),
                                at};
    }
    if (!region.crc32 || crc32_of(bytes) == *region.crc32) return std::nullopt;
    return SignalDifference{
        EventGroup::Data, name, {}, fmt::format("CRC {:#010x}", *region.crc32), fmt::format("CRC {:#010x}", crc32_of(bytes)), 0};
}

CaseComparison compare_with(const Expectation& expectation, const Recording& recording, const RunResult& run,
                            const std::vector<std::vector<std::uint8_t>>& contents, bool outputs, bool same_machine)
{
    CaseComparison result;
    const auto count = [&](EventGroup group, std::size_t n) {
        std::optional<std::size_t>& compared = result.compared[static_cast<std::size_t>(group)];
        compared = compared.value_or(0) + n;
    };
    const auto add = [&](std::optional<SignalDifference> difference) {
        if (difference) result.differences.push_back(std::move(*difference));
    };
    if (same_machine) {
        for (const Signal& signal : expectation.signals) {
            count(signal.group, (signal.events ? signal.events->size() : 0) + signal.totals.size());
            add(signal_difference(signal, run));
        }
        if (expectation.finished == run.hung) {
            count(EventGroup::Done, 1);
            const char* const ends[] = {"a machine that hangs", "a program that ends"};
            add(SignalDifference{EventGroup::Done, "end", {}, ends[expectation.finished], ends[!run.hung], 0});
        }
        if (expectation.reads && outputs) {
            count(EventGroup::Data, expectation.reads->size());
            add(read_difference(expectation, run));
        }
    }
    for (std::size_t i = 0; outputs && i < contents.size(); ++i) {
        if (!recording.outputs[i].crc32 && recording.outputs[i].content.empty()) continue;
        count(EventGroup::Data, 1);
        add(region_difference(recording.outputs[i], contents[i]));
    }
    std::stable_sort(result.differences.begin(), result.differences.end(), [](const SignalDifference& a, const SignalDifference& b) {
        return std::pair(a.cycle.value_or(INT64_MAX), a.group) < std::pair(b.cycle.value_or(INT64_MAX), b.group);
    });
    return result;
}

}  // namespace dlasim
