// The registered stages of the memory interface, with the items they hold. Each is stepped once a cycle, in any
// order as long as its neighbours' outputs of this cycle are taken before they are stepped, and says whether
// anything changed: a fabric in which nothing changed sleeps.
//
//        in ──►│ place │ output register │──► head()         ready() is a register
//
// Source  fabric.md 0.
#pragma once
#include <cstdint>

namespace dlasim::elements {

/// PIPE2: an output register and an entry after it, registered ready. One that `stalls` (STALLPIPE)
/// is not ready in the cycle after any cycle in which its output was not taken.
template <class T>
class Stage {
public:
    bool valid() const { return held_ != 0; }
    /// Stays as it is until the end of the cycle in which it is taken.
    const T& head() const { return items_[first_]; }
    bool ready() const { return ready_; }
    bool quiet() const { return held_ == 0 && ready_; }
    /// If nothing comes and nothing is taken, the next cycle changes nothing.
    bool settled(bool stalls) const { return held_ == 0 || !ready_ || !stalls; }
    /// While ready: the place for the item that comes in this cycle, to be filled before step().
    T& incoming() { return items_[(first_ + held_) & 1]; }

    /// `in`: an item is offered; it is in incoming() if the stage is ready.
    bool step(bool in, bool taken, bool stalls)
    {
        if (taken || held_ == 0) {
            const bool changed = held_ != 0 || in || !ready_;
            first_ ^= held_ != 0;
            held_ = static_cast<std::uint8_t>(held_ - (held_ != 0) + (in && ready_));
            ready_ = true;
            return changed;
        }
        if (!ready_ || (!in && !stalls)) return false;
        held_ = static_cast<std::uint8_t>(held_ + in);
        ready_ = false;
        return true;
    }
    bool step(const T* in, bool taken, bool stalls)
    {
        if (in && ready_) incoming() = *in;
        return step(in != nullptr, taken, stalls);
    }

private:
    T items_[2]{};
    std::uint8_t first_ = 0, held_ = 0;
    bool ready_ = true;
};

/// The output of a stage to the next one.
template <class T>
const T* offer(const Stage<T>& stage)
{
    return stage.valid() ? &stage.head() : nullptr;
}

}  // namespace dlasim::elements
