// The register bus: latencies in core cycles, csb clock equal to core clock.
//   [spec] csb.md, section named
#pragma once
#include "base/cycle.h"

namespace dlasim::facts {

inline constexpr unsigned kCsbFifoDepth = 4;     // [spec] 2.3: request FIFO
inline constexpr Cycle kCsbFifoRelease = 8;      // [spec] 2.3: pushed in p, its slot is free for a push in p + 9
inline constexpr Cycle kCsbPushToDecode = 8;     // [spec] 2.1: push in T + 1, unit port U = T + 8, decode U + 1
inline constexpr Cycle kCsbRetiming = 3;         // [spec] 2.1: nv_full's CMAC_A, CMAC_B and CACC, each way
inline constexpr Cycle kCsbResponseToPort = 8;   // [spec] 2.2: response at the unit in V, at the port in V + 8
inline constexpr Cycle kCsbPushToUnmapped = 14;  // [spec] 2.2: unmapped address, T + 15
inline constexpr Cycle kCsbPushToGec = 16;       // [spec] 2.2: GEC of nv_full answers zeros, T + 17
inline constexpr Cycle kGlbPulseToStatus = 2;    // [spec] 2.6: pulse in I, status bit in I + 2
inline constexpr Cycle kGlbStatusToPin = 4;      // [spec] 2.6: status bit in s, dla_intr in s + 4

}  // namespace dlasim::facts
