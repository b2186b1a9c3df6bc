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
#include <cstdint>

#include "facts/fabric.h"
#include "traffic/memory.h"

namespace dlasim::fabric {

class ContextQueue {
public:
    static constexpr int kNobody = -1;

    /// With a register after the prefetch buffer (read egress) or without (write responses).
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
    bool step(int pushed, std::uint32_t popped);

private:
    static constexpr std::uint32_t kAll = (1u << kClients) - 1;

    /// A bit a client.
    struct State {
        std::uint32_t one = 0, two = 0, three = 0;  // at least this number of prefetched entries
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
