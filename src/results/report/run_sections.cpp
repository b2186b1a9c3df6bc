#include "report/run_sections.h"

#include <algorithm>
#include <array>
#include <variant>

#include "base/bits.h"
#include "config/machine/measured.h"
#include "replay/events.h"
#include "replay/hazard_report.h"
#include "report/timeline/power_profile.h"
#include "silicon/silicon_keys.h"

namespace dlasim {
namespace {

/// A unit in a window of that many cycles.
struct UnitView {
    const UnitReport& report;
    Cycle cycles;
};

template <Phase phase>
OrderedJson cycles_in(const UnitView& unit)
{
    return unit.report.phases.cycles(phase);
}

OrderedJson values_json(const CounterValues& values)
{
    if (values.empty()) return kAbsent;
    OrderedJson json;
    for (const auto& [name, value] : values) json[name] = value;
    return json;
}

OrderedJson gated_json(const UnitView& unit)
{
    if (unit.report.clock_on.empty()) return kAbsent;
    OrderedJson json;
    for (const auto& [domain, on] : unit.report.clock_on) json[domain] = unit.cycles - on;
    return json;
}

constexpr std::string_view kClocks = "the unit gates its clock";
constexpr std::array kUnitKeys{
    Key<UnitView>{{"issuing", "integer", "cycles", "it works"}, cycles_in<Phase::Issuing>},
    Key<UnitView>{{"starved", "integer", "cycles", "it waited for its producer"}, cycles_in<Phase::Starved>},
    Key<UnitView>{{"blocked", "integer", "cycles", "it waited for its consumer"}, cycles_in<Phase::Blocked>},
    Key<UnitView>{{"draining", "integer", "cycles", "no new input, results in flight"}, cycles_in<Phase::Draining>},
    Key<UnitView>{{"gated", "integer", "cycles", "nothing to do"}, cycles_in<Phase::Gated>},
    Key<UnitView>{{"clock_on", "object", "cycles", "cycles with the clock of a domain on", kClocks},
                  [](const UnitView& u) -> OrderedJson { return values_json(u.report.clock_on); }},
    Key<UnitView>{{"clock_gated", "object", "cycles", "all others", kClocks}, gated_json},
    Key<UnitView>{kIdleRunsKey, [](const UnitView& u) { return idle_runs_json(u.report); }},
    Key<UnitView>{{"counters", "object", "", "counters of the unit: above", "the unit has counters"},
                  [](const UnitView& u) -> OrderedJson { return values_json(u.report.counters); }},
};

OrderedJson clients_json(const std::vector<std::pair<std::string, std::uint64_t>>& clients)
{
    OrderedJson json = OrderedJson::object();
    for (const auto& [client, bytes] : clients) json[client] = bytes;
    return json;
}

struct PortView {
    const PortTraffic& traffic;
    std::uint32_t beat_bytes;
    const PortTraffic& port() const { return traffic; }
};

constexpr std::array kPortKeys{
    Key<PortView>{{"read_commands", "integer", "commands", "bursts read"}, value_of<&PortView::port, &PortTraffic::ar>},
    Key<PortView>{{"read_beats", "integer", "beats", "beats read"}, value_of<&PortView::port, &PortTraffic::read_beats>},
    Key<PortView>{{"read_bytes", "integer", "bytes", "whole beats"},
                  [](const PortView& p) -> OrderedJson { return p.traffic.read_beats * p.beat_bytes; }},
    Key<PortView>{{"write_commands", "integer", "commands", "bursts written"}, value_of<&PortView::port, &PortTraffic::aw>},
    Key<PortView>{{"write_beats", "integer", "beats", "beats written"}, value_of<&PortView::port, &PortTraffic::write_beats>},
    Key<PortView>{{"write_bytes", "integer", "bytes", "bytes whose strobes were 1"}, value_of<&PortView::port, &PortTraffic::write_bytes>},
    Key<PortView>{{"read_bytes_by_client", "object", "bytes", "by client of MCIF or CVIF: SDP, SDP_BS, CDMA_DAT, CDMA_WT, .."},
                  [](const PortView& p) -> OrderedJson { return clients_json(p.traffic.read_bytes_by_client); }},
    Key<PortView>{{"write_bytes_by_client", "object", "bytes", "by client"},
                  [](const PortView& p) -> OrderedJson { return clients_json(p.traffic.write_bytes_by_client); }},
};

}  // namespace

bool was_measured(const Hardware& hardware, const Program& program)
{
    const bool pixels = std::ranges::any_of(program, [](const ProgramEntry& entry) {
        const auto* write = std::get_if<RegisterWrite>(&entry);
        return write && write->name == "CDMA.D_DATAIN_FORMAT" && bits(write->value, 0, 1) != 0;
    });
    return is_measured(hardware, pixels);
}

const char* measured_text(const Hardware& hardware, const Program& program)
{
    return was_measured(hardware, program) ? "" : ", unmeasured (DEVIATIONS D8)";
}

OrderedJson units_json(const RunResult& run)
{
    if (run.units.empty()) return kAbsent;
    OrderedJson units;
    for (const UnitReport& unit : run.units) units[unit.name] = written(kUnitKeys, UnitView{unit, run.cycles});
    return units;
}

OrderedJson port_json(const PortTraffic& port, std::uint32_t beat_bytes) { return written(kPortKeys, PortView{port, beat_bytes}); }

OrderedJson memory_report_json(const MemoryReport& report)
{
    return report.json.empty() ? kAbsent : OrderedJson::parse(report.json, nullptr, false);
}

OrderedJson bounds_json(const std::vector<Bound>& bounds)
{
    OrderedJson json;
    for (const Bound& bound : bounds) json[bound.name()] = bound.cycles;
    return json;
}

void place_run_keys(std::vector<PlacedKey>& keys)
{
    place_keys(keys, kUnitKeys, "units/*/", kPortKeys, "traffic/dbb/");
    const std::size_t own = keys.size();
    place_keys(keys, kPortKeys, "traffic/cvsram/");
    for (std::size_t i = own; i < keys.size(); ++i) keys[i].again = true;
    place_keys(keys, hazard_keys(), "hazards/");
}

void place_silicon_keys(std::vector<PlacedKey>& keys)
{
    static constexpr std::array kMadeByKeys{
        KeyRow{"made_by", "object", "", "the program that made the result"},
        KeyRow{"made_by/version", "text", "", "its version, with the commit that it was built from"},
        KeyRow{"made_by/command", "text", "", "the command line", "without --reproducible; not of points and suites"},
    };
    place_keys(keys, kMadeByKeys, "", silicon::silicon_keys(), "", power_keys(), "");
}

}  // namespace dlasim
