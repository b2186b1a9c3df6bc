#include "units/mcif/context_queue.h"

#include <bit>

#include "elements/round_robin.h"

namespace dlasim::fabric {

bool ContextQueue::step(int pushed, std::uint32_t popped)
{
    const State& s = now_;
    State n = s;
    const std::uint32_t write = pushed == kNobody ? 0 : 1u << pushed;
    const std::uint32_t ready = (registered_ ? popped | ~s.loaded : popped) & kAll;
    const std::uint32_t eligible = this->eligible(), taken = eligible ? 1u << elements::next_after(eligible, last_) : 0;
    const std::uint32_t pre = bypasses(write), bypass = pre & ~s.delayed & (~s.three | s.ready_before);
    const std::uint32_t valid = s.one | pre, out = valid & ready, in = bypass | s.delayed;
    const std::uint32_t up = in & ~out, down = out & ~in;
    n.three = (s.three | (s.two & up)) & ~down;
    n.two = ((s.two | (s.one & up)) & ~down) | (s.three & down);
    n.one = ((s.one | up) & ~down) | (s.two & down);
    if (registered_) n.loaded = (s.loaded & ~ready) | (valid & ready);
    // the RAM: an entry counts for reading one cycle after it was written
    if (s.written != taken) {
        if (s.written) ++ram_[static_cast<unsigned>(std::countr_zero(s.written))];
        if (taken) --ram_[static_cast<unsigned>(std::countr_zero(taken))];
        n.in_ram |= s.written;
        if (taken && ram_[static_cast<unsigned>(std::countr_zero(taken))] == 0) n.in_ram &= ~taken;
    }
    n.written = write & ~bypass;
    n.delayed = taken;
    n.ready_before = ready;
    const std::uint32_t count = count_ + (n.written != 0);
    full_ = s.delayed == 0 && count == facts::fabric::kContexts;
    count_ = count - (s.delayed != 0);
    if (taken) last_ = static_cast<unsigned>(std::countr_zero(taken));
    const bool changed = (write | s.written | s.delayed | taken | out | (ready ^ s.ready_before) | (n.loaded ^ s.loaded)) != 0;
    now_ = n;
    return changed;
}

}  // namespace dlasim::fabric
