// CACC, the accumulator: adds the sums of the packages of an accumulation, rounds them to 32 bits
// and hands them to SDP in order.
//
//   CMAC_A, CMAC_B ──► (1) add ──► assembly buffer       a package that does not complete the sums
//                            └───► (2) delivery buffer   one that does: n entries an atom
//   SDP ◄── valid/ready ── (3) output stages ◄───┘  credits ──► CSC, one per entry (atom) taken
//
// The input cannot be stalled: CSC reserves delivery space by credits. So (1) and (2) are computed
// a package at a time, and every entry carries the cycle in which it becomes available; only (3)
// moves cycle by cycle, and only while a beat is there and SDP is ready.
//
// Shapes    assembly [position][output][kernel]; entry: 16 results (nv_full), AK results elsewhere.
// Source    cacc.md; facts in facts/cacc.h; values in numerics/cacc.h.
// Not modelled: the tag queue's behaviour with more than two layers not drained (cacc.md 3.7).
// Error     0 cycles on the measured cases (tests/unit/csc_replay_test.cpp, tests/rtl).
#pragma once
#include <memory>

#include "facts/hardware.h"
#include "links/core.h"
#include "units/cacc/ports.h"

namespace dlasim {

std::unique_ptr<Core> make_cacc(const Hardware& hardware, const CaccPorts& ports, bool values = true);

}  // namespace dlasim
