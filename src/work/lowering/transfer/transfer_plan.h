// Lowering of what runs from memory to memory: a register program, and what it must do to memory.
//
//   bdma    blocks ──► launches ──► descriptors pushed, group launched, interrupts awaited
//   reshape cube ──► its addresses before and after ──► one operation
//   lrn     cube ──► tables and converters ──► one layer of CDP
//
// BDMA can have one group active and one pending, and what is pushed before a group becomes active belongs to it. So the
// program has at most two launches under way, pushes the next one when that before the last is done, and waits where the
// queue is full. A launch ends where the group changes, where a block waits, and at 20 blocks.
//
// Blocks that run together must not touch what others write. Waiting is enough to touch it later, but for one thing: the
// interrupt of a launch comes with the answer to its last write, so it says nothing of the other memory.
//
// Source  bdma.md 1.2 and 1.5, programming.md 10; of the others their plans.
// Error   programs equal to those of the measured cases: tests/unit/transfer_plan_test.
#pragma once
#include <memory>

#include "golden/lrn.h"
#include "golden/memory/contents.h"
#include "lowering/memory/layout.h"
#include "lowering/program/reshape_pass.h"
#include "workload/program.h"

namespace dlasim {

/// Blocks [first, first + count) in one group.
struct Launch {
    unsigned group = 0;
    bool wait = false;  // for everything launched before
    std::size_t first = 0, count = 0;
};

/// Addresses of a cube before and after the operation, including its padding.
struct ReshapeLayout {
    std::uint32_t padded_channels = 0;  // of feature data: whole atoms
    std::uint32_t padded_width = 0;     // of planes
    Cube input, output;
    std::uint64_t input_bytes = 0, output_bytes = 0;
};

/// Beats at a memory port.
struct PortBeats {
    std::uint64_t reads = 0, writes = 0;
};

/// A closed-form lower bound of the unit itself in cycles; what it means: jobs/bounds.h.
struct UnitBound {
    const char* name;
    std::uint64_t cycles;
};

/// Of CDP. [spec] cdp.md 4.3 to 4.5.
std::vector<UnitBound> lrn_bounds(const Lrn& lrn, const Hardware& hardware);

struct TransferPlan {
    Program program;
    std::vector<Launch> launches;  // bdma
    ReshapeLayout layout;          // of cubes
    LrnTables lrn;                 // lrn
    std::uint64_t bytes = 0;       // that are written
    PortBeats dbb, cvsram;
    bool settled = true;  // the interrupts vouch for everything that was written
    std::vector<UnitBound> bounds;
    std::vector<TouchedRange> ranges;
};

/// Throws ConfigError if the machine cannot do it, or what it would do is not defined.
TransferPlan plan_transfer(const Transfer& transfer, const Hardware& hardware);

/// Reads or makes the data.
std::unique_ptr<const MemoryCheck> transfer_contents(const Transfer& transfer, const TransferPlan& plan);

}  // namespace dlasim
