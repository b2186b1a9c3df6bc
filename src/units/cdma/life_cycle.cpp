#include "units/cdma/life_cycle.h"

#include <algorithm>

#include "facts/cdma.h"

namespace dlasim::cdma {

void Half::sample(const Wire<bool>& request, Cycle at, Cycle gap)
{
    request_before_[1] = gap == 1 ? request_before_[0] : request_now_;
    request_before_[0] = request_now_;
    request_now_ = request.read(at);
}

bool Half::handshake(Wire<bool>& ack, Cycle at, bool pends)
{
    const bool pending = pends && state == State::Pending;
    const bool changed = pending != acknowledged_;
    if (changed) ack.set(at + 1, pending);
    acknowledged_ = pending;
    if (pending && request_before_[1] && !request_before_[0]) {
        busy_at = at + 1;
        state = State::Busy;
    }
    return changed;
}

void ClockCycles::add(const Layer& layer, Cycle from, Cycle to, bool has_winograd)
{
    const Cycle all = to > from ? to - from : 0;
    const Cycle inactive = std::min(all, facts::cdma::kBusy + facts::cdma::kGateDelay);
    const auto domain = [&](Fetcher fetcher) { return layer.fetcher == fetcher || layer.fetcher == Fetcher::None ? all : inactive; };
    weights += all;
    shared += all;
    feature += domain(Fetcher::Feature);
    image += domain(Fetcher::Image);
    if (has_winograd) winograd += domain(Fetcher::Winograd);
    if (layer.convert) converter += all > facts::cdma::kGateDelay ? all - facts::cdma::kGateDelay : 0;
}

}  // namespace dlasim::cdma
