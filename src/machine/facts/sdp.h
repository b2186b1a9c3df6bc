// SDP and SDP_RDMA in silicon. What the generations have differently is decided here and nowhere else.
//   [spec]  sdp.md, section named     [case]  seen in a measured case
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>

#include "base/bits.h"
#include "base/cycle.h"
#include "facts/hardware.h"

namespace dlasim::facts::sdp {

// ---- start and end of a layer
inline constexpr unsigned kDoneToRelease = 1;     // [spec] 2.3: done pulse L + 1
inline constexpr unsigned kDoneToFlags = 2;       // [spec] 3.1: gates have registered flags, of the group that is current after done
inline constexpr unsigned kWriteToFlag = 2;       // [spec] 3.1, csb.md 2.1: a register holds what was written one cycle later
inline constexpr unsigned kDoneToGateOff = 4;     // [spec] 3.1: op_en delayed by three flops falls at done + 4
inline constexpr unsigned kReaderEndToStart = 5;  // [spec] 2.3: last beat x, done x + 1, next E x + 5 at the earliest

// ---- rigid pipelines, stages
inline constexpr unsigned kRigidAlu = 5, kRigidMul = 5, kRigidTruncate = 1, kRigidRelu = 1;  // [spec] 2.4
inline constexpr unsigned kRigidConverter = 4;                                               // [spec] 2.4
inline constexpr unsigned kRigidEwMul = 4, kRigidEwAlu = 5;                                  // [spec] 2.6
inline constexpr unsigned kRigidEwFifo = 5;                                                  // [spec] 2.6
inline constexpr unsigned kRigidEwOperand = 2;                                               // [spec] 2.6
inline constexpr unsigned kRigidLutIndex = 6, kRigidLutInterpolate = 13;                     // [spec] 2.6

// ---- elastic pipelines, stages
inline constexpr unsigned kElasticConverter = 4, kElasticConverterCompare = 1;  // [spec] 2.5
inline constexpr unsigned kElasticEwOperand = 3, kElasticEwOperandBypass = 1;   // [spec] 2.6
inline constexpr unsigned kElasticLutIndex = 4, kElasticLutInterpolate = 3;     // [spec] 2.6

inline constexpr unsigned kLutFifo = 2;  // [spec] 2.6: words after the table, everywhere

// ---- write DMA
inline constexpr unsigned kCommandFifo = 4;  // [spec] 2.7: split and dma FIFO
inline constexpr unsigned kBanks = 4;        // [spec] 2.7

// ---- read DMA
inline constexpr unsigned kResponseStages = 2;              // [spec] 2.8
inline constexpr unsigned kFeatureFifo = 3, kWideFifo = 1;  // [spec] 2.8: MRDMA of words, 16 and 32 bytes
inline constexpr unsigned kRods = 4;                        // [spec] 2.8
inline constexpr unsigned kMrdmaCommands = 4;               // [case] perf_mrdma_stall_column: of each side of its FIFOs, after one register
inline constexpr std::uint32_t kSegment16to8 = 8;           // [spec] 1.5: pixels a command
inline constexpr std::uint32_t kLatencyPerContext = 4, kMinContexts = 4;  // [spec] 2.8: 16, 64, 256 for 64, 256, 1024 cycles

/// Where the generations compute otherwise; the values here are those of nv_full.
struct Arithmetic {
    std::uint32_t dead_shift = UINT32_MAX;  // BS, BN, converter: right shifts from here on give 0. [spec] 4.1
    bool fp16_results = true;               // the converter knows fp16. [spec] 4.2
    bool narrow_lanes = false;              // the upper byte of an int8 lane is 0, that of a comparison too. [spec] 4.2
    bool loose_flag = true;          // the saturation flag misses results out of range by one; it is set in comparisons, too. [spec] 4.2
    bool far_le_is_negative = true;  // LE: a distance of 2^31 or more counts as negative where a step is 2^33 or more. [spec] 4.5
};
constexpr Arithmetic arithmetic(Generation generation)
{
    if (generation == Generation::Full) return {};
    return {.dead_shift = 49, .fp16_results = false, .narrow_lanes = true, .loose_flag = false, .far_le_is_negative = false};
}

/// What depends on the generation and on the geometry. An array of three is that of BS, BN, EW.
struct Facts {
    Arithmetic arithmetic;
    bool rigid;            // a pipeline that freezes as a whole, operands join inside; else every stage moves by itself. [spec] 2.4, 2.5, 6
    bool stalls;           // registered stages lose a slot after every stall: SKID-PIPE-B, else SKID-PIPE. [spec] 2.1, 6
    bool words;            // int16 and fp16. [spec] 4.6
    bool winograd, batch;  // [spec] 1.7.3
    bool ew, lut;          // built in
    std::uint32_t atom_bytes;                     // of memory
    std::uint32_t word_atoms;                     // atoms of a memory word, at most. [spec] 1.8
    std::uint64_t address_mask;                   // addresses wrap
    std::uint32_t beat_lanes;                     // elements of a beat from CACC to the converter. [spec] 1.4
    std::uint32_t result_lanes;                   // elements of a beat from the converter to WDMA. [spec] 1.7.1
    std::uint32_t ew_lanes;                       // elements of a piece in EW. [spec] 2.4, 2.5
    std::array<std::uint32_t, 3> pieces;          // of a beat, in the engine. [spec] 2.4, 2.5
    std::array<std::uint32_t, 3> operand_pieces;  // of an operand beat. [spec] 2.6, 2.8
    std::uint32_t bank_bytes;                     // a place in a bank of WDMA. [spec] 1.7.1
    std::uint32_t bank_places;                    // [spec] 2.7: FIFO-R(3), SKID-PIPE-B
    unsigned interface_stages;                    // for each port of a DMA. [spec] 2.7, 2.8; [case] cvsram_write_interval_1
    std::array<std::uint32_t, 4> contexts;        // of MRDMA, BRDMA, NRDMA, ERDMA. [spec] 2.8
    Cycle complete_to_interrupt;                  // complete pulse of memory to the interrupt pulse at GLB. [spec] 2.3

    /// Beats of an atom of elements of one byte, or of two.
    std::uint32_t beats_of_atom(std::uint32_t element_bytes) const { return std::max(1u, atom_bytes / (beat_lanes * element_bytes)); }
};

inline Facts of(const Hardware& hw)
{
    const SdpHardware& sdp = hw.sdp;
    const std::uint32_t atom = hw.memory.atom_bytes, beat = hw.full() ? 16 : sdp.max_throughput();
    const auto parts = [](std::uint32_t whole, std::uint32_t part) { return std::max(1u, whole / part); };
    const std::uint32_t contexts = std::max(kMinContexts, ceil_div(hw.memory.fifo_cover_cycles, kLatencyPerContext));
    Facts facts{.arithmetic = arithmetic(hw.generation),
                .rigid = false,
                .stalls = true,
                .words = false,
                .winograd = hw.winograd,
                .batch = hw.batch,
                .ew = sdp.has_ew,
                .lut = sdp.has_lut,
                .atom_bytes = atom,
                .word_atoms = 1,
                .address_mask = hw.memory.address_bits > 32 ? UINT64_MAX : UINT32_MAX,
                .beat_lanes = beat,
                .result_lanes = atom,
                .ew_lanes = sdp.ew_throughput,
                .pieces = {parts(beat, sdp.bs_throughput), parts(beat, sdp.bn_throughput), parts(beat, sdp.ew_throughput)},
                .operand_pieces = {parts(atom, sdp.bs_throughput), parts(atom, sdp.bn_throughput), parts(atom, sdp.ew_throughput)},
                .bank_bytes = atom,
                .bank_places = 2,
                .interface_stages = 1,
                .contexts = {contexts, contexts, contexts, contexts},
                .complete_to_interrupt = 3};
    if (!hw.full()) return facts;
    facts.rigid = true;
    facts.stalls = false;
    facts.words = true;
    facts.word_atoms = 2;
    facts.result_lanes = 16;
    facts.ew_lanes = 4;
    facts.pieces = facts.operand_pieces = {1, 1, 4};
    facts.bank_bytes = 16;
    facts.bank_places = 4;
    facts.interface_stages = 2;
    facts.contexts = {80, 160, 160, 80};
    facts.complete_to_interrupt = 4;
    return facts;
}

}  // namespace dlasim::facts::sdp
