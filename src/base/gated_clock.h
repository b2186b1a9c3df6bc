// A gated clock: the cycles it ran.
#pragma once
#include <algorithm>

#include "base/cycle.h"

namespace dlasim {

class GatedClock {
public:
    void on(Cycle at)
    {
        if (running_ && at <= off_) {
            off_ = kNever;
            return;
        }
        settle();
        running_ = true;
        on_ = at;
        off_ = kNever;
    }
    void off(Cycle at)
    {
        if (running_ && off_ == kNever) off_ = at;
    }
    Cycle cycles(Cycle end) const { return total_ + (running_ ? std::min(off_, end) - std::min(on_, end) : 0); }

private:
    void settle()
    {
        if (running_) total_ += off_ - on_;
    }
    bool running_ = false;
    Cycle on_ = 0, off_ = kNever, total_ = 0;
};

}  // namespace dlasim
