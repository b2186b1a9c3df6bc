// CDMA: latencies, depths and rules of the silicon. All cycles are core clock cycles.
//   [spec] cdma.md, section named
#pragma once
#include <cstdint>

#include "base/cycle.h"
#include "facts/hardware.h"

namespace dlasim::facts::cdma {

inline constexpr std::uint32_t kBurstAtoms = 8;        // [spec] 4.2, 7.1: longest request of feature data and weights
inline constexpr std::uint32_t kInfoDepth = 128;       // [spec] 3.2: RAM words of the request bookkeeping FIFOs
inline constexpr std::uint32_t kWeightFifo = 8;        // [spec] 3.2: weight response FIFO, configurable generation
inline constexpr std::uint32_t kOutstandingMax = 511;  // [spec] 11: the counter of bursts in flight freezes here

// Limits of a layer, from the widths of the fields.
inline constexpr std::uint32_t kMaxLines = 8192;  // D_DATAIN_SIZE_0.DATAIN_HEIGHT: lines of the input
inline constexpr std::uint32_t kMaxStride = 8;    // D_CONV_STRIDE.CONV_Y_STRIDE

// Life cycle of a layer.
inline constexpr Cycle kBusy = 1;       // [spec] 2.2: T0 to BUSY (or DONE with reuse)
inline constexpr Cycle kGateTail = 3;   // [spec] 12: the clock runs 3 cycles longer than the layer
inline constexpr Cycle kGateDelay = 3;  // [spec] 12: a fetcher's activity reaches the gates of the others

// Feature data.
inline constexpr Cycle kFirstGrain = 3;       // [spec] 4.3: BUSY to the first grain's space check
inline constexpr Cycle kReadToConverter = 4;  // [spec] 3.4: read decision to converter input and status unit
inline constexpr Cycle kFeatureDone = 11;     // [spec] 4.8: last read decision to DONE

// Image data.
inline constexpr Cycle kImageFirst = 1;             // [spec] 5.3: BUSY to the first space check
inline constexpr Cycle kImageBundle = 4;            // [spec] 5.4: last beat of a bundle produced to visible at the packer
inline constexpr Cycle kImageRead = 4;              // [spec] 5.5: packer's read to converter input
inline constexpr std::uint32_t kImageBundle0 = 8;   // [spec] 5.3: atoms of a bundle, plane 0
inline constexpr std::uint32_t kImageBundle1 = 16;  // [spec] 5.3: atoms of a bundle, plane 1
inline constexpr Cycle kImageDone = 10;             // [spec] 5.6: converter input of the last beat to DONE

// Winograd data.
inline constexpr std::uint32_t kCubeCycles = 8;  // [spec] 6.4: reads of a cube
inline constexpr std::uint32_t kCubeLimit = 8;   // [spec] 6.3: readable cubes that block responses
inline constexpr Cycle kCubeRead = 6;            // [spec] 6.4: read decision to converter input
inline constexpr Cycle kWinogradDone = 11;       // [spec] 6.4: converter input of the last beat to DONE

// Converter and messages.
inline constexpr Cycle kBypass = 2;   // [spec] 9.2: converter input to CBUF write, converter off
inline constexpr Cycle kConvert = 6;  // [spec] 9.2: the same, converter on
inline constexpr Cycle kUpdate = 9;   // [spec] 10: status unit to cdma2sc_dat_updt

// Weights.
inline constexpr Cycle kWeightMessage = 4;           // [spec] 7.5: group complete to cdma2sc_wt_updt
inline constexpr Cycle kWeightDone = 10;             // [spec] 7.5: last group complete to DONE
inline constexpr std::uint32_t kWeightSlack = 8;     // [spec] 7.1: entries * atoms per entry beyond the ring, configurable
inline constexpr std::uint32_t kGroupSizes = 8;      // [spec] 7.2: group sizes in a read
inline constexpr std::uint32_t kGroupSizeFifo = 32;  // [spec] 3.2, 7.2: group sizes requested and not used

// Bits of GLB.S_INTR_STATUS of register group 0. [spec] csb.md 3
inline constexpr std::uint32_t kDataInterrupt = 1u << 16;
inline constexpr std::uint32_t kWeightInterrupt = 1u << 18;

/// What depends on the generation and on the geometry.
struct Facts {
    bool words;                        // int16, fp16 and pixels of more than 8 bits
    bool stages_stall;                 // registered stages lose a slot after every stall. [spec] 3.1
    unsigned response_stages;          // of the data side. [spec] 3.1
    bool beats;                        // a beat of two atoms passes converter and packers whole. [spec] 5.5, 9.4
    std::uint32_t surfaces_in_turn;    // feature data: requested alternately. [spec] 4.2
    std::uint32_t atoms_per_read;      // feature data, of one surface. [spec] 4.5
    bool line_ends_cleared;            // what the last atoms of a line leave of their entry is zero. [spec] 4.7
    bool pixel_addresses;              // image: addresses and strides count bytes, else atoms. [spec] 1.3
    bool weight_streams;               // masks and group sizes are fetched beside the weights. [spec] 7.1
    bool weight_latency;               // D_PERF_WT_READ_LATENCY counts. [spec] 11
    std::uint32_t data_entries;        // the data write port reaches entries below. [spec] cbuf.md 1.2
    std::uint32_t first_weight_entry;  // the weight write port reaches entries from here on. [spec] cbuf.md 1.2
    std::uint32_t weight_unit;         // atoms the weight ring is written in. [spec] 7.3
    std::uint32_t weight_slack;        // atoms per entry times entries that requests run ahead of the ring. [spec] 7.1
    Cycle flush;                       // the sweep of the buffer after reset. [spec] 10
    unsigned entry_bits, bank_bits;    // of D_ENTRY_PER_SLICE and of each field of D_BANK
};
inline Facts of(const Hardware& hw)
{
    const std::uint32_t entries = hw.cbuf.banks * hw.cbuf.bank_depth;
    const Cycle atoms = Cycle{entries} * hw.atoms_per_entry();
    if (hw.full())
        return {.words = true,
                .stages_stall = false,
                .response_stages = 2,
                .beats = true,
                .surfaces_in_turn = 2,
                .atoms_per_read = 2,
                .line_ends_cleared = true,
                .pixel_addresses = false,
                .weight_streams = true,
                .weight_latency = true,
                .data_entries = entries - hw.cbuf.bank_depth,
                .first_weight_entry = hw.cbuf.bank_depth,
                .weight_unit = 2,
                .weight_slack = 0,
                .flush = atoms / 4 + 1,
                .entry_bits = 12,
                .bank_bits = 4};
    return {.words = false,
            .stages_stall = true,
            .response_stages = 3,
            .beats = false,
            .surfaces_in_turn = 1,
            .atoms_per_read = 1,
            .line_ends_cleared = false,
            .pixel_addresses = true,
            .weight_streams = false,
            .weight_latency = false,
            .data_entries = entries,
            .first_weight_entry = 0,
            .weight_unit = 1,
            .weight_slack = kWeightSlack,
            .flush = atoms / 2 + 1,
            .entry_bits = 14,
            .bank_bits = 5};
}

}  // namespace dlasim::facts::cdma
