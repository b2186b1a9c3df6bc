// MRDMA after the latency FIFO: features from memory, divided into the beats the pipeline takes.
//
//   WordFeatures (nv_full)         word ─► 4 FIFOs of 16 bytes (and 2 of 32 for 16to8) ─► select ─► SKID ─► mux
//   AtomFeatures (configurable)    atoms ─► collector of up to 4 ─► 4 SKID-B of an atom ─► select ─► SKID-B ─► PACK ─► mux
//
// Reading restarts at FIFO 0 with every read request.
//
// Latency  word() to the mux: 2 cycles; atom after the last of its collector to the mux: 4 cycles.
// Source   sdp.md 2.8.
#pragma once
#include <array>
#include <cstdint>

#include "base/ring.h"
#include "elements/occupancy.h"
#include "facts/sdp.h"
#include "units/sdp/read/read_front.h"
#include "units/sdp/read/read_layer.h"
#include "units/sdp/read/requests_ahead.h"

namespace dlasim::sdp {

/// What a reader's cycle did.
struct ReaderAnswer {
    bool changed = false;
    bool finished = false;  // the last beat of the layer was accepted
};

class WordFeatures {
public:
    WordFeatures(const facts::sdp::Facts&, ReadFront& front) : front_(front) {}
    void start(const ReadLayer& layer);
    /// A request of that many atoms was made.
    void issued(std::uint32_t atoms);

    /// A beat is at the mux.
    bool valid() const { return out_.valid(); }
    /// Clocks the stages between the reader and the mux, which are empty after the end of its layer.
    void sweep_output(elements::Flow&) {}
    /// Clocks the reader; `out`: what it offers is taken.
    ReaderAnswer sweep(Cycle at, bool out);

private:
    static constexpr unsigned kFifos = 6;
    unsigned beats_per_atom() const { return bytes_ ? 2 : 1; }
    /// Sets of FIFOs: bit i is FIFO i; 4 and 5 are those of 32 bytes.
    unsigned targets(unsigned word) const;
    unsigned source() const;
    bool room(unsigned fifos) const;
    bool full(unsigned fifos) const;

    ReadFront& front_;
    std::array<elements::Places<facts::sdp::kFeatureFifo + 1>, 4> fifos_{};
    std::array<elements::Places<facts::sdp::kWideFifo + 1>, 2> wide_{};
    elements::Skid out_;
    bool bytes_ = true;                       // elements of one byte
    bool segments_ = false, primary_ = true;  // 16to8: segments of two surfaces in turn; of the first one
    bool even_ = true;                        // the next request is the first one of a pair
    std::uint64_t left_ = 0;                  // beats of the layer
    std::uint32_t beat_ = 0, written_ = 0;    // of the request: beats read, words written
    RequestsAhead ahead_;
    Ring<std::uint32_t> words_{16}, beats_{16};  // of the requests on their way
};

class AtomFeatures {
public:
    AtomFeatures(const facts::sdp::Facts& silicon, ReadFront& front);
    void start(const ReadLayer& layer);
    void issued(std::uint32_t atoms);

    bool valid() const { return pack_.valid(); }
    /// PACK still holds pieces of the last atom when the reader has ended.
    void sweep_output(elements::Flow& flow) { pack_.sweep(out_.valid(), flow); }
    ReaderAnswer sweep(Cycle at, bool out);

private:
    ReadFront& front_;
    std::array<elements::SkidB, 4> fifos_{};
    elements::SkidB out_;
    elements::Pack pack_;
    unsigned collected_ = 0, group_ = 0;    // atoms in the collector, and of the group that waits to be written
    std::uint32_t written_ = 0, read_ = 0;  // atoms of the request
    std::uint64_t left_ = 0;                // atoms of the layer
    RequestsAhead ahead_;
    Ring<std::uint32_t> writes_{16}, reads_{16};  // atoms of the requests on their way
};

}  // namespace dlasim::sdp
