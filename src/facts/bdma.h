// BDMA: what its silicon is. Cycles are core cycles.
//   [spec] bdma.md, section named     [case] a measured case of nv_full, id named
#pragma once
#include <cstdint>

#include "base/cycle.h"

namespace dlasim::facts {

inline constexpr std::uint32_t kBdmaDescriptors = 20;  // [spec] 1.2: descriptor queue
inline constexpr std::uint32_t kBdmaCommands = 22;     // [spec] 1.4: command queue of 20, its output and input registers
inline constexpr std::uint32_t kBdmaFifoBeats = 245;   // [spec] 2.2: latency FIFO
inline constexpr Cycle kBdmaDecodeToTrigger = 1;       // [spec] 2.1: CFG_OP at U, trigger U + 2
inline constexpr Cycle kBdmaDecodeToBusy = 2;          // [spec] 2.1: LAUNCH at U, busy and pending in U + 3
inline constexpr Cycle kBdmaPushToDescriptor = 3;      // [spec] 2.1: pushed in U + 2, at the output in U + 5
inline constexpr Cycle kBdmaSlotRelease = 2;           // [spec] 1.2: out of the queue, counted two cycles later
inline constexpr Cycle kBdmaCommandLatency = 2;        // [spec] 1.4: accepted by the loader, at the store's queue output
inline constexpr Cycle kBdmaResponseToFifo = 4;        // [spec] 2.2: response at the port in R, FIFO output in R + 4
inline constexpr Cycle kBdmaCompleteToGlb = 1;         // [spec] 2.3: write complete in the unit, pulse at GLB
inline constexpr unsigned kBdmaInterruptBit = 6;       // [spec] csb.md 3: bits 6 and 7

}  // namespace dlasim::facts
