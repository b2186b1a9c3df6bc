// The core of CDP from the gate to the output converter: the position of its beats, cycle by cycle.
//
//   CDP_RDMA ─► gate (1) ─► IN ─┬─► x FIFO (80) ────────────────────────────────────────┐
//                               ├─► info FIFO (80) ─────────────────────────────────┐   │
//                               └─► channel buffer ─► square sum ─┬─► sum FIFO (60) │   │
//                                        (2)                      ▼            │    │   │
//                                                               index ─► table │    │   │
//                                                                          │   │    │   │
//                       flag FIFO (20) ◄───────────────────────────────────┴─┬─┘    │   │
//                            │                                               ▼      │   │
//                            └──────────────────────────────────────► interpolator  │   │
//                                                                            ▼      ▼   ▼
//                                          write DMA ◄─ OUT ◄──────────────────── multiplier
//
// (1) closes after the last beat of a layer and opens at the next layer's start. (2) is omitted, and the
// sum with it, in layers that look x itself up. A beat moves through a fork when all branches take it, out
// of a join when all have one. nv_full has other pipes for fp16.
//
// Source    cdp.md 4.2; models/cdp.py.
// Error     0 cycles on every measured cdp_ case (tests/rtl).
#pragma once
#include <memory>

#include "facts/cdp.h"
#include "numerics/cdp.h"
#include "units/cdp/layer.h"

namespace dlasim::cdp {

class Pipeline {
public:
    struct Answer {
        bool changed = false;    // the next cycle may differ
        bool ready = false;      // for CDP_RDMA
        bool accepted = false;   // its beat was taken
        bool offers = false;     // a beat is at the write DMA
        bool delivered = false;  // and was taken
    };
    static std::unique_ptr<Pipeline> make(const facts::cdp::Facts& silicon);
    virtual ~Pipeline() = default;

    /// In E: the gate opens in the next cycle.
    virtual void start(const numerics::CdpConfig& config) = 0;
    /// With the first beat of a layer.
    virtual void begin(const Cube& cube) = 0;
    virtual bool open() const = 0;
    /// `last`: the beat is the last of its layer.
    virtual Answer cycle(bool in, bool last, bool out_ready) = 0;
};

}  // namespace dlasim::cdp
