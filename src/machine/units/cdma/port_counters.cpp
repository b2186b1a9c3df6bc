#include "units/cdma/port_counters.h"

namespace dlasim::cdma {

void PortCounters::start(bool enabled)
{
    enabled_ = enabled;
    stalls_ = 0;
    latency_ = 0;
    stalled_ = false;
    bursts_ = 0;
}

void PortCounters::step(bool stalled, unsigned accepted, unsigned completed)
{
    stalled_ = stalled;
    count(1);
    // [spec] cdma.md 11: at its limit the counter of bursts freezes in both directions
    if (bursts_ != facts::cdma::kOutstandingMax) bursts_ += accepted - completed;
}

void PortCounters::count(Cycle cycles)
{
    if (!enabled_) return;
    if (stalled_) stalls_ += cycles;
    if (bursts_ != 0) latency_ += cycles;
}

}  // namespace dlasim::cdma
