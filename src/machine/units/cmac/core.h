// CMAC, one half of the multiply-accumulate array. It never stalls and keeps nothing between
// stripes: every atom of a stripe meets the weights that were loaded for it, and the sums leave a
// fixed number of cycles later. So a stripe is one message in and one message out, its values
// computed in one block; what is left is latency, the registers and the done pulse.
//
//   CSC ── Stripe ──► weights into the block ──► atoms x cells ──► Sums ──► CACC
//          first atom at CSC: t        CMAC port: t + 2 / 1        CACC port: t + 8 (6 configurable)
//
// Shapes    atoms [n][lanes], weights [kernels][lanes], sums [n][outputs][kernels of the half].
// Source    cmac.md; facts in facts/cmac.h; values in numerics/{mac,fp16,tile}_block.h.
// Not modelled: half A and B programmed differently; an enable that arrives between a stripe's message
//           and its first atom (at most 24 cycles) counts as if it had come before the message.
// Error     0 cycles on the measured cases (tests/unit/csc_replay_test.cpp, tests/rtl).
#pragma once
#include <memory>

#include "facts/hardware.h"
#include "links/core.h"
#include "units/cmac/ports.h"

namespace dlasim {

std::unique_ptr<Core> make_cmac(const Hardware& hardware, const CmacPorts& ports, MacHalf half);

}  // namespace dlasim
