#include "units/sdp/acknowledge.h"

#include <utility>

#include "facts/sdp.h"
#include "registers/interrupts.h"

namespace dlasim::sdp {

void Acknowledge::complete(Cycle at, bool primary)
{
    if (layers_.empty() || layers_.front().primary != primary) {
        early_[primary] = true;
        return;
    }
    release(at + delay_);
    // What came early is matched one cycle after its layer has become the oldest.
    for (Cycle next = at + delay_ + 1; !layers_.empty() && early_[layers_.front().primary]; ++next) {
        early_[layers_.front().primary] = false;
        release(next);
    }
}

void Acknowledge::send(Cycle now)
{
    while (!due_.empty() && due_.front().at <= now + 1) {
        interrupt_.put(due_.front().at, due_.front().mask);
        due_.pop_front();
    }
}

void Acknowledge::release(Cycle at)
{
    insert(at, reg::glb::kSdp.bit(layers_.front().group));
    layers_.pop_front();
    if (log) log->event(at, of_client(WaitPoint::Answer, static_cast<unsigned>(Client::Sdp)), Cause::Interrupt, delay_);
}

void Acknowledge::insert(Cycle at, std::uint32_t mask)
{
    due_.push_back({at, mask});
    for (std::size_t i = due_.size() - 1; i > 0 && due_[i - 1].at > due_[i].at; --i) std::swap(due_[i - 1], due_[i]);
}

}  // namespace dlasim::sdp
