// CDP_RDMA: asks for the cube, puts the words that come back apart and sends them to the core, a chunk
// of every pixel of a block after the other.
//
//   (1) requests ──► interface stage ──► MCIF, CVIF
//        │ contexts                          │ words
//        ▼                                   ▼
//   context queue                  latency FIFO ──► (2) cutter: F FIFOs (2F with words of two atoms)
//        └──────────────────────────────────────────► (3) sender ──► output stage ──► core
//
// A word leaves the latency FIFO when all its target FIFOs have space, and returns its credit then. The
// requests of the next layer wait until the last beat of this one has been taken.
//
// Source    cdp.md 2, 4.1; models/cdp.py.
// Not modelled: nothing known.
// Error     0 cycles on every measured cdp_ case (tests/rtl).
#pragma once
#include <array>
#include <cstdint>

#include "base/ring.h"
#include "elements/context_fifo.h"
#include "elements/occupancy.h"
#include "elements/slices.h"
#include "links/dma_shim.h"
#include "traffic/memory.h"
#include "units/cdp/layer.h"

namespace dlasim::cdp {

class ReadDma {
public:
    ReadDma(const facts::cdp::Facts& silicon, ReadLink& primary, ReadLink& secondary);

    /// In E: requests begin in the next cycle.
    void start(const ReadLayer& layer);

    // ---- a cycle: begin(), then what is offered, then cycle()
    void begin(Cycle now);
    /// A beat is at the core.
    bool valid() const { return out_.valid(); }
    /// It is the last of the layer.
    bool last() const { return ends_ && out_.held() == 1; }
    /// The words of this cycle, for the values; null if there is none.
    const ReadBeat* arriving() const { return arriving_; }

    struct Answer {
        bool changed = false, finished = false;  // finished: the last beat was taken
        bool asked_all = false;                  // the last request of the layer was accepted
    };
    Answer cycle(Cycle now, bool taken);

    /// Cycles in which a request waited for the interface, of all layers that count them.
    std::uint32_t stalls() const { return stalls_; }
    /// `cycles` like the last one have passed.
    void account(Cycle cycles);
    bool reading() const { return asking_; }
    bool blocked() const { return blocked_; }
    bool waits_for_memory() const { return waits_for_memory_; }
    std::uint64_t atoms() const { return atoms_; }
    const Cube& cube() const { return layer_.cube; }

private:
    bool request(bool& asked_all);
    void send(bool ready, bool& changed);

    const facts::cdp::Facts silicon_;
    std::array<ReadLink*, 2> links_;  // by primary

    ReadLayer layer_;
    // (1)
    PassWalk passes_;
    Pass pass_;
    bool asking_ = false, blocked_ = false;
    DmaOutputs<ReadRequest> interface_;
    elements::ContextFifo context_fifo_;
    Ring<Pass> contexts_;
    // (2)
    const ReadBeat* arriving_ = nullptr;
    std::uint8_t coming_ = 0;  // words in the response stages
    elements::RamFifo<0> latency_;
    Ring<std::uint8_t> words_;  // atoms of each, on their way and in the latency FIFO
    elements::Cutter cutter_;
    // (3)
    std::uint32_t chunks_left_ = 0, pixels_left_ = 0, half_ = 0;
    Pass sending_;
    elements::EitherSkid out_;
    bool ends_ = false;

    std::uint32_t stalls_ = 0;
    bool waits_for_memory_ = false;
    std::uint64_t atoms_ = 0;
};

}  // namespace dlasim::cdp
