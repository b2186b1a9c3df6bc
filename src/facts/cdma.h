// CDMA: latencies, depths and rules of the silicon. All cycles are core clock cycles.
//   [spec] cdma.md, section named
#pragma once
#include <cstdint>

#include "base/cycle.h"

namespace dlasim::facts {

inline constexpr std::uint32_t kCdmaBurstAtoms = 8;        // [spec] 4.2, 7.1: longest request of feature data and weights
inline constexpr std::uint32_t kCdmaInfoDepth = 128;       // [spec] 3.2: RAM words of the request bookkeeping FIFOs
inline constexpr std::uint32_t kCdmaWeightFifo = 8;        // [spec] 3.2: weight response FIFO, configurable generation
inline constexpr std::uint32_t kCdmaOutstandingMax = 511;  // [spec] 11: the counter of bursts in flight freezes here

// Life cycle of a layer.
inline constexpr Cycle kCdmaBusy = 1;       // [spec] 2.2: T0 to BUSY (or DONE with reuse)
inline constexpr Cycle kCdmaGateTail = 3;   // [spec] 12: the clock runs 3 cycles longer than the layer
inline constexpr Cycle kCdmaGateDelay = 3;  // [spec] 12: a fetcher's activity reaches the gates of the others

// Feature data.
inline constexpr Cycle kCdmaFirstGrain = 3;       // [spec] 4.3: BUSY to the first grain's space check
inline constexpr Cycle kCdmaReadToConverter = 4;  // [spec] 3.4: read decision to converter input and status unit
inline constexpr Cycle kCdmaFeatureDone = 11;     // [spec] 4.8: last read decision to DONE

// Image data.
inline constexpr Cycle kCdmaImageFirst = 1;             // [spec] 5.3: BUSY to the first space check
inline constexpr Cycle kCdmaImageBundle = 4;            // [spec] 5.4: last beat of a bundle produced to visible at the packer
inline constexpr Cycle kCdmaImageRead = 4;              // [spec] 5.5: packer's read to converter input
inline constexpr std::uint32_t kCdmaImageBundle0 = 8;   // [spec] 5.3: atoms of a bundle, plane 0
inline constexpr std::uint32_t kCdmaImageBundle1 = 16;  // [spec] 5.3: atoms of a bundle, plane 1
inline constexpr Cycle kCdmaImageDone = 10;             // [spec] 5.6: converter input of the last beat to DONE

// Winograd data.
inline constexpr std::uint32_t kCdmaCubeCycles = 8;  // [spec] 6.4: reads of a cube
inline constexpr std::uint32_t kCdmaCubeLimit = 8;   // [spec] 6.3: readable cubes that block responses
inline constexpr Cycle kCdmaCubeRead = 6;            // [spec] 6.4: read decision to converter input
inline constexpr Cycle kCdmaWinogradDone = 11;       // [spec] 6.4: converter input of the last beat to DONE

// Converter and messages.
inline constexpr Cycle kCdmaBypass = 2;   // [spec] 9.2: converter input to CBUF write, converter off
inline constexpr Cycle kCdmaConvert = 6;  // [spec] 9.2: the same, converter on
inline constexpr Cycle kCdmaUpdate = 9;   // [spec] 10: status unit to cdma2sc_dat_updt

// Weights.
inline constexpr Cycle kCdmaWeightMessage = 4;           // [spec] 7.5: group complete to cdma2sc_wt_updt
inline constexpr Cycle kCdmaWeightDone = 10;             // [spec] 7.5: last group complete to DONE
inline constexpr std::uint32_t kCdmaWeightSlack = 8;     // [spec] 7.1: entries * atoms per entry beyond the ring, configurable
inline constexpr std::uint32_t kCdmaGroupSizes = 8;      // [spec] 7.2: group sizes in a read
inline constexpr std::uint32_t kCdmaGroupSizeFifo = 32;  // [spec] 3.2, 7.2: group sizes requested and not used

// Bits of GLB.S_INTR_STATUS of register group 0. [spec] csb.md 3
inline constexpr std::uint32_t kCdmaDataInterrupt = 1u << 16;
inline constexpr std::uint32_t kCdmaWeightInterrupt = 1u << 18;

}  // namespace dlasim::facts
