// What both sides of CDMA know of a request, and the port that is not there.
#pragma once
#include <cstdint>

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

/// What a RAM type selects that the machine does not have: it takes nothing. fabric.md 1.1.
struct NoPort {
    NoPort() { link.request.set_ready(0, false); }
    ReadLink link;
};

}  // namespace dlasim::cdma
