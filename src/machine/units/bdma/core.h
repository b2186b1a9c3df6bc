// BDMA, the bridge DMA: copies blocks of lines between the two memories, cycle by cycle.
//
//   CFG_OP ──► descriptors (20) ──► (1) loader ── read requests ──► MCIF, CVIF
//   LAUNCH ──► pending, active ──┘      │ commands (20)
//                                       ▼
//   MCIF, CVIF ── beats ──► FIFO (245) ──► (2) store ── commands, data ──► MCIF, CVIF
//                                                       ◄── complete ── group done, GLB
//
// Software pushes descriptors and launches what it has gathered as group 0 or 1; one group runs, one
// waits. The loader sends one read a line and runs ahead of the store as far as credits let it.
//
// Shapes    an atom is 32 bytes, a beat two of them; sizes count atoms from 0, strides are bytes.
// Source    bdma.md; latencies in facts/bdma.h.
// Not modelled: nothing known.
// Error     0 cycles on the 13 measured cases (tests/rtl).
#pragma once
#include <memory>

#include "facts/hardware.h"
#include "links/core.h"
#include "traffic/transfer_ports.h"

namespace dlasim {

std::unique_ptr<Core> make_bdma(const Hardware& hardware, const TransferPorts& ports);

}  // namespace dlasim
