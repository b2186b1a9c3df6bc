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

#include "elements/round_robin.h"
#include "facts/fabric.h"
#include "traffic/memory.h"

namespace dlasim::fabric {

class ContextQueue {
public:
    static constexpr int kNobody = -1;

    /// With a register behind the prefetch buffer (read egress) or without (write responses).
    explicit ContextQueue(bool registered) : registered_(registered) { now_.ready_before = registered ? kAll : 0; }

    bool full() const { return full_; }
    /// Registered: the clients whose context register is loaded.
    std::uint32_t loaded() const { return now_.loaded; }
    /// Not registered: an entry can be seen in this cycle, in which `pushed` is pushed.
    bool available(unsigned client, int pushed) const
    {
        return ((now_.one | bypasses(pushed == kNobody ? 0 : 1u << pushed)) >> client & 1) != 0;
    }
    /// A cycle without a push and a pop would change nothing.
    bool still() const
    {
        const std::uint32_t ready = registered_ ? ~now_.loaded & kAll : 0;
        return (now_.written | now_.delayed | eligible() | (now_.one & ready)) == 0 && now_.ready_before == ready &&
               full_ == (count_ == facts::fabric::kContexts);
    }

    /// One cycle. `pushed`: the client whose entry is written, or kNobody. `popped`: registered, the clients
    /// whose context register is used up in this cycle; else the clients that want their next entry.
    bool step(int pushed, std::uint32_t popped)
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

private:
    static constexpr std::uint32_t kAll = (1u << kClients) - 1;

    /// A bit a client.
    struct State {
        std::uint32_t one = 0, two = 0, three = 0;  // so many prefetched entries, or more
        std::uint32_t in_ram = 0;                   // entries in the RAM that may be read
        std::uint32_t written = 0;                  // to the RAM, in the cycle before
        std::uint32_t delayed = 0;                  // its RAM read was started in the cycle before
        std::uint32_t ready_before = 0;             // the reader's ready in the cycle before
        std::uint32_t loaded = 0;                   // the context register
    };

    /// Whose entry in the RAM may be read.
    std::uint32_t eligible() const
    {
        return (now_.written | now_.in_ram) & (now_.ready_before | ~now_.two | (~now_.three & ~now_.delayed));
    }
    std::uint32_t bypasses(std::uint32_t write) const { return write & ~now_.in_ram & ~now_.written & (~now_.delayed | now_.one); }

    State now_;
    std::array<std::uint16_t, kClients> ram_{};
    std::uint32_t count_ = 0;  // entries in the RAM as the write side sees them
    unsigned last_ = kClients - 1;
    bool registered_, full_ = false;
};

}  // namespace dlasim::fabric
