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
    Key<Constraint>{{"rule", "text", "", "its number in the table"}, [](const Constraint& c) -> OrderedJson { return c.rule; }},
    Key<Constraint>{{"gap", "text", "", "the expression of the table"}, [](const Constraint& c) -> OrderedJson { return c.gap_text; }},
    Key<Constraint>{{"cycles", "integer", "DRAM cycles", "its value"}, [](const Constraint& c) -> OrderedJson { return c.gap; }},
};

OrderedJson constraints(const Config& config)
{
    OrderedJson list = OrderedJson::array();
    for (const Constraint& c : config.constraints) list.push_back(written(kConstraintKeys, c));
    return list;
}

using MemoryKey = Key<Config>;
constexpr std::array kMemoryKeys{
    MemoryKey{as("name"), [](const Config& c) -> OrderedJson { return c.name; }},
    MemoryKey{as("about"), [](const Config& c) -> OrderedJson { return c.about; }},
    MemoryKey{as("source"), [](const Config& c) -> OrderedJson { return c.source; }},
    MemoryKey{as("verified"), [](const Config& c) -> OrderedJson { return c.verified; }},
    MemoryKey{as("standard"), [](const Config& c) -> OrderedJson { return c.standard; }},
    MemoryKey{as("organisation/channels", "channels"), [](const Config& c) -> OrderedJson { return c.organisation.channels; }},
    MemoryKey{{"ranks", "integer", "ranks", "ranks of a channel"}, [](const Config& c) -> OrderedJson { return c.organisation.ranks(); }},
    MemoryKey{as("organisation/bank_groups", "bank_groups"), [](const Config& c) -> OrderedJson { return c.organisation.bank_groups; }},
    MemoryKey{as("organisation/banks", "banks"), [](const Config& c) -> OrderedJson { return c.organisation.banks; }},
    MemoryKey{as("organisation/rows", "rows"), [](const Config& c) -> OrderedJson { return c.organisation.rows; }},
    MemoryKey{as("organisation/columns", "columns"), [](const Config& c) -> OrderedJson { return c.organisation.columns; }},
    MemoryKey{{"devices_per_rank", "integer", "devices", "side by side on the data bus"},
              [](const Config& c) -> OrderedJson { return c.organisation.devices_per_rank(); }},
    MemoryKey{{"burst_bytes", "integer", "bytes", "bytes of a burst"},
              [](const Config& c) -> OrderedJson { return c.organisation.request_bytes(); }},
    MemoryKey{{"burst_cycles", "integer", "DRAM cycles", "of the data bus, for a burst"},
              [](const Config& c) -> OrderedJson { return c.organisation.burst_cycles(); }},
    MemoryKey{{"capacity_bytes", "integer", "bytes", "of all channels"},
              [](const Config& c) -> OrderedJson { return c.organisation.capacity_bytes(); }},
    MemoryKey{as("base"), [](const Config& c) -> OrderedJson { return c.base; }},
    MemoryKey{as("wrap"), [](const Config& c) -> OrderedJson { return c.wrap; }},
    MemoryKey{as("mapping"), [](const Config& c) -> OrderedJson { return c.mapping.text(); }},
    MemoryKey{as("tCK_ns"), [](const Config& c) -> OrderedJson { return c.tck_ns; }},
    MemoryKey{{"peak_gb_per_s", "number", "GB/s", "capacity of all data buses"},
              [](const Config& c) -> OrderedJson { return c.peak_gb_per_s(); }},
    MemoryKey{as("timing"), [](const Config& c) -> OrderedJson { return c.timing; }},
    MemoryKey{{"read_latency", "integer", "DRAM cycles", "from the read command to its first data"},
              [](const Config& c) -> OrderedJson { return c.read_latency; }},
    MemoryKey{{"write_latency", "integer", "DRAM cycles", "from the write command to its first data"},
              [](const Config& c) -> OrderedJson { return c.write_latency; }},
    MemoryKey{as("refresh/policy"), [](const Config& c) -> OrderedJson { return refresh_policy(c); }},
    MemoryKey{as("refresh/postpone"), [](const Config& c) -> OrderedJson { return c.refresh.postpone; }},
    MemoryKey{{"refresh/interval", "integer", "DRAM cycles", "from refresh to refresh"},
              [](const Config& c) -> OrderedJson { return c.refresh.interval; }},
    MemoryKey{as("controller/profile"),
              [](const Config& c) -> OrderedJson { return c.controller.profile == Profile::Reference ? "reference" : "default"; }},
    MemoryKey{as("controller/page_policy"), [](const Config& c) -> OrderedJson { return page_policy(c); }},
    MemoryKey{as("controller/read_queue"), [](const Config& c) -> OrderedJson { return c.controller.read_queue; }},
    MemoryKey{as("controller/write_queue"), [](const Config& c) -> OrderedJson { return c.controller.write_queue; }},
    MemoryKey{as("controller/write_high"), [](const Config& c) -> OrderedJson { return c.controller.write_high; }},
    MemoryKey{as("controller/write_low"), [](const Config& c) -> OrderedJson { return c.controller.write_low; }},
    MemoryKey{as("controller/write_age"), [](const Config& c) -> OrderedJson { return c.controller.write_age; }},
    MemoryKey{as("controller/read_age"), [](const Config& c) -> OrderedJson { return c.controller.read_age; }},
    MemoryKey{as("controller/hit_cap"), [](const Config& c) -> OrderedJson { return c.controller.hit_cap; }},
    MemoryKey{as("controller/power_down_after"), [](const Config& c) -> OrderedJson { return c.controller.power_down_after; }},
    MemoryKey{as("controller/self_refresh_after"), [](const Config& c) -> OrderedJson { return c.controller.self_refresh_after; }},
    MemoryKey{{"constraints", "list", "", "the rows of the constraint table, in cycles of this device"}, constraints},
};

constexpr std::array kCheckKeys{
    Key<Checker>{{"commands", "integer", "commands", "commands that were checked"},
                 [](const Checker& c) -> OrderedJson { return c.commands(); }},
    Key<Checker>{{"violations", "integer", "commands", "commands that broke a rule"},
                 [](const Checker& c) -> OrderedJson { return c.count(); }},
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
    std::vector<PlacedKey> keys;
    place_keys(keys, kRunKeys);
    place_keys(keys, kMemoryKeys, "memory/");
    place_keys(keys, kConstraintKeys, "memory/constraints/[]/");
    place_keys(keys, kCheckKeys, "check/");
    return keys;
}

}  // namespace dlasim::dram
