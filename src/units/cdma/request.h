// What both sides of CDMA know of a request, and the port that is not there.
#pragma once
#include <cstdint>

#include "base/state.h"
#include "traffic/memory.h"

namespace dlasim::cdma {

/// What the request bookkeeping FIFO remembers of a request.
struct RequestInfo {
    std::uint8_t atoms = 0;
    std::uint8_t source = 0;  // feature: surface in the group; image: plane; Winograd: row; weights: stream
    bool dummy = false;       // no memory request: the fetcher produces these atoms itself
    bool line_start = false, bundle_end = false, line_end = false;  // image
    bool chunk_end = false;                                         // Winograd
};

/// One word: there are many of them.
inline void state_of(State& s, const RequestInfo& info)
{
    const unsigned flags = info.dummy | info.line_start << 1 | info.bundle_end << 2 | info.line_end << 3 | info.chunk_end << 4;
    s.same(std::uint32_t{info.atoms} | std::uint32_t{info.source} << 8 | flags << 16);
}

/// What a RAM type selects that the machine does not have: it takes nothing. fabric.md 1.1.
struct NoPort {
    NoPort() { link.request.set_ready(0, false); }
    ReadLink link;
};

}  // namespace dlasim::cdma
