// BDMA: what its silicon is. Cycles are core cycles.
//   [spec] bdma.md, section named     [case] a measured case of nv_full, id named
#pragma once
#include <cstdint>

#include "base/cycle.h"
#include "facts/hardware.h"

namespace dlasim::facts::bdma {

inline constexpr Cycle kDecodeToTrigger = 1;            // [spec] 2.1: CFG_OP at U, trigger U + 2
inline constexpr Cycle kDecodeToBusy = 2;               // [spec] 2.1: LAUNCH at U, busy and pending in U + 3
inline constexpr Cycle kPushToDescriptor = 3;           // [spec] 2.1: pushed in U + 2, at the output in U + 5
inline constexpr Cycle kSlotRelease = 2;                // [spec] 1.2: out of the queue, counted two cycles later
inline constexpr Cycle kCommandLatency = 2;             // [spec] 1.4: accepted by the loader, at the store's queue output
inline constexpr Cycle kResponseToFifo = 4;             // [spec] 2.2: response at the port in R, FIFO output in R + 4
inline constexpr Cycle kCompleteToInterrupt = 1;        // [spec] 2.3: write complete in the unit, pulse at GLB
inline constexpr std::uint32_t kDescriptors = 20;       // [spec] 1.2: descriptor queue
inline constexpr std::uint32_t kStoreRepeats = 0x1fff;  // [spec] 1.4: the store keeps 13 bits of each repeat

/// What depends on the generation and on the geometry. Only nv_full has the unit.
struct Facts {
    std::uint32_t beat_atoms;  // of a memory word
    std::uint32_t commands;    // [spec] 1.4: command queue of 20, its output and input registers
    std::uint32_t fifo_beats;  // [spec] 2.2: latency FIFO
};
inline Facts of(const Hardware& hw) { return {.beat_atoms = hw.atoms_per_beat(), .commands = 22, .fifo_beats = 245}; }

}  // namespace dlasim::facts::bdma
