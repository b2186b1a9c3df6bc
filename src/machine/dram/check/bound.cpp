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
    const double bursts = static_cast<double>(least_bursts(config, demand) * o.channels);
    double energy = 0;
    for (const Supply& i : config.energy.supplies) {
        double current = std::min(i.idd2n, i.idd3n);
        if (config.controller.power_down_after != 0) current = std::min({current, i.idd2p, i.idd3p});
        if (config.controller.self_refresh_after != 0) current = std::min(current, i.idd6);
        const double column = std::max(0.0, std::min(i.idd4r, i.idd4w) - i.idd3n) * o.burst_cycles() * config.tck_ns;
        energy += i.volts * o.devices_per_rank() * (current * o.ranks() * o.channels * ns + column * bursts);
    }
    return energy;
}

}  // namespace dlasim::dram
