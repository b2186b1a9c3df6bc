// Rubik: what its silicon is. Cycles are core cycles.
//   [spec] rubik.md, section named     [case] seen in measured cases, open_points.md 2 and F2
#pragma once
#include <cstdint>

#include "base/cycle.h"
#include "facts/hardware.h"

namespace dlasim::facts::rubik {

inline constexpr Cycle kStartToRequest = 2;       // [spec] 2.1: op_en in O, first request and command in O + 2
inline constexpr Cycle kResponseToFifo = 5;       // [spec] 2.2: response at the port in R, fill beat in R + 5
inline constexpr Cycle kFillToDrain = 1;          // [spec] 2.2: last fill beat in X, first drain beat in X + 1
inline constexpr Cycle kDrainToFill = 1;          // [case] rubik_rb_*: the bank is free after the issue of its last drain beat
inline constexpr Cycle kPushToCommand = 2;        // [spec] 2.3: first layer: lanes take a beat in X + 3, command in X + 5
inline constexpr Cycle kCompleteToInterrupt = 1;  // [spec] 2.4: write complete in the unit, pulse at GLB
inline constexpr Cycle kDoneToGate = 4;           // [spec] 3: clocks stop three cycles after op_en
inline constexpr unsigned kBanks = 2;             // [spec] 1.5
inline constexpr std::uint32_t kMaxLine = 8192;   // [spec] 1.1: places of a line
// FIFOs of words between an input and an output register.
inline constexpr std::uint8_t kLaneWords = 4;     // [case] rubik_rb_*
inline constexpr std::uint8_t kCommandWords = 4;  // [case] rubik_con_x16y1: of write and of drain commands

/// What depends on the generation and on the geometry. Only nv_full has the unit.
struct Facts {
    std::uint32_t beat_atoms;  // of a memory word
    std::uint32_t fifo_beats;  // [spec] 2.2: data FIFO
};
inline Facts of(const Hardware& hw) { return {.beat_atoms = hw.atoms_per_beat(), .fifo_beats = 80}; }

}  // namespace dlasim::facts::rubik
