#include "dram/check/bound.h"

#include <fmt/format.h>

#include <algorithm>

#include "dram/read/reader.h"

namespace dlasim::dram {

namespace {

/// Bursts that must pass a data bus.
std::uint64_t least_bursts(const Config& config, const Demand& demand)
{
    const ControllerConfig& c = config.controller;
    const std::uint64_t beside = 2 * std::uint64_t{c.write_queue} + demand.passes * c.read_queue;
    const std::uint64_t bursts =
        (demand.read_bytes + demand.written_bytes) / config.organisation.request_bytes() / config.organisation.channels;
    return bursts - std::min(bursts, beside);
}

/// Of a rank in that time, those that fall due and cannot be put off, as no less a second in a longer time; 0 where it may refresh itself.
double least_refreshes(const Config& config, double ns)
{
    const bool all_banks =
        config.refresh.policy == RefreshPolicy::AllBankStaggered || config.refresh.policy == RefreshPolicy::AllBankSimultaneous;
    if (!all_banks || config.refresh.interval <= 0 || config.controller.self_refresh_after != 0) return 0;
    return std::max(0.0, ns / config.tck_ns / static_cast<double>(config.refresh.interval) - config.refresh.postpone - 3);
}

}  // namespace

BusBound bus_bound(const MemorySpec& memory, const Demand& demand)
{
    const Config config = read_config(memory);
    const Organisation& o = config.organisation;
    const std::uint64_t busy = least_bursts(config, demand) * o.burst_cycles();
    std::uint64_t cycles = busy;
    const bool all_banks =
        config.refresh.policy == RefreshPolicy::AllBankStaggered || config.refresh.policy == RefreshPolicy::AllBankSimultaneous;
    if (all_banks && o.ranks() == 1 && config.refresh.interval > 0)
        // Of the refreshes that fall due while the bus is busy and while those before them last.
        for (std::uint64_t before = 0; before != cycles;) {
            before = cycles;
            const std::uint64_t due = cycles / static_cast<std::uint64_t>(config.refresh.interval), owed = config.refresh.postpone + 2;
            cycles = busy + (due - std::min(due, owed)) * static_cast<std::uint64_t>(config.trfc);
        }
    const auto picoseconds = [&](std::uint64_t n) { return n * config.tck_fs() / 1000; };
    return {picoseconds(busy), picoseconds(cycles), fmt::format("{} x {:.1f} GB/s", o.channels, config.peak_gb_per_s() / o.channels)};
}

double least_energy_pj(const MemorySpec& memory, const Demand& demand, double ns)
{
    const Config config = read_config(memory);
    const Organisation& o = config.organisation;
    const auto of_all = [&](std::uint64_t per_channel) { return static_cast<double>(per_channel * o.channels); };
    const double reads = of_all(least_bursts(config, {demand.read_bytes, 0, demand.passes}));
    const double writes = of_all(least_bursts(config, {0, demand.written_bytes, demand.passes}));
    const double burst_ns = static_cast<double>(o.burst_cycles()) * config.tck_ns;
    const double refreshes = of_all(o.ranks()) * least_refreshes(config, ns);
    double energy = 0;
    for (const Supply& i : config.energy.supplies) {
        double idle = std::min(i.idd2n, i.idd3n);
        if (config.controller.power_down_after != 0) idle = std::min({idle, i.idd2p, i.idd3p});
        if (config.controller.self_refresh_after != 0) idle = std::min(idle, i.idd6);
        // While data pass, a row of one rank is open.
        const double open = i.idd3n - idle;
        const double bursts =
            burst_ns * (reads * std::max(0.0, i.idd4r - i.idd3n + open) + writes * std::max(0.0, i.idd4w - i.idd3n + open));
        const double refresh = refreshes * std::max(0.0, i.idd5ab - i.idd3n) * static_cast<double>(config.trfc) * config.tck_ns;
        energy += i.volts * o.devices_per_rank() * (idle * of_all(o.ranks()) * ns + bursts + refresh);
    }
    return energy;
}

}  // namespace dlasim::dram
