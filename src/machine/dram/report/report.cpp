#include "dram/report/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>

#include "base/files/printable.h"

namespace dlasim::dram {
namespace {

using OrderedJson = nlohmann::ordered_json;

Statistics sum_of(const std::vector<Statistics>& channels)
{
    Statistics sum = channels.front();
    for (std::size_t i = 1; i < channels.size(); ++i) sum.merge(channels[i]);
    return sum;
}

double bytes_of(const Statistics& s) { return static_cast<double>(s.bytes_read + s.bytes_written); }

double share(double part, double whole) { return whole > 0 ? part / whole : 0; }

/// What crossed the data bus; requests that wait in the queues have not.
double gb_per_s(const Config& config, const Statistics& s, std::size_t channels)
{
    return config.peak_gb_per_s() / config.organisation.channels * static_cast<double>(channels) *
           share(static_cast<double>(s.busy), static_cast<double>(s.bus_cycles));
}

/// What a row of the statistics is taken from: `s` sums up `channels` of them.
struct StatisticsView {
    const Config& config;
    const Statistics& s;
    std::size_t channels;
    Energy energy = energy_of(config, s);
    const Statistics& statistics() const { return s; }
};

OrderedJson by_rank_state(const auto& values)
{
    OrderedJson states;
    for (std::size_t i = 0; i < kRankStates; ++i) states[std::string{kRankStateNames[i]}] = values[i];
    return states;
}

OrderedJson commands_json(const Statistics& s)
{
    OrderedJson commands;
    for (std::size_t c = 0; c < kCommands; ++c)
        if (s.commands[c]) commands[std::string{kCommandNames[c]}] = s.commands[c];
    return commands;
}

OrderedJson lost_json(const StatisticsView& seen)
{
    OrderedJson lost;
    for (const auto& [owner, cycles] : lost_by_owner(seen.config, seen.s)) lost[owner] = cycles;
    return lost;
}

struct Bucket {
    std::uint64_t below, reads;
};

constexpr std::array kBucketKeys{
    Key<Bucket>{{"below_cycles", "integer", "DRAM cycles", "these reads took less, and at least half as long"}, value_of<&Bucket::below>},
    Key<Bucket>{{"reads", "integer", "reads", "reads in this bucket"}, value_of<&Bucket::reads>},
};

OrderedJson histogram_json(const Histogram& latency)
{
    OrderedJson histogram = OrderedJson::array();
    const auto buckets = latency.log2();
    for (std::size_t i = 0; i < buckets.size(); ++i)
        if (buckets[i]) histogram.push_back(written(kBucketKeys, Bucket{i >= 64 ? UINT64_MAX : std::uint64_t{1} << i, buckets[i]}));
    return histogram;
}

double rate(std::uint64_t part, std::uint64_t whole) { return share(static_cast<double>(part), static_cast<double>(whole)); }

using StatisticsKey = Key<StatisticsView>;
constexpr std::array kStatisticsKeys{
    StatisticsKey{{"cycles", "integer", "DRAM cycles", "cycles of the window"}, value_of<&StatisticsView::statistics, &Statistics::cycles>},
    StatisticsKey{{"reads", "integer", "requests", "reads accepted, of a burst each"},
                  value_of<&StatisticsView::statistics, &Statistics::reads>},
    StatisticsKey{{"reads_done", "integer", "requests", "reads answered"}, value_of<&StatisticsView::statistics, &Statistics::reads_done>},
    StatisticsKey{{"writes", "integer", "requests", "writes accepted, of a burst each"},
                  value_of<&StatisticsView::statistics, &Statistics::writes>},
    StatisticsKey{{"bytes_read", "integer", "bytes", "bytes of the reads accepted"},
                  value_of<&StatisticsView::statistics, &Statistics::bytes_read>},
    StatisticsKey{{"bytes_written", "integer", "bytes", "bytes of the writes accepted"},
                  value_of<&StatisticsView::statistics, &Statistics::bytes_written>},
    StatisticsKey{{"forwarded", "integer", "requests", "reads served from the write queue"},
                  value_of<&StatisticsView::statistics, &Statistics::forwarded>},
    StatisticsKey{{"merged", "integer", "requests", "requests that joined one of the same burst in a queue"},
                  value_of<&StatisticsView::statistics, &Statistics::merged>},
    StatisticsKey{{"bandwidth_gb_per_s", "number", "GB/s", "bytes over the data bus"},
                  [](const StatisticsView& v) -> OrderedJson { return gb_per_s(v.config, v.s, v.channels); }},
    StatisticsKey{{"row_hits", "integer", "requests", "requests whose row was open when their first command was issued"},
                  value_of<&StatisticsView::statistics, &Statistics::hits>},
    StatisticsKey{{"row_misses", "integer", "requests", "requests whose bank was closed"},
                  value_of<&StatisticsView::statistics, &Statistics::misses>},
    StatisticsKey{{"row_conflicts", "integer", "requests", "requests whose bank had another row open"},
                  value_of<&StatisticsView::statistics, &Statistics::conflicts>},
    StatisticsKey{{"row_hit_rate", "number", "", "row_hits of all three"},
                  [](const StatisticsView& v) -> OrderedJson { return rate(v.s.hits, v.s.hits + v.s.misses + v.s.conflicts); }},
    StatisticsKey{
        {"columns_after_the_first", "integer", "commands", "column commands that are not the first since the activation of their row"},
        value_of<&StatisticsView::statistics, &Statistics::later_columns>},
    StatisticsKey{{"column_to_column/same_group", "integer", "commands", "column commands whose predecessor went to the same bank group"},
                  value_of<&StatisticsView::statistics, &Statistics::same_group>},
    StatisticsKey{{"column_to_column/other_group", "integer", "commands", "to another group of the same rank"},
                  value_of<&StatisticsView::statistics, &Statistics::other_group>},
    StatisticsKey{{"column_to_column/other_rank", "integer", "commands", "to another rank"},
                  value_of<&StatisticsView::statistics, &Statistics::other_rank>},
    StatisticsKey{{"turnarounds", "integer", "changes", "changes of the direction of the data bus"},
                  value_of<&StatisticsView::statistics, &Statistics::turnarounds>},
    StatisticsKey{{"commands", "object", "commands", "commands issued, by name; only those that occurred"},
                  [](const StatisticsView& v) -> OrderedJson { return commands_json(v.s); }},
    StatisticsKey{{"data_bus/cycles", "integer", "DRAM cycles", "cycles of the data buses, to the end or the last data"},
                  value_of<&StatisticsView::statistics, &Statistics::bus_cycles>},
    StatisticsKey{{"data_bus/busy", "integer", "DRAM cycles", "of these with data"},
                  value_of<&StatisticsView::statistics, &Statistics::busy>},
    StatisticsKey{{"data_bus/utilization", "number", "", "busy of cycles"},
                  [](const StatisticsView& v) -> OrderedJson { return rate(v.s.busy, v.s.bus_cycles); }},
    StatisticsKey{{"data_bus/lost", "object", "DRAM cycles",
                   "cycles without data by owner: OWNER:RULE of the constraint table, no_request, scheduling, unfinished"},
                  lost_json},
    StatisticsKey{{"read_latency_cycles/min", "integer", "DRAM cycles", "from acceptance to the last data: the least"},
                  value_of<&StatisticsView::statistics, &Statistics::read_latency, &Histogram::min>},
    StatisticsKey{{"read_latency_cycles/mean", "number", "DRAM cycles", "the mean"},
                  value_of<&StatisticsView::statistics, &Statistics::read_latency, &Histogram::mean>},
    StatisticsKey{{"read_latency_cycles/p50", "integer", "DRAM cycles", "median of the reads"},
                  [](const StatisticsView& v) -> OrderedJson { return v.s.read_latency.quantile(0.5); }},
    StatisticsKey{{"read_latency_cycles/p99", "integer", "DRAM cycles", "99th percentile of the reads"},
                  [](const StatisticsView& v) -> OrderedJson { return v.s.read_latency.quantile(0.99); }},
    StatisticsKey{{"read_latency_cycles/max", "integer", "DRAM cycles", "the greatest"},
                  value_of<&StatisticsView::statistics, &Statistics::read_latency, &Histogram::max>},
    StatisticsKey{{"read_latency_cycles/histogram", "list", "", "buckets by powers of two, without empty ones"},
                  [](const StatisticsView& v) -> OrderedJson { return histogram_json(v.s.read_latency); }},
    StatisticsKey{{"queue_cycles/read", "list", "DRAM cycles", "cycles in which the read queue had 0, 1, 2, .. requests"},
                  value_of<&StatisticsView::statistics, &Statistics::read_queue_cycles>},
    StatisticsKey{{"queue_cycles/write", "list", "DRAM cycles", "the same of the write queue"},
                  value_of<&StatisticsView::statistics, &Statistics::write_queue_cycles>},
    StatisticsKey{{"rank_cycles", "object", "DRAM cycles",
                   "cycles of all ranks by state: precharged, active, precharged_power_down, active_power_down, self_refresh"},
                  [](const StatisticsView& v) -> OrderedJson { return by_rank_state(v.s.rank_cycles); }},
    StatisticsKey{{"energy/source", "text", "", "source of the currents"},
                  [](const StatisticsView& v) -> OrderedJson { return v.config.energy.source; }},
    StatisticsKey{{"energy/estimate", "flag", "", "the currents are an estimate"},
                  [](const StatisticsView& v) -> OrderedJson { return v.config.energy.estimate; }},
    StatisticsKey{{"energy/activate_pj", "number", "pJ", "of activations and their precharges"},
                  value_of<&StatisticsView::energy, &Energy::activate>},
    StatisticsKey{{"energy/read_pj", "number", "pJ", "of reads"}, value_of<&StatisticsView::energy, &Energy::read>},
    StatisticsKey{{"energy/write_pj", "number", "pJ", "of writes"}, value_of<&StatisticsView::energy, &Energy::write>},
    StatisticsKey{{"energy/refresh_pj", "number", "pJ", "of refreshes"}, value_of<&StatisticsView::energy, &Energy::refresh>},
    StatisticsKey{{"energy/background_pj", "object", "pJ", "of the time in each state of the ranks, as in rank_cycles"},
                  [](const StatisticsView& v) -> OrderedJson { return by_rank_state(v.energy.background); }},
    StatisticsKey{{"energy/total_pj", "number", "pJ", "the sum"}, value_of<&StatisticsView::energy, &Energy::total>},
    StatisticsKey{{"energy/power_mw", "number", "mW", "the sum over the time of the window"},
                  value_of<&StatisticsView::energy, &Energy::average_mw>},
    StatisticsKey{{"energy/pj_per_bit", "number", "pJ", "the sum over the bits read and written"},
                  [](const StatisticsView& v) -> OrderedJson { return share(v.energy.total(), bytes_of(v.s) * 8); }},
};

constexpr std::array kBankKeys{
    Key<BankCounts>{{"ACT", "integer", "commands", "activations"}, value_of<&BankCounts::activations>},
    Key<BankCounts>{{"PRE", "integer", "commands", "precharges"}, value_of<&BankCounts::precharges>},
    Key<BankCounts>{{"RD", "integer", "commands", "reads"}, value_of<&BankCounts::reads>},
    Key<BankCounts>{{"WR", "integer", "commands", "writes"}, value_of<&BankCounts::writes>},
    Key<BankCounts>{{"REF", "integer", "commands", "refreshes"}, value_of<&BankCounts::refreshes>},
};

constexpr std::array kChannelKeys{
    StatisticsKey{{"banks", "list", "", "commands of each bank of the channel"},
                  [](const StatisticsView& v) -> OrderedJson {
                      OrderedJson banks = OrderedJson::array();
                      for (const BankCounts& bank : v.s.banks) banks.push_back(written(kBankKeys, bank));
                      return banks;
                  }},
};

struct Whole {
    const Config& config;
    const std::vector<Statistics>& channels;
};

constexpr std::array kWholeKeys{
    Key<Whole>{{"peak_gb_per_s", "number", "GB/s", "capacity of all data buses"},
               [](const Whole& w) -> OrderedJson { return w.config.peak_gb_per_s(); }},
    Key<Whole>{{"channels", "list", "", "the same keys for each channel, and its banks"},
               [](const Whole& w) -> OrderedJson {
                   OrderedJson each = OrderedJson::array();
                   for (const Statistics& s : w.channels) {
                       const StatisticsView seen{w.config, s, 1};
                       OrderedJson channel = written(kStatisticsKeys, seen);
                       channel.update(written(kChannelKeys, seen));
                       each.push_back(channel);
                   }
                   return each;
               }},
};

}  // namespace

Cycle held(const Statistics& s)
{
    const Cycle rows = std::accumulate(s.lost_to_row.begin(), s.lost_to_row.end(), Cycle{0});
    return s.busy + rows + s.lost[static_cast<std::size_t>(Lost::Scheduling)];
}

std::vector<std::pair<std::string, Cycle>> lost_by_owner(const Config& config, const Statistics& s)
{
    std::map<std::string, Cycle> owners;
    for (std::size_t i = 0; i < config.constraints.size(); ++i)
        if (i < s.lost_to_row.size() && s.lost_to_row[i])
            owners[fmt::format("{}:{}", config.constraints[i].owner, config.constraints[i].rule)] += s.lost_to_row[i];
    owners["no_request"] = s.lost[static_cast<std::size_t>(Lost::NoRequest)];
    owners["scheduling"] = s.lost[static_cast<std::size_t>(Lost::Scheduling)];
    owners["unfinished"] = s.lost[static_cast<std::size_t>(Lost::Unfinished)];
    std::vector<std::pair<std::string, Cycle>> sorted(owners.begin(), owners.end());
    std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
    return sorted;
}

nlohmann::ordered_json statistics_json(const Config& config, const std::vector<Statistics>& channels)
{
    OrderedJson json = written(kStatisticsKeys, StatisticsView{config, sum_of(channels), channels.size()});
    json.update(written(kWholeKeys, Whole{config, channels}));
    return json;
}

std::vector<PlacedKey> statistics_keys()
{
    std::vector<PlacedKey> keys;
    const auto add_statistics = [&](const std::string& prefix) {
        place_keys(keys, kStatisticsKeys, prefix);
        place_keys(keys, kBucketKeys, prefix + "read_latency_cycles/histogram/[]/");
    };
    add_statistics("");
    place_keys(keys, kWholeKeys);
    const std::size_t own = keys.size();
    add_statistics("channels/[]/");
    for (std::size_t i = own; i < keys.size(); ++i) keys[i].again = true;
    place_keys(keys, kChannelKeys, "channels/[]/");
    place_keys(keys, kBankKeys, "channels/[]/banks/[]/");
    return keys;
}

std::string statistics_text(const Config& config, const std::vector<Statistics>& channels)
{
    const Statistics s = sum_of(channels);
    const Energy e = energy_of(config, s);
    const auto percent = [&](Cycle part) { return 100 * share(static_cast<double>(part), static_cast<double>(s.bus_cycles)); };
    std::string text;
    const auto line = [&](const std::string& label, const std::string& value) {
        text += fmt::format("{:<22} {}\n", printable(label), printable(value));
    };
    line("memory", fmt::format("{}: {}", config.name, config.about));
    line("simulated",
         fmt::format("{} cycles of {} ns, {} channel{}", s.cycles, config.tck_ns, channels.size(), channels.size() == 1 ? "" : "s"));
    line("bandwidth", fmt::format("{:.3f} GB/s of {:.3f}", gb_per_s(config, s, channels.size()), config.peak_gb_per_s()));
    line("reads, writes", fmt::format("{} answered, {} taken", s.reads_done, s.writes));
    const double all = static_cast<double>(s.hits + s.misses + s.conflicts);
    line("rows", fmt::format("{} hits ({:.1f} %), {} misses, {} conflicts", s.hits, 100 * share(static_cast<double>(s.hits), all), s.misses,
                             s.conflicts));
    line("bank groups",
         fmt::format("next column: {} same group, {} other group, {} other rank", s.same_group, s.other_group, s.other_rank));
    std::string commands;
    for (std::size_t c = 0; c < kCommands; ++c)
        if (s.commands[c]) commands += fmt::format("{}{} {}", commands.empty() ? "" : ", ", kCommandNames[c], s.commands[c]);
    line("commands", commands);
    line("read latency", fmt::format("{} min, {:.2f} mean, {} p50, {} p99, {} max cycles", s.read_latency.min(), s.read_latency.mean(),
                                     s.read_latency.quantile(0.5), s.read_latency.quantile(0.99), s.read_latency.max()));
    line("data bus", fmt::format("{:.2f} % busy", percent(s.busy)));
    for (const auto& [owner, cycles] : lost_by_owner(config, s))
        if (cycles) line("  lost to " + owner, fmt::format("{:.2f} % ({} cycles)", percent(cycles), cycles));
    line("energy", fmt::format("{:.0f} pJ: activate {:.0f}, read {:.0f}, write {:.0f}, refresh {:.0f}, background {:.0f}", e.total(),
                               e.activate, e.read, e.write, e.refresh, e.background_total()));
    line("average power",
         fmt::format("{:.2f} mW ({}{})", e.average_mw(), config.energy.source, config.energy.estimate ? ", an estimate" : ""));
    return text;
}

}  // namespace dlasim::dram
