#include "dram/report/run_report.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "dram/read/keys.h"
#include "dram/report/report.h"

namespace dlasim::dram {
namespace {

using OrderedJson = nlohmann::ordered_json;

/// What a key of the device file says, under the name that it has here; with the defaults it is always there.
constexpr KeyRow as(std::string_view path, std::string_view name)
{
    const auto* const key = std::find_if(kConfigKeys.begin(), kConfigKeys.end(), [&](const ConfigKey& k) { return k.row.name == path; });
    return {name, key->row.type, key->row.unit, key->row.meaning};
}
constexpr KeyRow as(std::string_view path) { return as(path, path); }

const char* page_policy(const Config& c)
{
    static const char* const kNames[] = {"open", "closed_auto", "closed_cap", "open_adaptive", "closed_adaptive", "timeout"};
    return kNames[static_cast<std::size_t>(c.controller.page_policy)];
}
const char* refresh_policy(const Config& c)
{
    static const char* const kNames[] = {"none", "all_bank_staggered", "all_bank_simultaneous", "per_bank"};
    return kNames[static_cast<std::size_t>(c.refresh.policy)];
}

constexpr std::array kConstraintKeys{
    Key<Constraint>{{"rule", "text", "", "its number in the table"}, value_of<&Constraint::rule>},
    Key<Constraint>{{"gap", "text", "", "the expression of the table"}, value_of<&Constraint::gap_text>},
    Key<Constraint>{{"cycles", "integer", "DRAM cycles", "its value"}, value_of<&Constraint::gap>},
};

OrderedJson constraints(const Config& config) { return written_list(kConstraintKeys, config.constraints); }

using MemoryKey = Key<Config>;
constexpr std::array kMemoryKeys{
    MemoryKey{as("name"), value_of<&Config::name>},
    MemoryKey{as("about"), value_of<&Config::about>},
    MemoryKey{as("source"), value_of<&Config::source>},
    MemoryKey{as("verified"), value_of<&Config::verified>},
    MemoryKey{as("standard"), value_of<&Config::standard>},
    MemoryKey{as("organisation/channels", "channels"), value_of<&Config::organisation, &Organisation::channels>},
    MemoryKey{{"ranks", "integer", "ranks", "ranks of a channel"}, value_of<&Config::organisation, &Organisation::ranks>},
    MemoryKey{as("organisation/bank_groups", "bank_groups"), value_of<&Config::organisation, &Organisation::bank_groups>},
    MemoryKey{as("organisation/banks", "banks"), value_of<&Config::organisation, &Organisation::banks>},
    MemoryKey{as("organisation/rows", "rows"), value_of<&Config::organisation, &Organisation::rows>},
    MemoryKey{as("organisation/columns", "columns"), value_of<&Config::organisation, &Organisation::columns>},
    MemoryKey{{"devices_per_rank", "integer", "devices", "side by side on the data bus"},
              value_of<&Config::organisation, &Organisation::devices_per_rank>},
    MemoryKey{{"burst_bytes", "integer", "bytes", "bytes of a burst"}, value_of<&Config::organisation, &Organisation::request_bytes>},
    MemoryKey{{"burst_cycles", "integer", "DRAM cycles", "of the data bus, for a burst"},
              value_of<&Config::organisation, &Organisation::burst_cycles>},
    MemoryKey{{"capacity_bytes", "integer", "bytes", "of all channels"}, value_of<&Config::organisation, &Organisation::capacity_bytes>},
    MemoryKey{as("base"), value_of<&Config::base>},
    MemoryKey{as("wrap"), value_of<&Config::wrap>},
    MemoryKey{as("mapping"), value_of<&Config::mapping, &Mapping::text>},
    MemoryKey{as("tCK_ns"), value_of<&Config::tck_ns>},
    MemoryKey{{"peak_gb_per_s", "number", "GB/s", "capacity of all data buses"}, value_of<&Config::peak_gb_per_s>},
    MemoryKey{as("timing"), value_of<&Config::timing>},
    MemoryKey{{"read_latency", "integer", "DRAM cycles", "from the read command to its first data"}, value_of<&Config::read_latency>},
    MemoryKey{{"write_latency", "integer", "DRAM cycles", "from the write command to its first data"}, value_of<&Config::write_latency>},
    MemoryKey{as("refresh/policy"), [](const Config& c) -> OrderedJson { return refresh_policy(c); }},
    MemoryKey{as("refresh/postpone"), value_of<&Config::refresh, &Refresh::postpone>},
    MemoryKey{{"refresh/interval", "integer", "DRAM cycles", "from refresh to refresh"}, value_of<&Config::refresh, &Refresh::interval>},
    MemoryKey{as("controller/profile"),
              [](const Config& c) -> OrderedJson { return c.controller.profile == Profile::Reference ? "reference" : "default"; }},
    MemoryKey{as("controller/page_policy"), [](const Config& c) -> OrderedJson { return page_policy(c); }},
    MemoryKey{as("controller/read_queue"), value_of<&Config::controller, &ControllerConfig::read_queue>},
    MemoryKey{as("controller/write_queue"), value_of<&Config::controller, &ControllerConfig::write_queue>},
    MemoryKey{as("controller/write_high"), value_of<&Config::controller, &ControllerConfig::write_high>},
    MemoryKey{as("controller/write_low"), value_of<&Config::controller, &ControllerConfig::write_low>},
    MemoryKey{as("controller/write_age"), value_of<&Config::controller, &ControllerConfig::write_age>},
    MemoryKey{as("controller/read_age"), value_of<&Config::controller, &ControllerConfig::read_age>},
    MemoryKey{as("controller/hit_cap"), value_of<&Config::controller, &ControllerConfig::hit_cap>},
    MemoryKey{as("controller/power_down_after"), value_of<&Config::controller, &ControllerConfig::power_down_after>},
    MemoryKey{as("controller/self_refresh_after"), value_of<&Config::controller, &ControllerConfig::self_refresh_after>},
    MemoryKey{{"constraints", "list", "", "the rows of the constraint table, in cycles of this device"}, constraints},
};

constexpr std::array kCheckKeys{
    Key<Checker>{{"commands", "integer", "commands", "commands that were checked"}, value_of<&Checker::commands>},
    Key<Checker>{{"violations", "integer", "commands", "commands that broke a rule"}, value_of<&Checker::count>},
    Key<Checker>{{"first", "list", "", "the first of them, in words", "there were any"},
                 [](const Checker& c) -> OrderedJson {
                     OrderedJson list = OrderedJson::array();
                     for (const Violation& v : c.violations()) list.push_back(v.what);
                     return list.empty() ? kAbsent : list;
                 }},
};

constexpr std::array kRunKeys{
    Key<PatternRun>{{"schema", "integer", "", "1"}, [](const PatternRun&) -> OrderedJson { return 1; }},
    Key<PatternRun>{{"pattern", "text", "", "of the requests"}, [](const PatternRun& r) -> OrderedJson { return r.pattern; }},
    Key<PatternRun>{{"memory", "object", "", "the device, every derived value included; --describe prints it alone"},
                    [](const PatternRun& r) -> OrderedJson { return config_json(r.config); }},
    Key<PatternRun>{{"statistics", "object", "", "as in result.json: the section above"},
                    [](const PatternRun& r) -> OrderedJson { return statistics_json(r.config, r.channels); }},
    Key<PatternRun>{{"check", "object", "", "of every command against the table", "--check-dram"},
                    [](const PatternRun& r) -> OrderedJson { return r.checker ? written(kCheckKeys, *r.checker) : kAbsent; }},
};

}  // namespace

nlohmann::ordered_json config_json(const Config& config) { return written(kMemoryKeys, config); }

nlohmann::ordered_json run_json(const PatternRun& run) { return written(kRunKeys, run); }

std::vector<PlacedKey> run_keys()
{
    return placed(kRunKeys, "", kMemoryKeys, "memory/", kConstraintKeys, "memory/constraints/[]/", kCheckKeys, "check/");
}

}  // namespace dlasim::dram
