#include "units/csb/request_queue.h"

#include <algorithm>

#include "base/expects.h"
#include "facts/csb.h"

namespace dlasim {

void RequestQueue::step(bool valid)
{
    const bool push = register_full_ && !full_;
    bool release = false;
    for (const Cycle pushed : pushes_) release |= pushed != kNever && pushed + facts::csb::kFifoRelease == now_;
    const unsigned count = count_ + push;
    const bool full = !release && count == facts::csb::kFifoDepth;
    accepted_ = valid && !busy_;
    const bool busy = valid ? full : register_full_ && full && !push;
    if (!(register_full_ && full_)) register_full_ = accepted_;
    if (push) {
        std::rotate(pushes_.begin(), pushes_.begin() + 1, pushes_.end());
        pushes_.back() = now_;
    }
    count_ = count - release;
    busy_ = busy;
    full_ = full;
    ++now_;
}

RequestQueue::Passage RequestQueue::offer(Cycle offered)
{
    DLASIM_EXPECTS(offered >= now_);
    while (now_ < offered) {
        if (idle()) now_ = offered;
        else step(false);
    }
    do step(true);
    while (!accepted_);
    const Cycle accepted = now_ - 1;
    // The request leaves the input register as soon as the FIFO has a slot; nothing can overtake it.
    RequestQueue ahead = *this;
    do ahead.step(false);
    while (ahead.pushes_.back() == kNever || ahead.pushes_.back() <= accepted);
    return {accepted, ahead.pushes_.back()};
}

}  // namespace dlasim
