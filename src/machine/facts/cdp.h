// CDP and CDP_RDMA in silicon: rates, depths and latencies, and what the generations have differently.
//   [spec]  cdp.md, section named
#pragma once
#include <algorithm>
#include <cstdint>

#include "base/cycle.h"
#include "facts/hardware.h"

namespace dlasim::facts::cdp {

inline constexpr std::uint32_t kBlock = 8;          // [spec] 2: pixels of a line that are worked on together
inline constexpr unsigned kSyncFifo = 80;           // [spec] 4.2: x and beat information beside the channel buffer
inline constexpr unsigned kSumFifo = 60;            // [spec] 4.2: sums beside the index
inline constexpr unsigned kFlagFifo = 20;           // [spec] 4.2: beside the interpolator
inline constexpr unsigned kFullFlagFifo = 19;       // [spec] 4.2
inline constexpr Cycle kCompleteToInterrupt = 1;    // [spec] 4.4: complete at the port in C, pulse at GLB in C + 3
inline constexpr Cycle kDoneToGateOff = 4;          // [spec] 4.6, csb.md 4: op_en delayed by three flops
inline constexpr Cycle kTableReadSettles = 3;       // [spec] 5.1: a read closer to S_LUT_ACCESS_CFG sees the old address
inline constexpr std::uint32_t kFullBeatBytes = 8;  // [spec] parameters: 8 int8, 4 of 16 bits

/// Where the generations compute int8 otherwise; the values here are those of nv_full.
struct Arithmetic {
    unsigned in_dead_shift = 64, out_dead_shift = 64;  // converters: right shifts from here on give 0. [spec] 3.1
    bool even_index_cut = true;                        // the look-up units of even channels cut the index. [spec] 3.3
};
constexpr Arithmetic arithmetic(Generation generation)
{
    if (generation == Generation::Full) return {};
    return {.in_dead_shift = 25, .out_dead_shift = 42, .even_index_cut = false};
}

/// What depends on the generation and on the geometry.
struct Facts {
    bool words;                     // int16 and fp16: D_DATA_FORMAT counts
    std::uint32_t atom_bytes;       // of memory
    std::uint32_t beat_bytes;       // [spec] parameters: bytes the core takes a cycle, TP of int8
    std::uint32_t chunks;           // [spec] F: beats an atom
    std::uint32_t word_atoms;       // [spec] M: atoms a DMA word
    std::uint32_t lag;              // [spec] 4.3: beats a pixel before its first window is complete
    bool wide_buffer_input;         // [spec] 4.3: the channel buffer's input is a two-place stage, not a PIPE
    bool stalling_stages;           // [spec] 4: SKID-PIPE-B instead of nv_full's SKID-PIPE
    std::uint32_t response_stages;  // [spec] 4.1: between the port and the latency FIFO
    std::uint32_t reorder_depth;    // [spec] 4.1: of each of the F FIFOs
    std::uint32_t contexts;         // [spec] 4.1
    std::uint32_t write_depth;      // [spec] 4.4: of each of the F FIFOs
    std::uint32_t write_commands;   // [spec] 4.4
    std::uint64_t address_mask;     // [spec] 2: addresses wrap
    bool floating;                  // [spec] 4.2: fp16 has pipes of its own
    Arithmetic arithmetic;
    bool hybrid_counts_idle_lanes;  // [spec] 3.5: with 16 bits the lanes of int8 alone count as both hit
};
inline Facts of(const Hardware& hw)
{
    const bool full = hw.full();
    const std::uint32_t beat = full ? kFullBeatBytes : hw.cdp.throughput;
    return {.words = full,
            .atom_bytes = hw.memory.atom_bytes,
            .beat_bytes = beat,
            .chunks = hw.memory.atom_bytes / beat,
            .word_atoms = hw.atoms_per_beat(),
            .lag = full ? 1 : std::max(1u, 4 / beat),
            .wide_buffer_input = beat >= 4,
            .stalling_stages = !full,
            .response_stages = full ? 1u : 2u,
            .reorder_depth = full ? 4u : 32u,
            .contexts = full ? 32u : 256u,
            .write_depth = full ? 3u : 32u,
            .write_commands = full ? 3u : 4u,
            .address_mask = hw.memory.address_bits >= 64 ? UINT64_MAX : (std::uint64_t{1} << hw.memory.address_bits) - 1,
            .floating = full,
            .arithmetic = arithmetic(hw.generation),
            .hybrid_counts_idle_lanes = full};
}

}  // namespace dlasim::facts::cdp
