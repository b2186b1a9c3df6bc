// SDP, the single data point processor: bias, scale, activation, element-wise operations and output
// conversion of a stream of pixels, and the way back to memory.
//
//    CACC ──(1)──┐
//                ├─ mux ─(2)─► BS ──► BN ──► EW ──► CVT ──► WDMA ──► MCIF / CVIF
//    MRDMA ──────┘             ▲      ▲      ▲
//                            BRDMA  NRDMA  ERDMA   operands, one stream for ALU and one for MUL
//
// (1) input stage, two beats; (2) mux stage, open from one cycle after the start of a layer to its
// last beat. A bypassed engine is a wire. The read engines live here too: one unit, two register
// windows, two independent op_enables. The stages carry occupancy only; what the beats are worth is
// computed when a packet leaves for memory (values.h).
//
// The folder in the order of the data:
//   layer                                            the registers of SDP
//   read_layer, read_requests, read_front            SDP_RDMA to the latency FIFOs
//   features, operands, gate                         from there to the mux and the engines
//   machine, wiring                                  the mux, and everything put together
//   x_engine, y_engine, converter, to_pdp, wdma      the path of a beat
//   values, arithmetic, fetched                      its values
//   acknowledge, status                              the interrupt, what software reads back
//
// Shapes    beat: 16 elements in nv_full, max throughput elsewhere; int32 or fp32 pattern each.
// Source    sdp.md; cycle by cycle from its chapter 2, facts in facts/sdp.h, elements in elements/.
// Not modelled: clock override registers.
// Error     0 cycles on the measured cases (tests/unit/sdp_*_test.cpp, tests/rtl).
#pragma once
#include <memory>

#include "facts/hardware.h"
#include "links/core.h"
#include "units/sdp/ports.h"

namespace dlasim {

/// Without `values` only time is computed: all data written are zero.
std::unique_ptr<Core> make_sdp(const Hardware& hardware, const SdpPorts& ports, bool values = true);

}  // namespace dlasim
