// DL, the data loader: walks the output positions of a package, reads the CBUF entry each of them needs (once while it
// stays the same) and selects the bytes of the atom.
//
//                        ┌─► direct: one entry an atom, or a part of one ──┐
//   package of the pop ──┼─► image: windows slide over two entries ────────┼──► atoms ──► CMAC
//                        └─► Winograd: transformed tiles of a window ──────┘
//                                     │
//                                     ▼ addresses, requests
//                              ring of data banks, CBUF
//
// The walk of the same stripe is repeated for every kernel position and channel slice; only a package that completes the sums
// moves it on.
//
// Latency  data pop to first read enable: 12 cycles (direct, image of one row), 11, 9 (two, four rows), 7 (Winograd).
// Source   csc.md 1.8, 1.9, 1.11, 2.1.
#pragma once
#include "units/csc/data_ring.h"
#include "units/csc/direct_loader.h"
#include "units/csc/image_loader.h"
#include "units/csc/tile_loader.h"

namespace dlasim::csc {

class DataLoader {
public:
    DataLoader(const Hardware& hardware, Cbuf& cbuf, bool values);

    /// The pending handshake.
    void reset_ring() { ring_.reset(); }
    void start_layer(const LayerConfig& layer);
    /// The ring starts `slices` of that layer later: the entries that are free.
    Entries release(const LayerConfig& of, Slices slices) { return ring_.release(of, slices); }

    /// Loads a package popped in cycle `at`.
    void load(const Package& package, Cycle at, PackageAtoms& out);

    std::uint64_t reads() const { return ring_.reads(); }
    void attach(Probe* read_probe) { ring_.attach(read_probe); }

private:
    const LayerConfig* layer_ = nullptr;
    DataRing ring_;
    DirectLoader direct_;
    ImageLoader image_;
    TileLoader tiles_;
};

}  // namespace dlasim::csc
