// The values of the weight side: puts what a beat holds where it belongs in the CBUF.
//
//   beat at the port ─► request it answers ─┬─► WT, WMB: the next atoms of their ring in the CBUF
//                                           └─► WGS: group sizes
//
// Values are ahead of time: a beat is stored when it is accepted, its CBUF write comes cycles later. No space is used
// before it is free, since what is accepted is within the ring.
//
// Without values masks are stored all the same: they decide how many entries CSC reads.
//
// Source  cdma.md 7.4.
#pragma once
#include <cstdint>

#include "base/ring.h"
#include "facts/hardware.h"
#include "units/cbuf/cbuf.h"
#include "units/cdma/weight/weight_types.h"

namespace dlasim::cdma {

class WeightValues {
public:
    /// `layer`: the one under way.
    WeightValues(const Hardware& hw, const LayerConfig& layer, const WeightFifos& fifos, Cbuf& cbuf, bool values);

    void start();
    /// A beat was accepted.
    void take(const ReadBeat& beat);
    /// The request at the head of the info FIFO is answered and leaves it.
    void request_done()
    {
        if (ahead_) --ahead_;
    }
    /// The next group size, 0 where memory brought none.
    std::uint32_t take_group_size();
    /// CSC starts its rings again: the pending handshake.
    void restart_rings();

    std::uint64_t atoms_read() const { return atoms_read_; }
    std::uint32_t nans() const { return nans_; }
    std::uint32_t infs() const { return infs_; }

private:
    /// A ring of atoms in the buffer, filled in order. It goes on over the layers.
    struct AtomRing {
        std::uint64_t begin = 0, end = 0, next = 0;
        std::uint64_t taken = 0;  // atoms since it began
        std::uint64_t take();
    };
    void take_group_sizes(const ReadBeat& beat);
    void store(AtomRing& ring, const std::uint8_t* data, std::uint32_t atoms);
    const std::uint8_t* flush_nans(const std::uint8_t* atom, std::uint8_t* clean);

    const bool fp16_, values_;
    const std::uint32_t atom_bytes_, atoms_per_entry_, bank_atoms_;
    const std::uint64_t first_atom_, last_atom_;  // that the weight port of the CBUF reaches
    const LayerConfig& layer_;
    const WeightFifos& fifos_;
    Cbuf& cbuf_;

    AtomRing weights_, mask_;
    bool begun_ = false;          // some layer has set the ring
    unsigned ahead_ = 0;          // requests of the info FIFO whose values are stored
    std::uint32_t received_ = 0;  // atoms of the first request after them
    std::uint32_t size_reads_ = 0;
    Ring<std::uint32_t> sizes_{32};
    std::uint64_t atoms_read_ = 0;
    std::uint32_t nans_ = 0, infs_ = 0;
};

}  // namespace dlasim::cdma
