// CSC, the convolution sequence controller: cuts a layer into packages (one weight set and the atoms
// that slide past it), issues them when data, kernels and credits are there, and reads their
// operands from the CBUF.
//
//   cdma2sc ──► SG: generate ─► FIFOs ─► (1) weight pop ─► WL: weights of the ring ──► shadow set
//                                    └─► (2) data pop ───► DL: atoms of the ring ────► Stripe to CMAC
//                 ▲ credits from CACC: only packages that complete sums need them
//
// Only SG can wait. After the two pops everything is open loop with fixed latencies, so a package
// is computed at its pops and sent as one message; SG itself is replayed cycle by cycle up to the
// present whenever one of its pops is due, and skips the cycles in which nothing but the pop
// counter moves.
//
// Shapes    atom [lanes], weights [kernels][lanes]; lanes <= AC (128 bytes in nv_full).
// Source    csc.md, cbuf.md; facts in facts/csc.h.
// Not modelled: bank conflicts and banks a port does not reach (no legal program meets them); the clock
//           override inputs.
// Error     0 cycles on the measured cases (tests/unit/csc_replay_test.cpp, tests/rtl).
#pragma once
#include <memory>

#include "facts/hardware.h"
#include "links/core.h"
#include "units/csc/ports.h"

namespace dlasim {

std::unique_ptr<Core> make_csc(const Hardware& hardware, const CscPorts& ports, bool values = true);

}  // namespace dlasim
