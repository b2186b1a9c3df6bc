// A memory at a port in plain C++, in cycles of the clock that port and memory share: what TLM-2.0's four phases say (dbb_socket.h).
//
//   port ── offer(burst, from) ──► memory     accepted(burst, at) ──► port     where offer() could not say when
//        ── end(burst, at) ──────►            answered(burst, from) ─►         the first beat of a read, the response to a write
//
// A port has one burst at a time that is not accepted, and one that is answered and has not ended. Bytes move in offer().
#pragma once
#include <cstdint>

#include "base/cause.h"
#include "base/cycle.h"

namespace dlasim {

/// What a memory that explains itself did with a burst. In cycles of the port.
struct MemoryWaits {
    DramCycles taken{};    // from the offer until it was accepted
    DramCycles waited{};   // of what the memory had to do before it could answer
    Cycle ready = kNever;  // the answer might have begun, had those before it not been on the port
};

struct MemoryBurst {
    std::uint64_t address = 0;
    std::uint8_t* data = nullptr;               // null: no data are moved
    const std::uint8_t* enables = nullptr;      // a byte each; null: all bytes
    std::uint32_t bytes = 0, enable_bytes = 0;  // the enables repeat
    std::uint32_t beat_bytes = 0;
    bool write = false;
    bool refused = false;          // by the memory: it has no such address
    MemoryWaits* waits = nullptr;  // where the port asks
};

class MemoryClient {
public:
    virtual ~MemoryClient() = default;
    virtual void accepted(MemoryBurst& burst, Cycle at) = 0;
    virtual void answered(MemoryBurst& burst, Cycle from) = 0;
};

/// Of one port.
class MemoryModel {
public:
    struct Taken {
        Cycle accepted = kNever;  // kNever: accepted() says it
        Cycle answered = kNever;  // where it is known and the memory wants no end(); kNever: answered() says it
    };
    virtual ~MemoryModel() = default;
    /// The command, of a write with its data, is at the port from cycle `from` on, a later one than now.
    /// Reads are answered in their order.
    virtual Taken offer(MemoryBurst& burst, Cycle from) = 0;
    /// The port has taken the last beat or the response.
    virtual void end(MemoryBurst& burst, Cycle at) = 0;
};

}  // namespace dlasim
