// Checks a register program against the programming rules of the hardware, without running it.
//
//   program ─► every write: address alignment, bits that the register does not store, writes into an enabled group
//           ─► every launch: the register group it uses, LUT writes while it runs, whether the program waits for it
//           ─► every operation (workload/operations.h): units that are missing, units that disagree, sizes that do not fit
//
// A run finds only what happens in that run; these rules hold for every memory and every timing. docs/PROGRAMS.md lists them.
#pragma once
#include "facts/hardware.h"
#include "workload/program.h"
#include "workload/run_result.h"

namespace dlasim::lint {

RuleReport check(const Hardware& hardware, const Program& program);

/// The check of the program, and what only its run knows because it depends on when operations end: writes that units dropped, units
/// that work at the end.
RuleReport check(const Hardware& hardware, const Program& program, const RunResult& run);

}  // namespace dlasim::lint
