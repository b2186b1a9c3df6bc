// What CMAC is: its latencies.   [spec] cmac.md, section named; confirmed by the measured cases
#pragma once
#include <cstdint>

#include "base/cycle.h"
#include "facts/hardware.h"

namespace dlasim::facts::cmac {

/// Registers between the port of CSC and the port of a half, then to the port of CACC. [spec] 0, 2.3
struct Facts {
    Cycle from_csc_a, from_csc_b;  // CSC port to the port of the half
    Cycle control;                 // port in to port out, valid and info
    Cycle to_cacc;                 // CSC port to CACC port, valid and info, both halves
    std::uint32_t fp16_kernels;    // of a half; 0: no fp16
};
inline Facts of(const Hardware& hw) { return hw.full() ? Facts{2, 1, 4, 8, hw.mac.atomic_k / 2} : Facts{0, 0, 6, 6, 0}; }
inline constexpr Cycle kDone = 7;     // [spec] 2.7: last atom at the port of the half to the done pulse
inline constexpr Cycle kGateOff = 3;  // [spec] 3: last cycle with the clock on after the done pulse

}  // namespace dlasim::facts::cmac
