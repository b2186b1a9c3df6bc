// Random traffic for a channel: phases of dense and sparse requests, of few rows and of many, of
// reads and of writes, with pauses long enough for power-down, refresh and self-refresh.
#pragma once
#include <algorithm>
#include <map>
#include <random>

#include "dram/channel.h"
#include "dram/check/checker.h"

namespace dlasim::dram {

struct TrafficResult {
    Statistics statistics;
    std::vector<Completion> completions;  // as they were decided
    std::uint64_t pushed = 0, commands = 0, violations = 0;
    std::string first_violation;
};

/// Runs until `commands` commands were issued or `cycles` have passed. `stepping` evaluates every
/// cycle. The requests depend only on the seed and on what the channel accepts.
inline TrafficResult run_traffic_on(Channel& on, const Config& config, unsigned seed, std::uint64_t commands, Cycle cycles, bool stepping,
                                    bool keep = true)
{
    Channel* const channel = &on;
    Checker checker{config};
    channel->observe([&](const Issued& issued) { checker.see(issued); });
    std::mt19937_64 random{seed};
    const Organisation& o = config.organisation;
    TrafficResult result;
    struct {
        std::uint64_t left = 0, pause = 0, writes = 0, banks = 1, rows = 1;
    } phase;
    Cycle now = 0, next = 0;
    Request request;
    const auto draw = [&] {
        if (phase.left-- == 0) {
            phase.left = random() % 400;
            const std::uint64_t kind = random() % 8;
            phase.pause = kind < 4 ? 0 : kind < 6 ? 8 : kind < 7 ? 200 : 20000;
            if (phase.pause == 20000) phase.left %= 4;
            phase.writes = random() % 101;
            phase.banks = std::uint64_t{1} << random() % 7;
            phase.rows = std::uint64_t{1} << random() % 5;
        }
        const std::uint64_t bank = random() % std::min<std::uint64_t>(phase.banks, o.banks_per_channel());
        request.id = result.pushed;
        request.at = {0,
                      static_cast<std::uint32_t>(bank % o.ranks()),
                      static_cast<std::uint32_t>(bank / o.ranks() % o.bank_groups),
                      static_cast<std::uint32_t>(bank / o.ranks() / o.bank_groups),
                      static_cast<std::uint32_t>(random() % phase.rows),
                      static_cast<std::uint32_t>(random() % (o.columns / o.burst_length))};
        request.write = random() % 100 < phase.writes;
        request.address = ((request.at.row * 64ull + bank) << 16) + request.at.column * 256ull;
        next = now + (random() % 4 != 0) + (phase.pause ? random() % phase.pause : 0);
    };
    draw();
    while (now < cycles && checker.commands() < commands) {
        channel->advance(now);
        for (; !channel->completed().empty(); channel->completed().pop_front())
            if (keep) result.completions.push_back(channel->completed().front());
        bool blocked = false;
        while (now >= next && !blocked) {
            channel->advance(now);  // as the memory does before each of several requests in a cycle
            blocked = !channel->can_accept(request.write);
            if (!blocked) {
                channel->push(request, now);
                ++result.pushed;
                draw();
            }
        }
        if (stepping) ++now;
        else now = std::max(now + 1, std::min(blocked ? cycles : next, channel->horizon()));
    }
    now = std::min(now, cycles);
    channel->advance(now == 0 ? 0 : now - 1);
    checker.finish(now);
    result.statistics = channel->statistics(now);
    result.commands = checker.commands();
    result.violations = checker.count();
    if (result.violations) result.first_violation = checker.violations().front().what;
    return result;
}
inline TrafficResult run_traffic(const Config& config, unsigned seed, std::uint64_t commands, Cycle cycles, bool stepping, bool keep = true)
{
    const auto channel = make_channel(config);
    return run_traffic_on(*channel, config, seed, commands, cycles, stepping, keep);
}

/// The ways a channel of a preset can be run that change which commands are issued.
inline std::vector<std::map<std::string, std::string>> variants(const std::string& preset, std::uint64_t rank_mib)
{
    std::vector<std::map<std::string, std::string>> all{
        {},
        {{"page_policy", "closed_auto"}},
        {{"page_policy", "closed_adaptive"},
         {"refresh", "all_bank_simultaneous"},
         {"organisation.channel_mib", std::to_string(rank_mib * 2)}},
        {{"page_policy", "open_adaptive"}, {"controller.self_refresh_after", "3000"}},
        {{"page_policy", "closed_cap"}, {"refresh.postpone", "0"}},
        {{"page_policy", "timeout"}, {"controller.page_limit", "100"}, {"organisation.channel_mib", std::to_string(rank_mib * 2)}}};
    if (!preset.starts_with("ddr4")) {
        all.push_back({{"refresh", "per_bank"}});
        all.push_back({{"refresh", "per_bank"}, {"refresh.postpone", "0"}, {"organisation.channel_mib", std::to_string(rank_mib * 2)}});
    }
    for (auto& options : all) options["channels"] = "1";
    return all;
}

}  // namespace dlasim::dram
