// The memory port as the fabric sees it: five AXI-like channels in plain C++.
//
// The fabric offers a command or a data beat for a later cycle; the bridge at the port answers,
// in the same evaluation or in a later one, with the cycle in which it is taken. Read beats and write
// responses are at the port from a cycle on until the fabric takes them. Both sides are evaluated
// by one process, the fabric first, so there is one order and nothing depends on it.
#pragma once
#include <array>
#include <cstdint>

#include "base/cycle.h"
#include "traffic/memory.h"

namespace dlasim {

struct PortCommand {
    std::uint64_t address = 0;
    std::uint32_t beats = 0;
    std::uint8_t id = 0;
    std::uint8_t skipped = 0, atoms = 0;  // read: atoms of the first beat that nobody asked for, and those that somebody did
    bool last = false;                    // write: the last command of a request that is to be acknowledged
};

struct PortWriteBeat {
    std::uint8_t id = 0;
    std::uint8_t atoms = 0;  // strobes: bit i for the i-th memory atom of the beat
    bool last = false;
    alignas(32) std::array<std::uint8_t, kMaxBeatBytes> data{};
};

/// Offered by the fabric, taken by the memory.
template <class T>
struct PortOffer {
    T item{};
    bool valid = false;
    bool seen = false;      // for the memory: it has dealt with this offer
    Cycle from = 0;         // first cycle in which it is at the port
    Cycle accept = kNever;  // set by the memory: the cycle in which it is taken

    bool fires(Cycle at) const { return valid && accept == at; }
};

/// Offered by the memory, taken by the fabric.
struct PortRead {
    bool valid = false;
    Cycle from = 0;
    std::uint8_t id = 0;
    const std::uint8_t* data = nullptr;  // one beat
    bool taken = false;                  // set by the fabric in the cycle it takes the beat
};
struct PortResponse {
    bool valid = false;
    Cycle from = 0;
    std::uint8_t id = 0;
    bool taken = false;
};

struct DbbPort {
    PortOffer<PortCommand> ar, aw;
    PortOffer<PortWriteBeat> w;
    PortRead r;
    PortResponse b;

    /// The first cycle after `now` in which something is known to happen at the port.
    Cycle next(Cycle now) const
    {
        Cycle first = kNever;
        const auto at = [&](bool valid, Cycle cycle) {
            if (valid && cycle > now && cycle < first) first = cycle;
        };
        at(ar.valid, ar.accept);
        at(aw.valid, aw.accept);
        at(w.valid, w.accept);
        at(r.valid, r.from);
        at(b.valid, b.from);
        return first;
    }
};

}  // namespace dlasim
