// PDP and PDP_RDMA in silicon. What the generations have differently is decided here and nowhere else.
//   [spec]  pdp.md, section named
#pragma once
#include <cstdint>

#include "base/bits.h"
#include "base/cycle.h"
#include "facts/hardware.h"

namespace dlasim::facts::pdp {

// ---- the same everywhere
inline constexpr unsigned kResponseStages = 3;               // [spec] 4.2: response in r, latency FIFO write in r + 3
inline constexpr Cycle kResponseWait = kResponseStages + 3;  // through the empty FIFO and its output register too
inline constexpr unsigned kWindowStages = 4;                 // [spec] 4.4: PIPEs of the horizontal stage
inline constexpr unsigned kPadStages = 1;                    // [spec] 4.4: pad adder
inline constexpr unsigned kLineStages = 6;                   // [spec] 4.5: from the RAM read to the height's reciprocal
inline constexpr unsigned kFp16PadStages = 4;                // [spec] 5: pad adder of an fp16 average
inline constexpr unsigned kFp16OutputStages = 15;            // [spec] 5: after the adder of an fp16 average
inline constexpr unsigned kVoidBeats = 3;                    // [spec] 4.5: after every line of a single output column
inline constexpr std::uint32_t kSdpFifo = 4;                 // [spec] 4.3: FIFOs of the on-the-fly input
inline constexpr std::uint32_t kBankColumns = 16;            // [spec] intro: output columns of a line buffer bank
inline constexpr std::uint32_t kBanks = 8;                   // [spec] intro
inline constexpr Cycle kDoneToGate = 4;                      // [spec] 6: op_en delayed by three flops falls at done + 4

/// What depends on the generation and on the geometry.
struct Facts {
    std::uint32_t atom_bytes = 0;
    std::uint32_t beats = 0;         // cycles an atom takes
    std::uint32_t word_atoms = 1;    // [spec] 9: of a memory word
    bool stalls = true;              // [spec] 9: input and interface stages are SKID-PIPE-B
    unsigned interface_stages = 1;   // [spec] 4.1, 5
    std::uint32_t commands = 256;    // [spec] 4.2, 5: requests ahead of their data
    std::uint32_t atom_fifo = 32;    // [spec] 4.2, 4.6, 5: reorder and data FIFOs, words without the output register
    bool late_acknowledge = false;   // [spec] 4.7, 5: one register more from the acknowledge to the interrupt
    unsigned padded_bits = 15;       // [spec] 3: of an int8 sum with its padding
    bool formats = false;            // [spec] 9: D_DATA_FORMAT matters
    std::uint32_t sdp_bytes = 0;     // of a beat from SDP, int8
    std::uint64_t address_mask = 0;  // addresses wrap

    /// Beats of PDP in a beat of SDP.
    std::uint32_t sdp_ratio(std::uint32_t element_bytes) const { return sdp_bytes * element_bytes * beats / atom_bytes; }
};

inline Facts of(const Hardware& hw)
{
    Facts facts;
    facts.atom_bytes = hw.memory.atom_bytes;
    facts.beats = hw.memory.atom_bytes / hw.pdp.throughput;
    facts.sdp_bytes = hw.sdp.max_throughput();
    facts.address_mask = hw.memory.address_bits >= 64 ? UINT64_MAX : (std::uint64_t{1} << hw.memory.address_bits) - 1;
    if (!hw.full()) return facts;
    facts.word_atoms = 2;
    facts.stalls = false;
    facts.interface_stages = 2;
    facts.commands = 16;
    facts.atom_fifo = 3;
    facts.late_acknowledge = true;
    facts.padded_bits = 14;
    facts.formats = true;
    return facts;
}

}  // namespace dlasim::facts::pdp
