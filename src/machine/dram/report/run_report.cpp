#include "dram/report/run_report.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "dram/read/keys.h"
#include "dram/report/report.h"

namespace dlasim::dram {
namespace {

using Json = nlohmann::ordered_json;

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
    Key<Constraint>{{"rule", "text", "", "its number in the table"}, [](const Constraint& c) -> Json { return c.rule; }},
    Key<Constraint>{{"gap", "text", "", "the expression of the table"}, [](const Constraint& c) -> Json { return c.gap_text; }},
    Key<Constraint>{{"cycles", "integer", "DRAM cycles", "its value"}, [](const Constraint& c) -> Json { return c.gap; }},
};

Json constraints(const Config& config)
{
    Json list = Json::array();
    for (const Constraint& c : config.constraints) list.push_back(written(kConstraintKeys, c));
    return list;
}

using Row = Key<Config>;
constexpr std::array kMemoryKeys{
    Row{as("name"), [](const Config& c) -> Json { return c.name; }},
    Row{as("about"), [](const Config& c) -> Json { return c.about; }},
    Row{as("source"), [](const Config& c) -> Json { return c.source; }},
    Row{as("verified"), [](const Config& c) -> Json { return c.verified; }},
    Row{as("standard"), [](const Config& c) -> Json { return c.standard; }},
    Row{as("organisation/channels", "channels"), [](const Config& c) -> Json { return c.organisation.channels; }},
    Row{{"ranks", "integer", "ranks", "ranks of a channel"}, [](const Config& c) -> Json { return c.organisation.ranks(); }},
    Row{as("organisation/bank_groups", "bank_groups"), [](const Config& c) -> Json { return c.organisation.bank_groups; }},
    Row{as("organisation/banks", "banks"), [](const Config& c) -> Json { return c.organisation.banks; }},
    Row{as("organisation/rows", "rows"), [](const Config& c) -> Json { return c.organisation.rows; }},
    Row{as("organisation/columns", "columns"), [](const Config& c) -> Json { return c.organisation.columns; }},
    Row{{"devices_per_rank", "integer", "devices", "side by side on the data bus"},
        [](const Config& c) -> Json { return c.organisation.devices_per_rank(); }},
    Row{{"burst_bytes", "integer", "bytes", "bytes of a burst"}, [](const Config& c) -> Json { return c.organisation.request_bytes(); }},
    Row{{"burst_cycles", "integer", "DRAM cycles", "of the data bus, for a burst"},
        [](const Config& c) -> Json { return c.organisation.burst_cycles(); }},
    Row{{"capacity_bytes", "integer", "bytes", "of all channels"}, [](const Config& c) -> Json { return c.organisation.capacity_bytes(); }},
    Row{as("base"), [](const Config& c) -> Json { return c.base; }},
    Row{as("wrap"), [](const Config& c) -> Json { return c.wrap; }},
    Row{as("mapping"), [](const Config& c) -> Json { return c.mapping.text(); }},
    Row{as("tCK_ns"), [](const Config& c) -> Json { return c.tck_ns; }},
    Row{{"peak_gb_per_s", "number", "GB/s", "capacity of all data buses"}, [](const Config& c) -> Json { return c.peak_gb_per_s(); }},
    Row{as("timing"), [](const Config& c) -> Json { return c.timing; }},
    Row{{"read_latency", "integer", "DRAM cycles", "from the read command to its first data"},
        [](const Config& c) -> Json { return c.read_latency; }},
    Row{{"write_latency", "integer", "DRAM cycles", "from the write command to its first data"},
        [](const Config& c) -> Json { return c.write_latency; }},
    Row{as("refresh/policy"), [](const Config& c) -> Json { return refresh_policy(c); }},
    Row{as("refresh/postpone"), [](const Config& c) -> Json { return c.refresh.postpone; }},
    Row{{"refresh/interval", "integer", "DRAM cycles", "from refresh to refresh"},
        [](const Config& c) -> Json { return c.refresh.interval; }},
    Row{as("controller/profile"),
        [](const Config& c) -> Json { return c.controller.profile == Profile::Reference ? "reference" : "default"; }},
    Row{as("controller/page_policy"), [](const Config& c) -> Json { return page_policy(c); }},
    Row{as("controller/read_queue"), [](const Config& c) -> Json { return c.controller.read_queue; }},
    Row{as("controller/write_queue"), [](const Config& c) -> Json { return c.controller.write_queue; }},
    Row{as("controller/write_high"), [](const Config& c) -> Json { return c.controller.write_high; }},
    Row{as("controller/write_low"), [](const Config& c) -> Json { return c.controller.write_low; }},
    Row{as("controller/write_age"), [](const Config& c) -> Json { return c.controller.write_age; }},
    Row{as("controller/read_age"), [](const Config& c) -> Json { return c.controller.read_age; }},
    Row{as("controller/hit_cap"), [](const Config& c) -> Json { return c.controller.hit_cap; }},
    Row{as("controller/power_down_after"), [](const Config& c) -> Json { return c.controller.power_down_after; }},
    Row{as("controller/self_refresh_after"), [](const Config& c) -> Json { return c.controller.self_refresh_after; }},
    Row{{"constraints", "list", "", "the rows of the constraint table, in cycles of this device"}, constraints},
};

constexpr std::array kCheckKeys{
    Key<Checker>{{"commands", "integer", "commands", "commands that were checked"}, [](const Checker& c) -> Json { return c.commands(); }},
    Key<Checker>{{"violations", "integer", "commands", "commands that broke a rule"}, [](const Checker& c) -> Json { return c.count(); }},
    Key<Checker>{{"first", "list", "", "the first of them, in words", "there were any"},
                 [](const Checker& c) -> Json {
                     Json list = Json::array();
                     for (const Violation& v : c.violations()) list.push_back(v.what);
                     return list.empty() ? kAbsent : list;
                 }},
};

constexpr std::array kRunKeys{
    Key<PatternRun>{{"schema", "integer", "", "1"}, [](const PatternRun&) -> Json { return 1; }},
    Key<PatternRun>{{"pattern", "text", "", "of the requests"}, [](const PatternRun& r) -> Json { return r.pattern; }},
    Key<PatternRun>{{"memory", "object", "", "the device, every derived value included; --describe prints it alone"},
                    [](const PatternRun& r) -> Json { return config_json(r.config); }},
    Key<PatternRun>{{"statistics", "object", "", "as in result.json: the section above"},
                    [](const PatternRun& r) -> Json { return statistics_json(r.config, r.channels); }},
    Key<PatternRun>{{"check", "object", "", "of every command against the table", "--check-dram"},
                    [](const PatternRun& r) -> Json { return r.checker ? written(kCheckKeys, *r.checker) : kAbsent; }},
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
