// FIFOs of one lane of the memory interface, as occupancy.
//
//   write ──►│ RAM (D) │ output register │ shadow │──► valid       steered by the read ready of the cycle before
//
// Source  fabric.md 0 (FIFO-B).
#pragma once
#include <array>
#include <cstdint>

namespace dlasim::elements {

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
                                         (out ? kOutBefore : 0) | (ahead || hold ? kShadow : 0) | (read_ready ? kReadBefore : 0));
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

}  // namespace dlasim::elements
