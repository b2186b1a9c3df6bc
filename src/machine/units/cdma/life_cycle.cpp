#include "units/cdma/life_cycle.h"

namespace dlasim::cdma {

void Half::sample(const Wire<bool>& request, Cycle at, Cycle gap)
{
    request_before_[1] = gap == 1 ? request_before_[0] : request_now_;
    request_before_[0] = request_now_;
    request_now_ = request.read(at);
}

bool Half::handshake(Wire<bool>& ack, Cycle at, bool pends)
{
    const bool pending = pends && life == LayerState::Pending;
    const bool changed = pending != acknowledged_;
    if (changed) ack.set(at + 1, pending);
    acknowledged_ = pending;
    if (pending && request_before_[1] && !request_before_[0]) {
        busy_at = at + 1;
        life = LayerState::Busy;
    }
    return changed;
}

}  // namespace dlasim::cdma
