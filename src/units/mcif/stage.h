// The pipeline stages of the memory interface. Each is stepped once a cycle, in any order as long as
// its neighbours' outputs of this cycle are taken before they are stepped, and says whether anything
// changed: a fabric in which nothing changed sleeps.
//
// Source  fabric.md 0.
#pragma once
#include <array>
#include <bit>
#include <cstdint>

namespace dlasim::fabric {

/// PIPE2: an output register and a place behind it, registered ready. One that `stalls` (STALLPIPE)
/// is not ready in the cycle after any cycle in which its output was not taken.
template <class T>
class Stage {
public:
    bool valid() const { return held_ != 0; }
    /// Stays as it is until the end of the cycle in which it is taken.
    const T& head() const { return items_[first_]; }
    bool ready() const { return ready_; }
    bool quiet() const { return held_ == 0 && ready_; }
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

/// FIFO-B(D): a small RAM with write-through, an output register and its shadow, steered by the
/// read ready of the cycle before. Occupancy only; items are kept outside, in order. All of its
/// state is a byte, so a cycle is one step through a table.
template <std::uint8_t kDepth>
class LaneFifo {
public:
    bool valid() const { return state_ & kOut; }
    bool ready() const { return !(state_ & kFull); }
    bool empty() const { return !(state_ & (kOut | kShadow | kHeld)); }

    bool step(bool write, bool read_ready)
    {
        const std::uint8_t before = state_;
        state_ = kNext[before << 2 | write << 1 | read_ready];
        return state_ != before;
    }

private:
    static_assert(kDepth < 8);
    enum : std::uint8_t { kHeld = 7, kFull = 8, kOut = 16, kOutBefore = 32, kShadow = 64, kReadBefore = 128 };

    static constexpr std::uint8_t next(std::uint8_t state, bool write, bool read_ready)
    {
        const bool in = write && !(state & kFull), shadow = state & kShadow, out = state & kOut;
        const bool hold = shadow && (state & kOutBefore) && !(state & kReadBefore);
        const bool ahead = (state & kHeld) != 0 || in;
        const bool pop = ahead && !hold;
        const int held = (state & kHeld) + in;
        const bool next_out = !out || read_ready ? (hold ? shadow : ahead) : out;
        return static_cast<std::uint8_t>(((held - pop) & kHeld) | (!pop && held == kDepth ? kFull : 0) | (next_out ? kOut : 0) |
                                         (out ? kOutBefore : 0) | (ahead || hold ? kShadow : 0) |
                                         (read_ready ? kReadBefore : 0));
    }
    static constexpr auto table()
    {
        std::array<std::uint8_t, 1024> all{};
        for (unsigned i = 0; i < all.size(); ++i) all[i] = next(static_cast<std::uint8_t>(i >> 2), i & 2, i & 1);
        return all;
    }
    static constexpr std::array<std::uint8_t, 1024> kNext = table();

    std::uint8_t state_ = kReadBefore;
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
