// The register bus: latencies in core cycles, csb clock equal to core clock.
//   [spec] csb.md, section named
#pragma once
#include <cstdint>

#include "base/cycle.h"
#include "facts/hardware.h"

namespace dlasim::facts::csb {

inline constexpr unsigned kFifoDepth = 4;     // [spec] 2.3: request FIFO
inline constexpr Cycle kFifoRelease = 8;      // [spec] 2.3: pushed in p, its slot is free for a push in p + 9
inline constexpr Cycle kPushToDecode = 8;     // [spec] 2.1: push in T + 1, unit port U = T + 8, decode U + 1
inline constexpr Cycle kResponseToPort = 8;   // [spec] 2.2: response at the unit in V, at the port in V + 8
inline constexpr Cycle kPushToUnmapped = 14;  // [spec] 2.2: unmapped address, T + 15
inline constexpr Cycle kPushToGec = 16;       // [spec] 2.2: GEC answers zeros, T + 17
inline constexpr Cycle kPulseToStatus = 2;    // [spec] 2.6: pulse in I, status bit in I + 2
inline constexpr Cycle kStatusToPin = 4;      // [spec] 2.6: status bit in s, dla_intr in s + 4

// GLB.S_INTR_STATUS. [spec] 3
inline constexpr std::uint32_t kEveryInterrupt = 0x3fffff;

/// What depends on the generation.
struct Facts {
    bool gec;        // [spec] 1.2: there is a window of GEC, without a target
    Cycle retiming;  // [spec] 2.1: to CMAC_A, CMAC_B and CACC, each way
};
inline Facts of(const Hardware& hw)
{
    if (hw.full()) return {.gec = true, .retiming = 3};
    return {.gec = false, .retiming = 0};
}

}  // namespace dlasim::facts::csb
