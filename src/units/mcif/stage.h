// The pipeline stages of the memory interface. Each is stepped once a cycle, in any order as long as
// its neighbours' outputs of this cycle are taken before they are stepped, and says whether anything
// changed: a fabric in which nothing changed sleeps.
//
// Source  fabric.md 0.
#pragma once
#include <bit>
#include <cstdint>

namespace dlasim::fabric {

/// PIPE2: an output register and a place behind it, registered ready. One that `stalls` (STALLPIPE)
/// is not ready in the cycle after any cycle in which its output was not taken.
template <class T>
class Stage {
public:
    bool valid() const { return valid_; }
    const T& head() const { return head_; }
    bool ready() const { return ready_; }
    bool quiet() const { return !valid_ && ready_; }

    bool step(const T* in, bool taken, bool stalls)
    {
        if (taken || !valid_) {
            if (!ready_) {
                valid_ = second_valid_;
                head_ = second_;
                second_valid_ = false;
                ready_ = true;
                return true;
            }
            const bool changed = valid_ || in;
            valid_ = in != nullptr;
            if (in) head_ = *in;
            return changed;
        }
        if (!ready_ || (!in && !stalls)) return false;
        second_valid_ = in != nullptr;
        if (in) second_ = *in;
        ready_ = false;
        return true;
    }

private:
    T head_{}, second_{};
    bool valid_ = false, second_valid_ = false, ready_ = true;
};

/// FIFO-B(D): a small RAM with write-through, an output register and its shadow, steered by the
/// read ready of the cycle before. Occupancy only; items are kept outside, in order.
template <std::uint8_t kDepth>
class LaneFifo {
public:
    bool valid() const { return s_.out; }
    bool ready() const { return !s_.full; }
    bool empty() const { return !s_.out && !s_.shadow && s_.held == 0; }

    bool step(bool write, bool read_ready)
    {
        const State before = s_;
        const bool in = write && !s_.full;
        const bool hold = s_.shadow && s_.out_before && !s_.read_before;
        const bool ahead = s_.held != 0 || in;
        const bool pop = ahead && !(s_.shadow && hold);
        const auto held = static_cast<std::uint8_t>(s_.held + in);
        s_.full = !pop && held == kDepth;
        s_.held = static_cast<std::uint8_t>(held - pop);
        s_.out_before = before.out;
        if (!before.out || read_ready) s_.out = hold ? before.shadow : ahead;
        s_.shadow = ahead || hold;
        s_.read_before = read_ready;
        return !(before == s_);
    }

private:
    struct State {
        std::uint8_t held = 0;
        bool full = false, out = false, out_before = false, shadow = false, read_before = true;
        bool operator==(const State&) const = default;
    };
    State s_;
};

/// The +WR variant: one register more in front.
template <std::uint8_t kDepth>
class RegisteredLaneFifo {
public:
    bool valid() const { return fifo_.valid(); }
    bool ready() const { return !busy_; }
    bool empty() const { return fifo_.empty() && !in_; }

    bool step(bool write, bool read_ready)
    {
        const bool in = in_, busy = busy_, was_full = !fifo_.ready();
        const bool moves = in && !was_full;
        bool changed = fifo_.step(in, read_ready);
        const bool full = !fifo_.ready();
        busy_ = write ? full : in && full && !moves;
        if (!(in && was_full)) in_ = write && !busy;
        return changed || in != in_ || busy != busy_;
    }

private:
    LaneFifo<kDepth> fifo_;
    bool in_ = false, busy_ = false;
};

/// Weighted round robin over up to 32 requesters (fabric.md 1.5). pick() decides, grant() remembers.
class WeightedRoundRobin {
public:
    /// The requester served next; `requests` is not 0.
    unsigned pick(std::uint32_t requests) const
    {
        if (left_ != 0 && (requests >> last_ & 1)) return last_;
        const std::uint32_t later = fresh_ ? requests : requests & (~std::uint32_t{1} << last_);
        return static_cast<unsigned>(std::countr_zero(later ? later : requests));
    }
    void grant(unsigned pick, std::uint32_t weight)
    {
        left_ = !fresh_ && left_ != 0 && pick == last_ ? left_ - 1 : weight - 1;
        last_ = pick;
        fresh_ = false;
    }

private:
    unsigned last_ = 0;
    std::uint32_t left_ = 0;
    bool fresh_ = true;  // nobody has been served yet
};

}  // namespace dlasim::fabric
