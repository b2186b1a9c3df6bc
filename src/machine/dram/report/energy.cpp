#include "dram/report/energy.h"

#include <algorithm>

namespace dlasim::dram {

Energy energy_of(const Config& config, const Statistics& s)
{
    const auto count = [&](Command a, Command b) { return static_cast<double>(s.commands[index(a)] + s.commands[index(b)]); };
    const auto cycles = [](std::int64_t n) { return static_cast<double>(n); };
    const double activations = count(Command::Act, Command::Act) / 2;
    const double reads = count(Command::Rd, Command::Rda), writes = count(Command::Wr, Command::Wra);
    const double all_bank = count(Command::RefAll, Command::RefAll) / 2, per_bank = count(Command::RefBank, Command::RefBank) / 2;

    const std::int64_t row_cycle = std::max(config.trc, config.tras);  // no row is shut before tRAS, whatever tRC says
    Energy energy;
    energy.elapsed_ns = static_cast<double>(s.cycles) * config.tck_ns;
    for (const Supply& i : config.energy.supplies) {
        const double scale = i.volts * config.tck_ns * config.organisation.devices_per_rank();  // pJ of a mA during a cycle
        energy.activate += activations * scale *
                           (i.idd0 * cycles(row_cycle) - (i.idd3n * cycles(config.tras) + i.idd2n * cycles(row_cycle - config.tras)));
        energy.read += reads * scale * (i.idd4r - i.idd3n) * cycles(config.burst());
        energy.write += writes * scale * (i.idd4w - i.idd3n) * cycles(config.burst());
        energy.refresh += scale * (all_bank * (i.idd5ab - i.idd3n) * cycles(config.trfc) +
                                   per_bank * std::max(0.0, i.idd5pb - i.idd3n) * cycles(config.trfcpb));
        const std::array<double, kRankStates> currents{i.idd2n, i.idd3n, i.idd2p, i.idd3p, i.idd6};
        for (std::size_t state = 0; state < kRankStates; ++state)
            energy.background[state] += scale * currents[state] * static_cast<double>(s.rank_cycles[state]);
    }
    return energy;
}

}  // namespace dlasim::dram
