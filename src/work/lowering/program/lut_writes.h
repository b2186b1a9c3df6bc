// The lookup table of EW: no part of a register group, one writing serves all operations.
//
// Source  sdp.md 1.3.
#pragma once
#include "config/model/sdp.h"
#include "lowering/program/program_writer.h"

namespace dlasim {

void write_lut(ProgramWriter& program, const Lut& lut);

}  // namespace dlasim
