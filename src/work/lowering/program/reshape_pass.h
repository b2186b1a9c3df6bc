// One reshape, as the registers of the unit that does it say. What depends on the unit is in a folder of its name.
#pragma once
#include "config/model/transfer.h"
#include "lowering/program/register_writer.h"

namespace dlasim {

/// Bytes from one to the next; what the mode does not use stays 0.
struct ReshapeStrides {
    std::uint64_t line = 0, surface = 0, plane = 0;
};

// Of contractions; machines without the unit have SDP copy (interleave.h).
/// Positions of a line that can be put together.
std::uint32_t longest_contracted_line(const Hardware& hardware);
/// The bit of GLB that one raises; none where SDP does it.
std::uint32_t contraction_interrupt(const Hardware& hardware, unsigned group);

struct ReshapePass {
    Reshape::Mode mode = Reshape::Mode::Contract;
    Precision precision = Precision::Int8;
    std::uint32_t width = 1, height = 1, channels = 1, out_channels = 1;
    Place source, target;
    ReshapeStrides in, out;
    std::uint64_t cube = 0;  // contract: from a sub-cube to the next
    Extent stride;
};

/// In programming order, the op-enable last, for a register group.
PassRegisters reshape_writes(const ReshapePass& pass, unsigned group, const Hardware& hardware);

}  // namespace dlasim
