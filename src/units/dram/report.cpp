#include "units/dram/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>

namespace dlasim::dram {
namespace {

using Json = nlohmann::ordered_json;

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

Json energy_json(const Config& config, const Statistics& s)
{
    const Energy e = energy_of(config, s);
    Json background;
    for (std::size_t i = 0; i < kRankStates; ++i) background[std::string{kRankStateNames[i]}] = e.background[i];
    return {{"source", config.energy.source},
            {"estimate", config.energy.estimate},
            {"activate_pj", e.activate},
            {"read_pj", e.read},
            {"write_pj", e.write},
            {"refresh_pj", e.refresh},
            {"background_pj", background},
            {"total_pj", e.total()},
            {"average_power_mw", e.average_mw()},
            {"pj_per_bit", share(e.total(), bytes_of(s) * 8)}};
}

/// `channels`: how many are summed up in `s`.
Json one_json(const Config& config, const Statistics& s, std::size_t channels)
{
    Json commands, lost, states, histogram = Json::array(), queues;
    for (std::size_t c = 0; c < kCommands; ++c)
        if (s.commands[c]) commands[std::string{kCommandNames[c]}] = s.commands[c];
    for (const auto& [owner, cycles] : lost_by_owner(config, s)) lost[owner] = cycles;
    for (std::size_t i = 0; i < kRankStates; ++i) states[std::string{kRankStateNames[i]}] = s.rank_cycles[i];
    const auto buckets = s.read_latency.log2();
    for (std::size_t i = 0; i < buckets.size(); ++i)
        if (buckets[i]) histogram.push_back({{"below_cycles", i >= 64 ? UINT64_MAX : std::uint64_t{1} << i}, {"reads", buckets[i]}});
    queues = {{"read", s.read_queue_cycles}, {"write", s.write_queue_cycles}};
    const auto columns = static_cast<double>(s.hits + s.misses + s.conflicts);
    return {{"cycles", s.cycles},
            {"reads", s.reads},
            {"reads_done", s.reads_done},
            {"writes", s.writes},
            {"bytes_read", s.bytes_read},
            {"bytes_written", s.bytes_written},
            {"forwarded", s.forwarded},
            {"merged", s.merged},
            {"bandwidth_gb_per_s", gb_per_s(config, s, channels)},
            {"row_hits", s.hits},
            {"row_misses", s.misses},
            {"row_conflicts", s.conflicts},
            {"row_hit_rate", share(static_cast<double>(s.hits), columns)},
            {"columns_after_the_first", s.later_columns},
            {"column_to_column", {{"same_group", s.same_group}, {"other_group", s.other_group}, {"other_rank", s.other_rank}}},
            {"turnarounds", s.turnarounds},
            {"commands", commands},
            {"data_bus",
             {{"cycles", s.bus_cycles},
              {"busy", s.busy},
              {"utilisation", share(static_cast<double>(s.busy), static_cast<double>(s.bus_cycles))},
              {"lost", lost}}},
            {"read_latency_cycles",
             {{"min", s.read_latency.min()},
              {"mean", s.read_latency.mean()},
              {"p50", s.read_latency.quantile(0.5)},
              {"p99", s.read_latency.quantile(0.99)},
              {"max", s.read_latency.max()},
              {"histogram", histogram}}},
            {"queue_cycles", queues},
            {"rank_cycles", states},
            {"energy", energy_json(config, s)}};
}

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

nlohmann::ordered_json config_json(const Config& config)
{
    const Organisation& o = config.organisation;
    Json constraints = Json::array();
    for (const Constraint& c : config.constraints) constraints.push_back({{"rule", c.rule}, {"gap", c.gap_text}, {"cycles", c.gap}});
    static const char* const pages[] = {"open", "closed_auto", "closed_cap", "open_adaptive", "closed_adaptive", "timeout"};
    static const char* const refreshes[] = {"none", "all_bank_staggered", "all_bank_simultaneous", "per_bank"};
    const ControllerConfig& k = config.controller;
    return {{"name", config.name},
            {"about", config.about},
            {"source", config.source},
            {"verified", config.verified},
            {"standard", config.standard},
            {"channels", o.channels},
            {"ranks", o.ranks()},
            {"bank_groups", o.bank_groups},
            {"banks", o.banks},
            {"rows", o.rows},
            {"columns", o.columns},
            {"devices_per_rank", o.devices_per_rank()},
            {"burst_bytes", o.request_bytes()},
            {"burst_cycles", o.burst_cycles()},
            {"capacity_bytes", o.capacity_bytes()},
            {"base", config.base},
            {"wrap", config.wrap},
            {"mapping", config.mapping.text()},
            {"tCK_ns", config.tck_ns},
            {"peak_gb_per_s", config.peak_gb_per_s()},
            {"timing", config.timing},
            {"read_latency", config.read_latency},
            {"write_latency", config.write_latency},
            {"refresh",
             {{"policy", refreshes[static_cast<std::size_t>(config.refresh.policy)]},
              {"postpone", config.refresh.postpone},
              {"interval", config.refresh.interval}}},
            {"controller",
             {{"profile", k.profile == Profile::Reference ? "reference" : "default"},
              {"page_policy", pages[static_cast<std::size_t>(k.page_policy)]},
              {"read_queue", k.read_queue},
              {"write_queue", k.write_queue},
              {"write_high", k.write_high},
              {"write_low", k.write_low},
              {"write_age", k.write_age},
              {"read_age", k.read_age},
              {"hit_cap", k.hit_cap},
              {"power_down_after", k.power_down_after},
              {"self_refresh_after", k.self_refresh_after}}},
            {"constraints", constraints}};
}

nlohmann::ordered_json statistics_json(const Config& config, const std::vector<Statistics>& channels)
{
    Json json = one_json(config, sum_of(channels), channels.size());
    json["peak_gb_per_s"] = config.peak_gb_per_s();
    Json each = Json::array();
    for (const Statistics& s : channels) {
        Json channel = one_json(config, s, 1), banks = Json::array();
        for (const BankCounts& b : s.banks)
            banks.push_back({{"ACT", b.activations}, {"PRE", b.precharges}, {"RD", b.reads}, {"WR", b.writes}, {"REF", b.refreshes}});
        channel["banks"] = banks;
        each.push_back(channel);
    }
    json["channels"] = each;
    return json;
}

std::string statistics_text(const Config& config, const std::vector<Statistics>& channels)
{
    const Statistics s = sum_of(channels);
    const Energy e = energy_of(config, s);
    const auto percent = [&](Cycle part) { return 100 * share(static_cast<double>(part), static_cast<double>(s.bus_cycles)); };
    std::string text;
    const auto line = [&](const std::string& label, const std::string& value) { text += fmt::format("{:<22} {}\n", label, value); };
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
