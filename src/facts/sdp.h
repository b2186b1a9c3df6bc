// SDP in silicon: depths and latencies that no register and no preset changes.
//   [spec]  sdp.md, section named     [case]  seen in a measured case
#pragma once
#include <cstdint>

namespace dlasim::facts::sdp {

// ---- start and end of a layer
inline constexpr unsigned kDoneToRelease = 1;         // [spec] 2.3: done pulse L + 1
inline constexpr unsigned kDoneToGateOff = 4;         // [spec] 3.1: op_en delayed by three flops falls at done + 4
inline constexpr unsigned kReaderEndToStart = 5;      // [spec] 2.3: last beat x, done x + 1, next E x + 5 at the earliest
inline constexpr unsigned kFullAckToIrq = 4;          // [spec] 2.3: R + 4
inline constexpr unsigned kConfigurableAckToIrq = 3;  // [spec] 2.3: R + 3

// ---- rigid pipelines of nv_full, stages
inline constexpr unsigned kFullAlu = 5, kFullMul = 5, kFullTruncate = 1, kFullRelu = 1;  // [spec] 2.4
inline constexpr unsigned kFullConverter = 4;                                            // [spec] 2.4
inline constexpr unsigned kFullEwMul = 4, kFullEwAlu = 5;                                // [spec] 2.6
inline constexpr unsigned kFullEwFifo = 5;                                               // [spec] 2.6
inline constexpr unsigned kFullEwOperand = 2;                                            // [spec] 2.6
inline constexpr unsigned kFullLutIndex = 6, kFullLutInterpolate = 13;                   // [spec] 2.6
inline constexpr unsigned kFullEwLanes = 4;                                              // [spec] 2.4

// ---- elastic stages of the configurable generation
inline constexpr unsigned kConverter = 4, kConverterCompare = 1;  // [spec] 2.5
inline constexpr unsigned kEwOperand = 3, kEwOperandBypass = 1;   // [spec] 2.6
inline constexpr unsigned kLutFifo = 2;                           // [spec] 2.6, both generations
inline constexpr unsigned kLutIndex = 4, kLutInterpolate = 3;     // [spec] 2.6

// ---- write DMA
inline constexpr unsigned kCommandFifo = 4;                        // [spec] 2.7: split and dma FIFO
inline constexpr unsigned kBanks = 4;                              // [spec] 2.7
inline constexpr unsigned kFullBankFifo = 3;                       // [spec] 2.7
inline constexpr unsigned kFullWriteStages = 2, kWriteStages = 1;  // [spec] 2.7; for each port [case] cvsram_write_interval_1

// ---- read DMA
inline constexpr unsigned kResponseStages = 2;                      // [spec] 2.8
inline constexpr unsigned kFullFeatureFifo = 3, kFullWideFifo = 1;  // [spec] 2.8: MRDMA, 16 and 32 bytes
inline constexpr unsigned kRods = 4;                                // [spec] 2.8
inline constexpr std::uint32_t kFullContextMrdma = 80, kFullContextOperand = 160, kFullContextErdma = 80;  // [spec] 2.8
inline constexpr std::uint32_t kLatencyPerContext = 4,
                               kLeastContexts = 4;  // [spec] 2.8: 16, 64, 256 for 64, 256, 1024 cycles, all engines alike
inline constexpr unsigned kMrdmaCommands = 4;       // [case] perf_mrdma_stall_column: of each side of its FIFOs, behind one register
inline constexpr std::uint32_t kSegment16to8 = 8;   // [spec] 1.5: pixels a command

}  // namespace dlasim::facts::sdp
