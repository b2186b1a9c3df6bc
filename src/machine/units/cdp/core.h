// CDP with CDP_RDMA: local response normalisation, memory to memory, cycle by cycle.
//
//   registers CDP_RDMA ─► (1) rdma ── requests ──► MCIF, CVIF ── words ──┐
//                               ▲────────────────────────────────────────┘
//                               └── beats ──► (2) pipeline ── beats ──► (3) wdma ── writes ──► MCIF, CVIF
//   registers CDP, tables ──────────────────────┴──────────────────────────┘   ◄── complete ── done, GLB
//
// CDP_RDMA and CDP have register groups of their own and start on their own; the gate of the pipeline and
// the requests of CDP_RDMA wait for each other. A layer of CDP is done with its last data, its interrupt
// comes when they are acknowledged. Values are computed beside, a pass at a time.
//
// Shapes    a beat is `throughput` bytes of an atom (8 in nv_full); blocks of up to 8 pixels of a line.
// Source    cdp.md; models/cdp.py, models/numerics_cdp.py; facts in facts/cdp.h.
// Not modelled: D_OUT_SATURATION of nv_full counts idle cycles, too: it reads 0 here.
// Error     0 cycles on every measured cdp_ case (tests/rtl).
#pragma once
#include <memory>

#include "facts/hardware.h"
#include "links/core.h"
#include "units/cdp/ports.h"

namespace dlasim {

std::unique_ptr<Core> make_cdp(const Hardware& hardware, const CdpPorts& ports, bool values = true);

}  // namespace dlasim
