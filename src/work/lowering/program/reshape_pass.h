// One reshape: what the registers of Rubik say.
//
// Source  rubik.md 1.1 to 1.4.
#pragma once
#include "config/model/transfer.h"
#include "facts/rubik.h"
#include "lowering/program/register_writer.h"

namespace dlasim {

/// Bytes from one to the next; what the mode does not use stays 0.
struct ReshapeStrides {
    std::uint64_t line = 0, surface = 0, plane = 0;
};

/// Positions of a line that it puts together; SDP, on machines without Rubik, any number.
constexpr std::uint32_t longest_contracted_line(const Hardware& hardware) { return hardware.rubik ? facts::rubik::kMaxLine : UINT32_MAX; }

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
