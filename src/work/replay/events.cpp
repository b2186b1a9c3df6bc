#include "replay/events.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace dlasim {
namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr std::size_t kRecorded = 400;   // commands in the file
constexpr std::size_t kHexBytes = 1024;  // regions up to here are written out

OrderedJson commands(const std::vector<BusCommand>& log, Cycle t0)
{
    OrderedJson list = OrderedJson::array();
    for (std::size_t i = 0; i < std::min(log.size(), kRecorded); ++i)
        list.push_back({static_cast<std::int64_t>(log[i].cycle) - static_cast<std::int64_t>(t0), fmt::format("{:x}", log[i].address),
                        log[i].beats, log[i].id});
    return list;
}

constexpr std::array kTotalKeys{
    Key<PortTraffic>{{"ar", "integer", "commands", "read commands"}, value_of<&PortTraffic::ar>},
    Key<PortTraffic>{{"rbeats", "integer", "beats", "beats of read data"}, value_of<&PortTraffic::read_beats>},
    Key<PortTraffic>{{"aw", "integer", "commands", "write commands"}, value_of<&PortTraffic::aw>},
    Key<PortTraffic>{{"wbeats", "integer", "beats", "beats of write data"}, value_of<&PortTraffic::write_beats>},
    Key<PortTraffic>{{"wbytes", "integer", "bytes", "bytes written: strobes that were 1"}, value_of<&PortTraffic::write_bytes>},
};

/// A region of memory after the run.
struct Region {
    const OutputRegion& place;
    const std::vector<std::uint8_t>& bytes;
};

OrderedJson hex_of(const Region& region)
{
    if (region.bytes.size() > kHexBytes) return kAbsent;
    std::string hex;
    for (const std::uint8_t byte : region.bytes) hex += fmt::format("{:02x}", byte);
    return hex;
}

constexpr std::array kRegionKeys{
    Key<Region>{{"addr", "text", "", "address of the region, hexadecimal"},
                [](const Region& r) -> OrderedJson { return fmt::format("{:x}", r.place.place.address.byte()); }},
    Key<Region>{{"bytes", "integer", "bytes", "its length"}, [](const Region& r) -> OrderedJson { return r.bytes.size(); }},
    Key<Region>{{"crc32", "text", "", "CRC-32 of its bytes after the run, hexadecimal"},
                [](const Region& r) -> OrderedJson { return fmt::format("{:08x}", crc32_of(r.bytes)); }},
    Key<Region>{{"hex", "text", "", "its bytes", "up to 1,024 bytes"}, hex_of},
};

struct Recorded {
    const ProbeEvents& probe;
    std::size_t most_runs;
};

OrderedJson runs_of(const Recorded& r)
{
    OrderedJson runs = OrderedJson::array();
    for (std::size_t i = 0; i < std::min(r.probe.runs.size(), r.most_runs); ++i)
        runs.push_back({r.probe.runs[i].first, r.probe.runs[i].second});
    return runs;
}

constexpr std::array kProbeKeys{
    Key<Recorded>{{"active", "integer", "cycles", "cycles in which it was high"},
                  [](const Recorded& r) -> OrderedJson { return r.probe.active; }},
    Key<Recorded>{{"first", "integer", "cycle", "the first of them, -1 if there is none"},
                  [](const Recorded& r) -> OrderedJson { return r.probe.first; }},
    Key<Recorded>{{"last", "integer", "cycle", "the last of them, -1 if there is none"},
                  [](const Recorded& r) -> OrderedJson { return r.probe.last; }},
    Key<Recorded>{{"runs", "list", "cycles", "[start, length] of each run: the first 400 of a replay, all of them of `run --events`"},
                  runs_of},
};

struct Events {
    const RunResult& run;
    const Recording& recording;
    const std::vector<std::vector<std::uint8_t>>& contents;
    bool secondary;
    std::size_t most_runs;
};

OrderedJson reads_of(const Events& e)
{
    OrderedJson reads = OrderedJson::array();
    for (const auto& [name, value] : e.run.reads) reads.push_back({name, value});
    return reads;
}

OrderedJson output_of(const Events& e)
{
    return written_list(kRegionKeys, e.contents.size(), [&](std::size_t i) { return Region{e.recording.outputs[i], e.contents[i]}; });
}

OrderedJson probes_of(const Events& e)
{
    OrderedJson probes = OrderedJson::object();
    for (const ProbeEvents& probe : e.run.probes) probes[probe.name] = written(kProbeKeys, Recorded{probe, e.most_runs});
    return probes;
}

constexpr std::string_view kSecondary = "the machine has a secondary port";
constexpr std::array kEventKeys{
    Key<Events>{{"interrupt_cycles", "list", "cycles", "every rising edge of the interrupt pin"},
                [](const Events& e) -> OrderedJson { return e.run.interrupt_cycles; }},
    Key<Events>{{"finished", "flag", "", "false", "the machine hangs"},
                [](const Events& e) -> OrderedJson { return e.run.hung ? OrderedJson(false) : kAbsent; }},
    Key<Events>{{"dbb", "object", "", "totals of the primary port from cycle 1 on"},
                [](const Events& e) -> OrderedJson { return written(kTotalKeys, e.run.dbb); }},
    Key<Events>{{"ar", "list", "", "read commands at the primary port in order: [cycle, address in hexadecimal, beats, id], the first 400"},
                [](const Events& e) -> OrderedJson { return commands(e.run.dbb.ar_log, e.run.t0); }},
    Key<Events>{{"aw", "list", "", "write commands, likewise"},
                [](const Events& e) -> OrderedJson { return commands(e.run.dbb.aw_log, e.run.t0); }},
    Key<Events>{{"cvsram", "object", "", "totals of the secondary port", kSecondary},
                [](const Events& e) -> OrderedJson { return e.secondary ? written(kTotalKeys, e.run.cvsram) : kAbsent; }},
    Key<Events>{{"cvsram_ar", "list", "", "read commands at the secondary port", kSecondary},
                [](const Events& e) -> OrderedJson { return e.secondary ? commands(e.run.cvsram.ar_log, e.run.t0) : kAbsent; }},
    Key<Events>{{"cvsram_aw", "list", "", "write commands at the secondary port", kSecondary},
                [](const Events& e) -> OrderedJson { return e.secondary ? commands(e.run.cvsram.aw_log, e.run.t0) : kAbsent; }},
    Key<Events>{{"reads", "list", "", "[UNIT.REGISTER, value] of every register read of the program, in its order"}, reads_of},
    Key<Events>{{"output", "list", "", "regions of memory after the run: those that the measured case names"}, output_of},
    Key<Events>{{"probes", "object", "", "handshakes at the boundaries of units, by probe: docs/hardware/interfaces.md 3"}, probes_of},
};

}  // namespace

OrderedJson events_json(const RunResult& result, const Recording& recording, const std::vector<std::vector<std::uint8_t>>& contents,
                        bool secondary, std::size_t most_runs)
{
    return written(kEventKeys, Events{result, recording, contents, secondary, most_runs});
}

OrderedJson idle_runs_json(const UnitReport& unit)
{
    if (unit.clock_on.empty()) return kAbsent;
    OrderedJson runs = OrderedJson::array();
    const std::vector<IdleRuns::Class>& classes = unit.idle_runs.classes();
    for (std::size_t i = 0; i < classes.size(); ++i)
        if (classes[i].runs != 0) runs.push_back({Cycle{1} << i, classes[i].runs, classes[i].cycles});
    return runs;
}

OrderedJson port_totals_json(const PortTraffic& port) { return written(kTotalKeys, port); }

std::vector<PlacedKey> port_total_keys() { return placed(kTotalKeys, ""); }

OrderedJson region_json(const OutputRegion& place, const std::vector<std::uint8_t>& bytes)
{
    return written(kRegionKeys, Region{place, bytes});
}

std::vector<PlacedKey> region_keys() { return placed(kRegionKeys, ""); }

std::vector<PlacedKey> event_keys()
{
    std::vector<PlacedKey> keys;
    for (const Key<Events>& key : kEventKeys) {
        place_keys(keys, std::array{key});
        if (key.row.name == "dbb" || key.row.name == "cvsram") place_keys(keys, kTotalKeys, std::string(key.row.name) + "/");
    }
    place_keys(keys, kRegionKeys, "output/[]/", kProbeKeys, "probes/*/");
    return keys;
}

std::string json_file_text(const OrderedJson& json, int indent)
{
    return json.dump(indent, ' ', false, OrderedJson::error_handler_t::replace) + "\n";
}

}  // namespace dlasim
