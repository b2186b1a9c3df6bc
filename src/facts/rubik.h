// Rubik: what its silicon is. Cycles are core cycles.
//   [spec] rubik.md, section named     [case] seen in measured cases, open_points.md 2 and F2
#pragma once
#include <cstdint>

#include "base/cycle.h"

namespace dlasim::facts {

inline constexpr Cycle kRubikStartToRequest = 2;    // [spec] 2.1: op_en in O, first request and command in O + 2
inline constexpr Cycle kRubikResponseToFifo = 5;    // [spec] 2.2: response at the port in R, fill beat in R + 5
inline constexpr Cycle kRubikFillToDrain = 1;       // [spec] 2.2: last fill beat in X, first drain beat in X + 1
inline constexpr Cycle kRubikDrainToFill = 1;       // [case] rubik_rb_*: the bank is free behind the issue of its last drain beat
inline constexpr unsigned kRubikBanks = 2;          // [spec] 1.5
inline constexpr std::uint8_t kRubikLaneWords = 4;  // [case] rubik_rb_*: between an input and an output register
inline constexpr Cycle kRubikPushToCommand = 2;     // [spec] 2.3: first layer: lanes take a beat in X + 3, command in X + 5
inline constexpr std::uint8_t kRubikCommandWords =
    4;  // [case] rubik_con_x16y1: of write and of drain commands, between an input and an output register
inline constexpr std::uint32_t kRubikFifoBeats = 80;  // [spec] 2.2: data FIFO
inline constexpr Cycle kRubikCompleteToGlb = 1;       // [spec] 2.4: write complete in the unit, pulse at GLB
inline constexpr Cycle kRubikDoneToGate = 4;          // [spec] 3: clocks stop three cycles after op_en
inline constexpr unsigned kRubikInterruptBit = 8;     // [spec] csb.md 3: bits 8 and 9

}  // namespace dlasim::facts
