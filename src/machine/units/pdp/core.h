// PDP, the planar data processor: pools every channel by itself, from memory through PDP_RDMA or on the fly from SDP.
//
//   SDP ──────────────────────────────┐
//                                     ├─► input ─► horizontal ─► vertical ─► WDMA ──► MCIF / CVIF
//   MCIF / CVIF ◄─► PDP_RDMA ─────────┘   (gates)  windows on    lines of             command, data of a line
//                                                  the line      a window                │
//   GLB ◄── interrupt ◄── completion ◄── last data, end of PDP_RDMA, acknowledge ◄───────┘
//
// Beats of an atom go through one a cycle, unless padding after the end of a line or surface is flushed. The stages
// carry occupancy; what leaves is computed when it leaves. One unit, two register windows, two independent op_enables.
//
// Shapes    beat: atom bytes / facts.beats; atom: 8 to 32 bytes.
// Source    pdp.md; cycle by cycle from its chapter 4, elements in elements/.
// Not modelled: the row order of programs whose windows do not fit exactly and have a top padding (docs/DEVIATIONS.md).
// Error     0 cycles on the measured cases (tests/rtl).
#pragma once
#include <memory>

#include "facts/hardware.h"
#include "links/core.h"
#include "units/pdp/ports.h"

namespace dlasim {

/// Without `values` only time is computed.
std::unique_ptr<Core> make_pdp(const Hardware& hardware, const PdpPorts& ports, bool values = true);

}  // namespace dlasim
