// One operation of Rubik: what its registers say.
//
// Source  rubik.md 1.1.
#pragma once
#include "config/model/transfer.h"
#include "lowering/program/register_writer.h"

namespace dlasim {

/// Bytes from one to the next; what the mode does not use stays 0.
struct RubikStrides {
    std::uint64_t line = 0, surface = 0, plane = 0;
};

struct RubikPass {
    RubikMode mode = RubikMode::Contract;
    Precision precision = Precision::Int8;
    std::uint32_t width = 1, height = 1, channels = 1, out_channels = 1;
    Place source, target;
    RubikStrides in, out;
    std::uint64_t cube = 0;  // contract: from a sub-cube to the next
    Extent stride;
};

/// In programming order, the op-enable last, for a register group.
PassRegisters rubik_writes(const RubikPass& pass, unsigned group, const Hardware& hardware);

}  // namespace dlasim
