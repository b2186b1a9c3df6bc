// The timing of a context queue: one RAM shared by all clients, in front of each client's output a
// prefetch buffer of three entries that new entries may bypass the RAM into, one RAM read a cycle.
//
//   push ──► RAM (256) ──► one read a cycle, round robin ──► prefetch (3) ──► [context register] ──► pop
//     └───────────────── bypass of an empty client ──────────────┘
//
// What the entries say is kept by the users, in order of each client; this class says when they can
// be seen.
//
// Source  fabric.md 1.7.
#pragma once
#include <array>
#include <bit>
#include <cstdint>

#include "facts/fabric.h"

namespace dlasim::fabric {

class ContextQueue {
public:
    static constexpr int kNobody = -1;

    /// With a register behind the prefetch buffer (read egress) or without (write responses).
    explicit ContextQueue(bool registered) : registered_(registered)
    {
        for (Thread& thread : threads_) thread.ready_before = registered;
    }

    bool full() const { return full_; }
    /// Registered: the clients whose context register is loaded.
    std::uint32_t loaded() const { return loaded_; }
    /// Not registered: an entry can be seen in this cycle, in which `pushed` is pushed.
    bool available(unsigned client, int pushed) const
    {
        const Thread& thread = threads_[client];
        return thread.prefetched != 0 || bypasses(thread, client, pushed);
    }
    bool quiet() const { return active_ == 0; }

    /// One cycle. `pushed`: the client whose entry is written, or kNobody. `popped`: registered, the clients
    /// whose context register is used up in this cycle; else the clients that want their next entry.
    bool step(int pushed, std::uint32_t popped)
    {
        if (pushed != kNobody) active_ |= 1u << pushed;
        if (active_ == 0 && popped == 0) return false;
        active_ |= popped;
        const int taken = pick();
        bool changed = false, any_write = false, any_delayed = false;
        for (std::uint32_t left = active_; left != 0; left &= left - 1) {
            const unsigned i = static_cast<unsigned>(std::countr_zero(left));
            Thread& t = threads_[i];
            const Thread before = t;
            const bool ready = registered_ ? (popped >> i & 1) || !t.loaded : (popped >> i & 1) != 0;
            const bool pre = bypasses(t, i, pushed);
            const bool bypass = pre && !t.delayed && (t.prefetched < 3 || t.ready_before);
            const bool valid = t.prefetched != 0 || pre;
            const bool take = taken == static_cast<int>(i);
            if (ready && registered_) {
                t.loaded = valid;
                loaded_ = valid ? loaded_ | 1u << i : loaded_ & ~(1u << i);
            }
            t.prefetched = static_cast<std::uint8_t>(t.prefetched + (bypass || t.delayed) - (valid && ready));
            t.in_ram = static_cast<std::uint16_t>(t.in_ram + t.written - take);
            any_delayed |= before.delayed;
            t.written = pushed == static_cast<int>(i) && !bypass;
            any_write |= t.written;
            t.delayed = take;
            t.ready_before = ready;
            if (t == Thread{.ready_before = registered_}) active_ &= ~(1u << i);
            changed |= !(t == before);
        }
        const std::uint32_t count = count_ + any_write;
        full_ = !any_delayed && count == facts::fabric::kContexts;
        count_ = count - any_delayed;
        if (taken != kNobody) last_ = static_cast<unsigned>(taken);
        return changed;
    }

private:
    struct Thread {
        std::uint16_t in_ram = 0;     // entries that may be read
        std::uint8_t prefetched = 0;  // 0..3
        bool written = false;         // to the RAM, in the cycle before
        bool delayed = false;         // its RAM read was started in the cycle before
        bool ready_before = true;     // the reader's ready in the cycle before
        bool loaded = false;          // the context register
        bool operator==(const Thread&) const = default;
    };

    static bool bypasses(const Thread& t, unsigned client, int pushed)
    {
        return pushed == static_cast<int>(client) && t.in_ram == 0 && !t.written && (!t.delayed || t.prefetched != 0);
    }
    int pick() const
    {
        std::uint32_t eligible = 0;
        for (std::uint32_t left = active_; left != 0; left &= left - 1) {
            const unsigned i = static_cast<unsigned>(std::countr_zero(left));
            const Thread& t = threads_[i];
            if ((t.written || t.in_ram != 0) &&
                (t.ready_before || t.prefetched < 2 || (t.prefetched < 3 && !t.delayed)))
                eligible |= 1u << i;
        }
        if (eligible == 0) return kNobody;
        const std::uint32_t later = eligible & (~std::uint32_t{1} << last_);
        return std::countr_zero(later ? later : eligible);
    }

    std::array<Thread, kClients> threads_{};
    std::uint32_t loaded_ = 0;
    std::uint32_t active_ = 0;  // threads that are not in their reset state
    std::uint32_t count_ = 0;   // entries in the RAM as the write side sees them
    unsigned last_ = kClients - 1;
    bool registered_, full_ = false;
};

}  // namespace dlasim::fabric
