// Observers of accesses to memory and CBUF, in runs with --hazards only.
#pragma once
#include <cstdint>

#include "base/cycle.h"
#include "base/quantity.h"

namespace dlasim {

/// Of one memory port. Called in the order in which the values move.
class MemoryWatch {
public:
    MemoryWatch() = default;
    MemoryWatch(const MemoryWatch&) = delete;
    MemoryWatch& operator=(const MemoryWatch&) = delete;
    virtual ~MemoryWatch() = default;

    /// Whole memory atoms from byte `address` on, of the client with this AXI id; `at`: the cycle in which the memory gets the burst.
    virtual void read(std::uint32_t client, Address address, std::uint32_t bytes, Cycle at) = 0;
    virtual void written(std::uint32_t client, Address address, std::uint32_t bytes, Cycle at) = 0;
    /// The burst before was the last of a write that is acknowledged: an operation writes no more.
    virtual void ended(std::uint32_t client) = 0;
};

/// The content of an entry of CBUF.
enum class Held : std::uint8_t { None, Data, Weights, Masks };

/// Of the convolution buffer. Called in the order in which the values move, which may be some cycles off the strobes.
class CbufWatch {
public:
    CbufWatch() = default;
    CbufWatch(const CbufWatch&) = delete;
    CbufWatch& operator=(const CbufWatch&) = delete;
    virtual ~CbufWatch() = default;

    /// The rings of weights and masks restart: the pending handshake of CDMA and CSC.
    virtual void restarted() = 0;
    /// `turn`: of weights and masks, how many entries their ring had taken since it began; data have none.
    virtual void read(Held kind, std::uint32_t entry, std::uint64_t turn) = 0;
    virtual void written(Held kind, std::uint32_t entry, std::uint64_t turn) = 0;
};

}  // namespace dlasim
