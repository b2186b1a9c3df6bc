// One normalisation: the tables of CDP and what its registers say of a cube.
//
// Source  cdp.md 5.
#pragma once
#include "config/model/lrn.h"
#include "golden/lrn.h"
#include "lowering/memory/layout.h"
#include "lowering/program/program_writer.h"

namespace dlasim {

/// A cube that CDP normalises, or lines of one; its layout is the same before and after.
struct LrnPass {
    Lrn lrn;  // with its places
    LrnTables tables;
    Cube cube;
    std::uint32_t first_line = 0;
};

/// No part of a register group: while they are written, CDP must have nothing to do.
void write_lrn_tables(ProgramWriter& program, const LrnTables& tables);
/// In programming order; the enables of CDP and CDP_RDMA apart.
PassRegisters lrn_writes(const LrnPass& pass, unsigned group, const Hardware& hardware);

}  // namespace dlasim
