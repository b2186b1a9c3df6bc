// Rubik: what its silicon is. Cycles are core cycles.
//   [spec] rubik.md, section named     [guess] not known, and not seen by any measured case
#pragma once
#include <cstdint>

#include "base/cycle.h"

namespace dlasim::facts {

inline constexpr Cycle kRubikStartToRequest = 2;         // [spec] 2.1: op_en in O, first request and command in O + 2
inline constexpr Cycle kRubikResponseToFifo = 5;         // [spec] 2.2: response at the port in R, fill beat in R + 5
inline constexpr Cycle kRubikFillToDrain = 1;            // [spec] 2.2: last fill beat in X, first drain beat in X + 1
inline constexpr Cycle kRubikDrainToFill = 1;            // [guess] last drain beat, bank free: as the other way round
inline constexpr Cycle kRubikDrainToSender = 4;          // [spec] 2.2: drained in X + 1, at the packer's output in X + 5
inline constexpr Cycle kRubikDrainToFirstCommand = 4;    // [spec] 2.3: first layer: drained in X + 1, command in X + 5
inline constexpr Cycle kRubikCommandLatency = 2;         // [spec] 2.3: command generated in O + 2, at the FIFO's output in O + 4
inline constexpr std::uint32_t kRubikCommands = 6;       // [spec] 2.3: FIFO of 4, its input and output registers
inline constexpr std::uint32_t kRubikDrainCommands = 5;  // [spec] 2.2: FIFO of 4 and its input register
inline constexpr std::uint32_t kRubikPackedAtoms = 16;   // [guess] drained and not yet sent, pipeline included
inline constexpr std::uint32_t kRubikFifoBeats = 80;     // [spec] 2.2: data FIFO
inline constexpr Cycle kRubikCompleteToGlb = 1;          // [spec] 2.4: write complete in the unit, pulse at GLB
inline constexpr Cycle kRubikDoneToGate = 4;             // [spec] 3: clocks stop three cycles after op_en
inline constexpr unsigned kRubikInterruptBit = 8;        // [spec] csb.md 3: bits 8 and 9

}  // namespace dlasim::facts
