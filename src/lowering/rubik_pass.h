// One operation of Rubik: what its registers say.
//
// Source  rubik.md 1.1.
#pragma once
#include "config/transfer.h"
#include "lowering/pass.h"

namespace dlasim {

/// Strides in bytes; what the mode does not use stays 0.
struct RubikPass {
    RubikMode mode = RubikMode::Contract;
    Precision precision = Precision::Int8;
    std::uint32_t width = 1, height = 1, channels = 1, out_channels = 1;
    Place source, target;
    std::uint64_t in_line = 0, in_surface = 0, in_plane = 0, out_line = 0, out_surface = 0, out_plane = 0;
    std::uint64_t cube = 0;  // contract: from a sub-cube to the next
    Extent stride;
};

/// In programming order, the op-enable last, for a register group.
std::vector<RegisterValue> rubik_writes(const RubikPass& pass, unsigned group = 0);

}  // namespace dlasim
