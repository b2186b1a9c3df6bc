// Rubik, the reshape engine: puts deconvolutions together and turns cubes into planes and back,
// cycle by cycle.
//
//   (1) reader ── requests ──► MCIF, CVIF
//                                 │ beats
//   (2) fill ◄── FIFO (80) ◄──────┘
//        ▼ pipe of beats
//      two banks of 64 atoms (5)
//        ▼ pipe of beats
//   (3) drain ──► packer ──► (4) sender ── commands, data ──► MCIF, CVIF ◄── complete ── done, GLB
//
// Fill and drain exchange the banks block by block, each when it issues the last beat of a block. (5) The register
// file after their pipes counts blocks of its own, when the last beats really arrive and leave: no beat arrives
// while both banks are full, none leaves while both are empty. The register group is released when the last
// write beat is handed over; the interrupt follows when it is acknowledged.
//
// Shapes    an atom is 32 bytes, a beat two of them.
// Source    rubik.md; latencies in facts/rubik.h.
// Not modelled: the FIFO of 256 block commands: credits for 80 beats keep it from ever being full.
// Error     0 cycles on the measured cases: rubik.md 6 (tests/wiring/rubik_machine_test.cpp), rubik_* (ctest measured.nv_full).
#pragma once
#include <memory>

#include "facts/hardware.h"
#include "links/core.h"
#include "traffic/transfer_ports.h"

namespace dlasim {

std::unique_ptr<Core> make_rubik(const Hardware& hardware, const TransferPorts& ports);

}  // namespace dlasim
