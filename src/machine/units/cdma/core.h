// CDMA, the convolution DMA: fetches input data and weights of a layer into the CBUF and notifies CSC
// what is there.
//
//             info FIFO of requests in flight
//           ┌───────────────┴──────────────┐
//   fetcher ─► stage ─► port ─► memory ─► stages ─► fetcher ─► CBUF ring ─► update to CSC
//      ▲ space check: entries free in the ring                    │
//      └───────────── status unit ◄──────────── released by CSC ──┘
//
// Two sides run independently: data (one of three fetchers: feature, image, Winograd) and weights
// (weights, masks and group sizes through two arbiters). A layer is done when both sides are. All
// that waits is a stage, a FIFO or a counter, so a cycle in which none of them moves is a cycle in
// which none will move until a link or a countdown says so: then the unit sleeps.
//
// Time and value apart: the place of every requested atom in the CBUF is known when it is requested,
// so values are stored when a beat passes the port; the messages to CSC keep their cycles.
//
// Shapes    beat of M atoms of A bytes; CBUF entry of R atoms; ring of data_bank * D entries.
// Source    cdma.md; facts in facts/cdma.h.
// Not modelled: clock override inputs; direct convolution with input and processing precision of
//           different width (cdma.md 16, point 1: not usable in the reference either).
// Error     0 cycles on the measured cases (tests/unit/cdma_*_test.cpp, tests/rtl).
#pragma once
#include <memory>

#include "facts/hardware.h"
#include "links/core.h"
#include "units/cdma/ports.h"

namespace dlasim {

std::unique_ptr<Core> make_cdma(const Hardware& hardware, const CdmaPorts& ports, bool values = true, bool flushed = false);

}  // namespace dlasim
