// The registered stages that requests and responses pass: two entries each, ready is a register.
//
//   nv_full        an elastic queue of two: ready in cycle t if less than two were in it at the start of t
//   configurable   output register and skid register: ready drops one cycle after every stall of a full
//                  output register, also if nothing new arrived
//
// Source  cdma.md 3.1.
#pragma once
#include "facts/hardware.h"

namespace dlasim::cdma {

template <class T>
class Stage {
public:
    explicit Stage(bool full) : full_(full) {}

    bool valid() const { return count_ != 0; }
    /// Ready of this cycle, until step() is called.
    bool ready() const { return ready_; }
    const T& front() const { return items_[0]; }

    /// One cycle; call downstream stages first and hand their ready of before their step. True if anything changed.
    bool step(bool downstream_ready, bool offered, const T& item)
    {
        return full_ ? step_elastic(downstream_ready, offered, item) : step_stalling(downstream_ready, offered, item);
    }

private:
    bool step_elastic(bool downstream_ready, bool offered, const T& item)
    {
        const bool leaves = count_ != 0 && downstream_ready, enters = offered && ready_;
        if (!leaves && !enters) return false;
        if (leaves) {
            items_[0] = items_[1];
            --count_;
        }
        if (enters) items_[count_++] = item;
        ready_ = count_ < 2;
        return true;
    }
    bool step_stalling(bool downstream_ready, bool offered, const T& item)
    {
        const bool load = downstream_ready || count_ == 0;
        const bool arrives = ready_ ? offered : skid_;
        const bool changed = load != ready_ || (load && (arrives || count_ != 0)) || (ready_ && offered != skid_);
        if (ready_) {
            skid_ = offered;
            if (offered) items_[1] = item;
        }
        if (load) {
            count_ = arrives ? 1 : 0;
            if (arrives) items_[0] = items_[1];
        }
        ready_ = load;
        return changed;
    }

    T items_[2]{};
    unsigned count_ = 0;
    bool ready_ = true, skid_ = false, full_;
};

}  // namespace dlasim::cdma
