// Performance counters of one memory port: stalls of its requests and the summed latency of its bursts.
//
// Source  cdma.md 11.
#pragma once
#include <algorithm>
#include <cstdint>

#include "base/cycle.h"
#include "facts/cdma.h"

namespace dlasim::cdma {

class PortCounters {
public:
    void start(bool enabled);
    /// One cycle: a request is valid and not accepted; requests accepted; bursts completed.
    void step(bool stalled, unsigned accepted, unsigned completed);
    /// `cycles` more like the last one, in which nothing moved.
    void repeat(Cycle cycles) { count(cycles); }

    std::uint32_t stalls() const { return static_cast<std::uint32_t>(stalls_); }
    std::uint32_t latency() const { return static_cast<std::uint32_t>(std::min<std::uint64_t>(latency_, UINT32_MAX)); }

private:
    void count(Cycle cycles);

    bool enabled_ = false, stalled_ = false;
    std::uint32_t bursts_ = 0;
    std::uint64_t stalls_ = 0, latency_ = 0;
};

}  // namespace dlasim::cdma
