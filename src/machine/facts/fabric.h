// What the memory interfaces MCIF and CVIF are: depths and latencies that no register changes.
//   [spec]  fabric.md, section named      [case]  seen in measured cases, their ids named
#pragma once
#include <cstdint>

#include "facts/hardware.h"

namespace dlasim::facts::fabric {

inline constexpr std::uint32_t kFullBlockBytes = 256;  // [spec] 1.3: S; requests are split at its multiples
inline constexpr std::uint32_t kFullWordBytes = 64;    // [spec] 1.3: what an nv_full read or write command addresses
inline constexpr std::uint32_t kWordFifo = 4;          // [spec] 1.4: read beats a client can have waiting, FIFO-F(4)
inline constexpr std::uint32_t kEgressLatency = 3;  // [spec] 2.2: beat at the port in r, response of the configurable generation in r + 3
inline constexpr std::uint32_t kReturnLatency = 2;  // [spec] 1.5: beat at the port in r, no longer outstanding in r + 2
inline constexpr std::uint32_t kWriteDataLatency = 3;   // [spec] 2.3: packet at the channel in 1, in the stage in front of the FIFO in 4
inline constexpr std::uint32_t kReadLane = 4;           // [spec] 1.4: FIFO-B(4) for each half of a response beat
inline constexpr std::uint32_t kWriteLane = 1;          // [spec] 1.6: FIFO-B(1)+WR for each half of a write packet
inline constexpr std::uint32_t kWriteDataFifo = 4;      // [spec] 1.6: beats in front of the write arbiter, FIFO-F(4)
inline constexpr std::uint32_t kWriteSplitterBusy = 1;  // [spec] 1.6: more beats than this in the splitter block a grant
inline constexpr std::uint32_t kContexts = 256;         // [spec] 1.7: entries of a context queue, all clients together
inline constexpr std::uint32_t kEgressWeight = 255;     // [spec] 1.4: weight of every client at the read egress
inline constexpr std::uint32_t kCreditLatency = 2;      // [spec] 1.3: credit pulse in c, usable in c + 2
inline constexpr std::uint32_t kCompleteLatency = 1;    // [spec] 2.4: response matched in b + 1, complete pulse in b + 2

/// How far a client's credit counter goes: eight bits in nv_full, nine in the configurable generation. [spec] 1.3
inline std::uint32_t most_credits(const Hardware& hw) { return hw.full() ? 255 : 511; }

/// What depends on the generation.
struct Facts {
    bool pairs;         // beats of two atoms on two lanes, chunks in a registered slot that goes out word by word. [spec] 1.3, 1.4, 1.6
    bool stages_stall;  // two-entry stages lose a slot after every stall (STALLPIPE). [spec] 0, [case] stall_*
    std::uint64_t command_mask;  // address bits of a read command. [spec] 1.3
};
inline Facts of(const Hardware& hw)
{
    if (hw.full()) return {true, false, ~std::uint64_t{kFullWordBytes - 1}};
    return {false, true, ~std::uint64_t{0}};
}

/// S: requests are split at multiples of this many atoms. [spec] 1.3
inline std::uint32_t block_atoms(const Hardware& hw, const PortHardware& port)
{
    return hw.full() ? kFullBlockBytes / hw.memory.atom_bytes : port.burst_beats;
}

/// Credits that a chunk may need at once. [spec] 1.3: nv_full's last chunk of a request that started at an odd atom needs one more
/// than the response beats of a block.
inline std::uint32_t chunk_credits(const Hardware& hw)
{
    const std::uint32_t primary = block_atoms(hw, hw.memory.primary);
    if (hw.full()) return primary / 2 + 1;
    const std::uint32_t secondary = hw.memory.has_secondary ? block_atoms(hw, hw.memory.secondary) : 1;
    return primary > secondary ? primary : secondary;
}

}  // namespace dlasim::facts::fabric
