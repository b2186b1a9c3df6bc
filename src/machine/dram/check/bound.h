// What no controller can beat: the time a DRAM's data buses take for a number of bytes.
//
//   bursts = bytes / bytes of a burst, shared evenly by the channels
//   peak      bursts a channel * cycles of a burst
//   refresh   and the refreshes that fall due meanwhile and cannot be put off, of a channel with one rank
//
// Not modelled, all of which only takes longer: burst use of scattered bytes, activations, turnarounds, uneven channels. Not counted are
// bursts that may not pass the bus: writes still queued at the end, reads answered from queued writes, reads that join a queued one.
//
// Source  dram.md 1, 6 and rows 12 to 17, 29 of its section 4; every bound is at most the measured cycles of random layers
//         (tests/golden/random_layers).
#pragma once
#include <cstdint>
#include <string>

#include "facts/memory_spec.h"

namespace dlasim::dram {

struct Demand {
    std::uint64_t read_bytes = 0, written_bytes = 0;  // no byte twice in a pass
    std::uint64_t passes = 1;
};
struct BusBound {
    std::uint64_t peak_ps = 0, refresh_ps = 0;  // picoseconds; refresh: the peak included
    std::string text;                           // "2 channels of 19.2 GB/s"
};

/// Throws the errors of read_config().
BusBound bus_bound(const MemorySpec& memory, const Demand& demand);
/// pJ that the device takes at least for that demand in that time: its ranks in the cheapest state that they may be in, those with data on
/// the bus with an open row, the column commands of the bursts that must pass, and the refreshes of all banks that cannot be put off. Not
/// modelled: activations, refreshes of single banks.
double least_energy_pj(const MemorySpec& memory, const Demand& demand, double ns);

}  // namespace dlasim::dram
